// SPDX-License-Identifier: Apache-2.0
// Machine code counted by what its instructions do. From sm_70 on an instruction has 16 bytes; the
// low nine bits name the operation, the next three the form of its operands (register, immediate,
// constant), so that the nine alone tell an FFMA of any form. Operations were named with nvdisasm.
// Counts are static: how often each runs is the loops' business.
//
//   all                       every instruction but NOP, which also pads the end
//   mma  wgmma                tensor-core multiplications of a warp, of four warps
//   ldmatrix  stmatrix        8 x 8 matrices between shared memory and registers
//   cp_async  bulk_copy       asynchronous copies by threads (LDGSTS), by the copy engine (TMA)
//   fma  add_mul              fp32 and fp64 on the ordinary pipe; a packed pair counts once
//   half_math                 two 16-bit operations in one instruction
//   convert  sfu              between number formats; special functions (MUFU)
//   shared_load  shared_store  shared_atomic
//   global_load  global_store  global_atomic
//   local_load  local_store   stack and spilled registers
//   barrier  shuffle          of a CTA (BAR), of a warp
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "arch/gpu_spec.hpp"
#include "validate/observations/elf.hpp"

namespace smtwin {

inline constexpr std::size_t kSassInstructionBytes = 16;

// `code` of sm_70 or later; a rest shorter than an instruction is not counted.
std::map<std::string, std::int32_t> count_sass_groups(Bytes code, ComputeCapability target);

}  // namespace smtwin
