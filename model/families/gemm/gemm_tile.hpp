// SPDX-License-Identifier: Apache-2.0
// How a library cuts a GEMM into CTAs, and what that makes the GPU do. A CTA owns block_m x
// block_n outputs and walks over K in steps of block_k; with `splits` > 1 that many CTAs share one
// tile's K and a reduction follows. CTAs of a cluster start together: the grid is padded to whole
// clusters. Left out: stages, swizzle, multicast (their effect is in the fitted rates).
#pragma once

#include <string>

#include "model/families/gemm/gemm_shape.hpp"

namespace smtwin {

struct GemmTile {
  double block_m = 128, block_n = 128, block_k = 64;
  double splits = 1;
  double ctas_per_sm = 1;  // of this kernel side by side
  double cluster_m = 1, cluster_n = 1;
  bool pads_clusters = true;  // the grid is whole clusters
};

// "64x128x64 split 4", "128x128x128 cluster 2x1".
std::string to_string(const GemmTile& tile);

struct TileWork {
  double tiles_m = 0, tiles_n = 0;  // per product, padded to whole clusters
  double steps = 0;                 // K steps of one CTA
  double ctas = 0;
  double per_sm = 0;  // tiles of the busiest SM
  double rounds = 0;  // of resident CTAs
};

inline TileWork tile_work(const GemmShape& shape, const GemmTile& tile, double sm_count) {
  TileWork w;
  const double pad_m = tile.pads_clusters ? tile.cluster_m : 1;
  const double pad_n = tile.pads_clusters ? tile.cluster_n : 1;
  w.tiles_m = ceil_div(shape.m, tile.block_m * pad_m) * pad_m;
  w.tiles_n = ceil_div(shape.n, tile.block_n * pad_n) * pad_n;
  const double all_steps = ceil_div(shape.k, tile.block_k);
  w.steps = tile.splits > 1 ? ceil_div(all_steps, tile.splits) : all_steps;
  w.ctas = shape.b * w.tiles_m * w.tiles_n * tile.splits;
  w.per_sm = ceil_div(w.ctas, sm_count);
  w.rounds = tile.ctas_per_sm > 1 ? ceil_div(w.ctas, sm_count * tile.ctas_per_sm) : w.per_sm;
  return w;
}

}  // namespace smtwin
