// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/uniform_routing.hpp"

#include <algorithm>
#include <cmath>

namespace smtwin {

MoeRouting uniform_routing(const MoeShape& shape) {
  constexpr double kCertain = 4;  // erfc(4) is 1.5e-8
  // Tiles in the tail, and in front of it, from where a loop over them is too long or j + 1 rounds.
  constexpr double kWideTail = 1024, kManyTiles = 0x1p40;
  MoeRouting r;
  const double local = shape.local_experts(), share = shape.topk / shape.experts;
  const double mean = shape.tokens * share;
  // Every token choosing every expert leaves no spread; a trace of it keeps the tail defined.
  const double spread = std::sqrt(2 * mean * std::max(1 - share, 1e-9));
  const double any = 1 - std::pow(1 - share, shape.tokens);
  r.active_experts = local * any;
  r.rows = local * mean;
  r.tokens_seen = shape.tokens * (1 - std::pow(1 - 1 / shape.ep, shape.topk));
  for (std::size_t i = 0; i < kMoeTileRows.size(); ++i) {
    const double height = kMoeTileRows[i];
    if (spread > kWideTail * height || mean > kManyTiles * height) {
      r.tiles[i] = local * ((mean - 0.5) / height + 0.5);
      continue;
    }
    // An expert has tile number j + 1 when it has more than j height rows.
    const double sure = std::floor((mean - kCertain * spread) / height);
    double tiles = sure > 0 ? sure + 1 : any;
    for (double j = sure > 0 ? sure + 1 : 1;; ++j) {
      const double z = (j * height + 0.5 - mean) / spread;
      if (!(z <= kCertain)) break;
      tiles += 0.5 * std::erfc(z);
    }
    r.tiles[i] = local * tiles;
  }
  return r;
}

}  // namespace smtwin
