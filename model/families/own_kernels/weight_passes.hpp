// SPDX-License-Identifier: Apache-2.0
// How often a GEMM with several rows of tiles reads its weights from DRAM. Tiles that lie side by
// side share their weights (tile = column x tiles_m + row). CTAs that hold whole tiles or equal
// shares of them walk over those weights in step, and all but the first read finds them in the L2.
// Stream-K hands out pieces of tiles: the CTAs of one column are then at different places, and what
// one of them read is gone from the L2 before the next comes, if enough was read in between.
//
//   time of a read  t = round x steps + step within the CTA
//   passes          = 1 + mean over columns of sum over neighbouring reads of
//                     1 - hit(bytes that all CTAs read between them)         hit: l2_residency.hpp
#pragma once

#include <cstdint>

#include "model/families/gemm/l2_residency.hpp"

namespace smtwin {

struct SharedWeights {
  std::int64_t tiles = 1;
  std::int64_t tiles_m = 1;  // that share a column's weights
  std::int64_t k_steps = 1;
  std::int64_t ctas = 1;
  std::int64_t slots = 1;     // CTAs at once on the GPU
  double bytes_per_step = 0;  // that one CTA reads
};
double weight_passes(const SharedWeights& weights, const L2Residency& l2);

}  // namespace smtwin
