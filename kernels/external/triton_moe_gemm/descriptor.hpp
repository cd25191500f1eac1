// SPDX-License-Identifier: Apache-2.0
// Grouped GEMM of a mixture-of-experts layer as inference engines write it in Triton: tokens
// sorted by expert, each expert's rows padded to BLOCK_M, one CTA an output tile.
//
//   shared bytes = operand buffers (kernels/triton_compiler.hpp)
//                  + 4 x the larger of those of BLOCK_M, BLOCK_N that are >= 32 x num_warps, with
//                    block scales only: a scale vector longer than the CTA goes through memory
//   rows         = tokens x topk, spread evenly over E (1 - (1 - topk/E)^tokens) active experts
//   CTAs         = sum over active experts of ceil(rows / BLOCK_M) x ceil(n / BLOCK_N)
// The bytes equal the compiler's on all 352 configurations compiled with Triton 3.6.0 for sm_90
// and sm_120 (fp8 operands, 128-wide block scales). Left out: the sort, the gate, routing skew.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/descriptor.hpp"

namespace smtwin {

// Rows of a balanced routing on whole experts.
struct ExpertLoad {
  std::int64_t active_experts = 0;
  std::int64_t rows = 0;       // token-expert pairs
  std::int64_t row_tiles = 0;  // of block_m rows, over all active experts
  double expected_active = 0;  // before rounding to whole experts
};
struct Routing {
  std::int64_t tokens = 1;
  std::int64_t experts = 1;
  std::int64_t topk = 1;
};
ExpertLoad balanced_load(const Routing& routing, std::int64_t block_m);

std::unique_ptr<KernelDescriptor> make_triton_moe_gemm();

}  // namespace smtwin
