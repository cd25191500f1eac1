// SPDX-License-Identifier: Apache-2.0
// What the libraries decide from the shape alone, tiles apart (moe_tiles.hpp): bytes per element,
// what becomes of pairs of other ranks, which routing limit applies.
#pragma once

#include "model/families/moe/moe_shape.hpp"
#include "model/families/moe/routing.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

struct MoeFormat {
  double weight_bytes = 2;      // per element, scales included, as they lie in memory
  double activation_bytes = 2;  // per element, as the GEMM reads them
  double flops_per_s = 0;       // dense peak of the chip in the format that multiplies
};
MoeFormat moe_format(const MoeImplementation& how, const TimingGpu& gpu);

// Read from the rows; Marlin's mxfp4 path under SGLang is inferred.
RemotePairs moe_remote_pairs(const MoeImplementation& how, const MoeShape& shape);

// Group limit that models of this geometry ask for (DeepSeek-V3: 8 groups, 4 kept) and that the
// benchmarks of vLLM and SGLang honour.
GroupLimit moe_group_limit(const MoeImplementation& how, const MoeShape& shape);

// Nemotron-3 geometries have squared ReLU and no gate projection.
bool moe_is_gated(double hidden, double inter);

}  // namespace smtwin
