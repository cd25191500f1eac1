// SPDX-License-Identifier: Apache-2.0
// The machine code inside a program, an object or a shared library: nvcc puts fat binaries into
// sections .nv_fatbin, each with code for several architectures (cubins) and perhaps PTX. Code that
// was compressed (--compress-mode=none asks nvcc for none) is counted, not read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "validate/observations/cubin.hpp"

namespace smtwin {

enum class FatbinKind { ptx, cubin, other };
enum class FatbinCompression { none, lz4, zstd };

struct FatbinEntry {
  FatbinKind kind = FatbinKind::other;
  ComputeCapability target;
  FatbinCompression compression = FatbinCompression::none;
  Bytes image;  // as stored
};

// Of a file that is a fat binary or a host's ELF file with some inside; none is no error.
// `file` must outlive the answer. DataError starts with `where`.
std::vector<FatbinEntry> read_fatbin(Bytes file, const std::string& where);

struct MachineCode {
  std::vector<Cubin> cubins;
  std::int32_t compressed_cubins = 0;  // there, but not read
  std::int32_t ptx = 0;
};

// All that can be read of a cubin, a fat binary or a host's ELF file.
MachineCode read_machine_code(Bytes file, const std::string& where);

}  // namespace smtwin
