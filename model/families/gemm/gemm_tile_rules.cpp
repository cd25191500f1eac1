// SPDX-License-Identifier: Apache-2.0
#include "model/families/gemm/gemm_tile_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <sstream>
#include <vector>

namespace smtwin {

GemmTile nvfp4_tile_sm120(const GemmShape&, double) {
  return {.block_m = 128, .block_n = 128, .block_k = 128};
}

GemmTile vllm_fp8_tile_sm120(const GemmShape& s, double) {
  if (s.m <= 16) return {.block_m = 16, .block_n = 64, .block_k = 128, .ctas_per_sm = 2};
  if (s.m <= 32) return {.block_m = 32, .block_n = 64, .block_k = 128, .ctas_per_sm = 2};
  if (s.m <= 256) return {.block_m = 64, .block_n = 64, .block_k = 128, .ctas_per_sm = 2};
  return {.block_m = 128, .block_n = 128, .block_k = 128};
}

// Up to 64 rows the operands are swapped: weights fill the 64-row side of the tensor instruction,
// so the tile is only 16 or 64 rows of activations tall. Narrow outputs put several such CTAs
// along M into one cluster.
GemmTile vllm_fp8_tile_sm90(const GemmShape& s, double) {
  const bool narrow = s.n <= 1280;
  if (s.m <= 16) {
    return {.block_m = 16, .block_n = 64, .block_k = 256, .cluster_m = narrow ? 2.0 : 1.0};
  }
  if (s.m <= 64) {
    if (narrow) return {.block_m = 16, .block_n = 64, .block_k = 256, .cluster_m = 4};
    return {.block_m = 64, .block_n = 64, .block_k = 256};
  }
  if (s.m <= 128) {
    return {.block_m = 64, .block_n = 128, .block_k = 128, .ctas_per_sm = 2, .cluster_m = 2};
  }
  if (s.m >= 8192 && s.k >= 6144) {
    return {.block_m = 256, .block_n = 128, .block_k = 128, .cluster_m = 2};
  }
  return {.block_m = 128, .block_n = 128, .block_k = 128, .ctas_per_sm = 2, .cluster_m = 2};
}

GemmTile sglang_fp8_tile_sm120(const GemmShape& s, double) {
  static const int mode = getenv("SG") ? atoi(getenv("SG")) : 0;
  if (mode == 1 && s.m > 128) return {.block_m = 256, .block_n = 128, .block_k = 64};
  if (mode == 2) return {.block_m = 128, .block_n = 128, .block_k = 128};
  if (mode == 3 && s.m > 128) return {.block_m = 256, .block_n = 128, .block_k = 128};
  if (mode == 4) return {.block_m = 128, .block_n = 64, .block_k = 128};
  return {.block_m = 128, .block_n = s.n <= 64 ? 64.0 : 128.0, .block_k = 128};
}

GemmTile sglang_fp8_tile_sm90(const GemmShape& s, double) {
  static const std::vector<double> v = [] { std::vector<double> o; const char* e = getenv("SGT"); if (!e) e = "16,64,256,1,1,1 16,64,256,1,1,1 64,64,256,1,1,1 64,64,128,2,2,1 128,128,128,2,2,1 128,128,128,2,2,1 128,128,128,2,2,1 128,128,128,2,2,1";
    std::string t(e); for (auto& c : t) if (c == ',') c = ' '; std::stringstream ss(t); double x; while (ss >> x) o.push_back(x); return o; }();
  const double edge[] = {1, 16, 64, 128, 256, 1024, 4096, 1e9};
  std::size_t i = 0; while (s.m > edge[i]) ++i;
  const double* q = &v[i * 6];
  return {.block_m = q[0], .block_n = q[1], .block_k = q[2], .ctas_per_sm = q[3], .cluster_m = q[4], .cluster_n = q[5]};
}

GemmTile trtllm_fp8_block_tile_sm120(const GemmShape& s, double) {
  return {.block_m = s.m <= 64 ? 64.0 : 128.0, .block_n = 64, .block_k = 128};
}

static GemmTile deepgemm_cost_tile(const GemmShape& s, double sm_count) {
  // L2 and shared memory bytes per clock that the library's own cost function assumes.
  const double l2_rate = std::min(64 * sm_count, 8e6 / 1.3e3);
  const double l1_rate = 128 * sm_count;
  constexpr std::array<double, 5> kBlockM = {64, 128, 16, 32, 256};
  GemmTile best;
  double least = std::numeric_limits<double>::infinity();
  for (int cluster = 0; cluster < 3; ++cluster) {
    const double cm = cluster == 2 ? 2 : 1, cn = cluster == 1 ? 2 : 1;
    for (const double bm : kBlockM) {
      if ((bm == 16 && s.m > 16) || (bm == 32 && s.m > 32)) continue;
      for (double bn = 16; bn <= 192; bn += 16) {
        const double over = bn - 128;
        if (over > 0 && std::fmod(bn, over) != 0 && std::fmod(128, over) != 0) continue;
        if (bm > 128 && bn > 128) continue;
        const double stage = (bm + bn) * 128 + std::ceil(bm * 4 / 128) * 128;
        const double extra = bm * bn * 2 + 256 + std::ceil(s.k / 128) * 4 * (std::fmod(128, bn) == 0 ? 1 : 2);
        const double stages = std::min(16.0, std::floor((232448 - extra) / stage));
        if (stages < 3 || (bm * bn < 128 * 192 && stages < 4)) continue;
        const double blocks = ceil_div(s.m, bm) * ceil_div(s.n, bn);
        const double waves = ceil_div(blocks, sm_count);
        if (cm * cn > 1 && waves <= 1) continue;
        const double ab_l2 = s.k * (bm / cn + bn / cm), ab_l1 = s.k * (bm + bn);
        const double tc = s.k * (std::max(64.0, bm) + bn) + bm * bn * 2;
        const double cd = bm * bn * 2;
        const double l2 = std::floor((ab_l2 + cd) * blocks / l2_rate);
        const double l1 = std::floor((ab_l1 + tc + cd) * blocks / l1_rate);
        const double cycles = std::floor(std::max(l1, l2) / (blocks / (waves * sm_count)));
        if (cycles < least) {
          least = cycles;
          best = {.block_m = bm, .block_n = bn, .block_k = 128, .cluster_m = cm, .cluster_n = cn, .pads_clusters = false};
        }
      }
    }
  }
  return best;
}

GemmTile deepgemm_tile_sm90(const GemmShape& s, double sm_count) {
  static const int mode = getenv("DG") ? atoi(getenv("DG")) : 1;
  if (mode == 3) return deepgemm_cost_tile(s, sm_count);
  GemmTile best{.block_m = 0, .block_n = 0, .block_k = 128};
  double best_waves = 0, best_last = 0;
  for (const double bm : {64.0, 128.0, 256.0}) {
    if (mode == 0 && bm != (s.m <= 64 ? 64 : 128)) continue;
    if (mode == 2 && bm == 256) continue;
    for (double bn = 16; bn <= (mode == 0 ? 128 : 192); bn += (mode == 0 ? 8 : 16)) {
      if (bn > 128 && bn != 144 && bn != 160 && bn != 192) continue;
      if (bm > 128 && bn > 128) continue;
      const double tiles = ceil_div(s.m, bm) * ceil_div(s.n, bn);
      const double waves = ceil_div(tiles, sm_count);
      const double last = tiles - (waves - 1) * sm_count;
      bool take = best_waves == 0 || waves < best_waves;
      if (!take && waves == best_waves) {
        take = last > best_last;
        if (last == best_last) {
          take |= bm == best.block_m && bn < best.block_n;
          take |= bn == best.block_n && bm < best.block_m;
          take |= bm != best.block_m && bn > best.block_n && bn <= s.n && bm <= s.m;
        }
      }
      if (take) {
        best.block_m = bm; best.block_n = bn; best_waves = waves; best_last = last;
      }
    }
  }
  return best;
}

GemmTile trtllm_fp8_block_tile_sm90(const GemmShape& s, double sm_count) {
  static const int mode = getenv("TRT") ? atoi(getenv("TRT")) : 1;
  if (mode == 0) { if (s.m > 32) return deepgemm_tile_sm90(s, sm_count);
  return {.block_m = s.m <= 16 ? 16.0 : 32.0, .block_n = 64, .block_k = 128}; }
  const bool swap = s.m < 32;
  const double rows = swap ? s.n : s.m, cols = swap ? s.m : s.n;
  const double bm = rows <= 64 ? 64 : 128;
  double best_n = 16, best_waves = 0, best_last = 0;
  for (double bn = 16; bn <= 128; bn += 8) {
    const double tiles = ceil_div(rows, bm) * ceil_div(cols, bn);
    const double waves = ceil_div(tiles, sm_count);
    const double last = tiles - (waves - 1) * sm_count;
    if (best_waves == 0 || waves < best_waves || (waves == best_waves && last > best_last)) {
      best_n = bn; best_waves = waves; best_last = last;
    }
  }
  if (swap) return {.block_m = best_n, .block_n = bm, .block_k = 128};
  return {.block_m = bm, .block_n = best_n, .block_k = 128};
}

}  // namespace smtwin
