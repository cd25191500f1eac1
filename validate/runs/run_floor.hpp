// SPDX-License-Identifier: Apache-2.0
// The least time an operation can take on the GPU of a run, from rates that the run's own probes
// reached: bytes that must move once over the DRAM read rate, useful flops over the multiply rate
// (of mma.sync; of the specification for variants with warpgroup instructions).
#pragma once

#include <map>
#include <string>

#include "arch/gpu_spec.hpp"
#include "kernels/descriptor.hpp"
#include "validate/runs/run_file.hpp"

namespace smtwin {

struct RunRates {
  double dram_bytes_per_s = 0;
  std::map<MathPipe, double> flops_per_s;  // of the whole GPU; pipes without a number left out
  std::string source;                      // where they come from, in words
  double math_flops_per_s(MathPipe pipe) const;  // 0 = not known
};

RunRates run_rates(const RunFile& run, const GpuSpec& gpu);

// 0 where a rate is not known.
double floor_seconds(const KernelDescriptor& kernel, const TimeReading& reading, const GpuSpec& gpu,
                     const RunRates& rates);

}  // namespace smtwin
