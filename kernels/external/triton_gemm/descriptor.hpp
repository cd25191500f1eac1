// SPDX-License-Identifier: Apache-2.0
// Dense GEMM as Triton's tutorials write it: one CTA an output tile, a pipelined loop over K,
// C[m,n] = A[m,k] x B[k,n] with FP32 accumulation, optional split of K.
//
//   shared bytes = operand buffers (kernels/triton_compiler.hpp); with wgmma and 8 warps at least
//                  2 x min(BLOCK_M, 128) x min(BLOCK_N, 128), the staging of the BF16 output tile
// Equal to the compiler's own number on all 458 configurations compiled with Triton 3.6.0 for
// sm_90 and sm_120. Left out: TMA descriptors, persistent variants, fused epilogues.
#pragma once

#include <memory>

#include "kernels/descriptor.hpp"

namespace smtwin {

std::unique_ptr<KernelDescriptor> make_triton_gemm();

}  // namespace smtwin
