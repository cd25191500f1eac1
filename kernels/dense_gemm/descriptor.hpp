// SPDX-License-Identifier: Apache-2.0
// Our own skinny GEMM for decode: D[m,n] = A[m,k] x W[n,k]^T, BF16 or FP8 (E4M3, one scale a
// tensor) in, BF16 out, FP32 accumulation. A persistent grid walks over (tile, k step) pairs in
// equal shares (stream_k.hpp); a tile that several CTAs share is summed by the last of them, or in
// a cluster.
//
//   shared bytes = num_stages x (BLOCK_M + BLOCK_N) x 128 + 16, with wgmma 16 a stage more
//   grid         = one wave: tiles x whole splits, or the resident CTAs of the chip
// W's rows are the multiply's M side, so that few rows of A waste no more than half of the 8-wide
// N side. wgmma = 1 are Hopper's variants: tensor copies by a warp of their own and wgmma.
#pragma once

#include <memory>

#include "kernels/descriptor.hpp"

namespace smtwin {

std::unique_ptr<KernelDescriptor> make_dense_gemm();

}  // namespace smtwin
