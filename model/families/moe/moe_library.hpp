// SPDX-License-Identifier: Apache-2.0
// What the libraries decide from the shape alone: tiles (or the candidates a tuner picks from),
// bytes per element, what becomes of pairs of other ranks, which routing limit applies.
#pragma once

#include <vector>

#include "model/families/moe/moe_shape.hpp"
#include "model/families/moe/routing.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

struct MoeTile {
  int rows = 64;     // of tokens
  int columns = 64;  // of weight rows
  int depth = 64;    // of K in one step
  double ctas_per_sm = 1;
};

struct MoeFormat {
  double weight_bytes = 2;      // per element, scales included
  double activation_bytes = 2;  // as the GEMM reads them
  double flops_per_s = 0;       // dense peak of the chip in the format that multiplies
};
MoeFormat moe_format(const MoeImplementation& how, const TimingGpu& gpu);

// One tile where a rule decides, several where a tuner does. `tokens` are those the rule sees.
std::vector<MoeTile> moe_tiles(const MoeImplementation& how, const TimingGpu& gpu,
                               const MoeShape& shape, double tokens);

// The Triton paths of SGLang can be timed without the framework's own expert-parallel layer; then
// they keep only tokens with a local pair. Seen in the rows of three geometries.
bool moe_is_bare_kernel(const MoeImplementation& how, const MoeShape& shape);
RemotePairs moe_remote_pairs(const MoeImplementation& how, const MoeShape& shape);

// Group limit that models of this geometry ask for and the framework's benchmark honours.
GroupLimit moe_group_limit(const MoeImplementation& how, const MoeShape& shape);

// Nemotron-3 geometries have squared ReLU and no gate projection.
bool moe_is_gated(double hidden, double inter);

}  // namespace smtwin
