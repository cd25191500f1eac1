// SPDX-License-Identifier: Apache-2.0
// What a compiler made of a kernel, read from its machine code without any program of a toolkit:
// registers, shared memory, stack, barriers and launch bound from the records the driver reads too
// (sections .nv.info), and a static count of its instructions. A cubin is an ELF file of NVIDIA's
// machine type. The layout is not documented; what is known here was checked against the answers of
// cuobjdump, nvdisasm and ptxas of CUDA 12.8 and 13.0 for sm_80 to sm_120.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "validate/observations/elf.hpp"

namespace smtwin {

struct CubinKernel {
  std::string symbol;  // as in the file: mangled unless extern "C"
  std::int32_t registers_per_thread = 0;
  std::int64_t static_shared_bytes = 0;    // the kernel's own
  std::int64_t reserved_shared_bytes = 0;  // the system's, where the section counts it as well
  std::int64_t stack_bytes = 0;            // local memory of a thread
  std::int32_t barriers = 0;
  std::int32_t max_threads_per_cta = 0;  // launch bound; 0 = none was given
  std::int64_t code_bytes = 0;
  // Static counts, by group (see sass_groups.hpp). Empty for machine code older than sm_70.
  std::map<std::string, std::int32_t> instructions;

  std::int32_t count(const std::string& group) const {
    const auto found = instructions.find(group);
    return found == instructions.end() ? 0 : found->second;
  }
  // Local memory that the code touches: spilled registers, and arrays indexed at run time.
  std::int32_t spill_stores() const { return count("local_store"); }
  std::int32_t spill_loads() const { return count("local_load"); }
};

struct Cubin {
  ComputeCapability target;
  std::string compiler;  // "ptxas 13.0.88"; empty where the file does not say
  std::string options;   // the compiler's command line, where the file has it
  std::vector<CubinKernel> kernels;
};

bool is_cubin(Bytes image);

// DataError starts with `where` and says what is wrong.
Cubin read_cubin(Bytes image, const std::string& where);

}  // namespace smtwin
