// SPDX-License-Identifier: Apache-2.0
// CUTLASS block-scaled NVFP4 GEMM of SM120, dense or grouped over experts: packed FP4 operands
// with one FP8 scale per 16 elements, warp-specialized (one producer and two consumer warp groups,
// 384 threads), BF16 output. Shared storage: storage.hpp. What production saw with older versions
// and which assumption explains it: field_notes_outcomes.hpp.
// Work is counted on padded tiles: a group of one row computes tile_m rows. Left out: swapped
// operands, 2:4 sparsity, FP8 output, stream-K.
#pragma once

#include <memory>

#include "kernels/descriptor.hpp"

namespace smtwin {

std::unique_ptr<KernelDescriptor> make_cutlass_nvfp4();

}  // namespace smtwin
