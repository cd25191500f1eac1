// SPDX-License-Identifier: Apache-2.0
#include "model/families/gemm/gemm_tile_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "arch/error.hpp"

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
    return {.block_m = 64, .block_n = 128, .block_k = 128, .cluster_m = 2};
  }
  if (s.m >= 8192 && s.k >= 6144) {
    return {.block_m = 256, .block_n = 128, .block_k = 128, .cluster_m = 2};
  }
  return {.block_m = 128, .block_n = 128, .block_k = 128, .cluster_m = 2};
}

GemmTile sglang_fp8_tile_sm120(const GemmShape&, double) {
  return {.block_m = 128, .block_n = 128, .block_k = 128};
}

// With N up to 1280 a K step of 65 to 128 rows takes 0.11 us, less than the tensor core of one SM
// needs for 64x128x128 at the highest clock (0.13 us): those tiles are smaller.
GemmTile sglang_fp8_tile_sm90(const GemmShape& s, double) {
  if (s.m <= 16) return {.block_m = 16, .block_n = 64, .block_k = 256};
  if (s.m <= 64) return {.block_m = 64, .block_n = 64, .block_k = 256};
  if (s.m <= 128 && s.n <= 1280) return {.block_m = 64, .block_n = 64, .block_k = 128};
  return {.block_m = s.m <= 128 ? 64.0 : 128.0, .block_n = 128, .block_k = 128, .cluster_m = 2};
}

GemmTile fp8_block_tile_sm120(const GemmShape& s, double) {
  return {.block_m = s.m <= 64 ? 64.0 : 128.0, .block_n = 64, .block_k = 128};
}

namespace {

// DeepGEMM on SM90 asks of a tile, before it compares costs: enough pipeline stages in shared
// memory, few enough accumulators, and a scale layout that its unrolled loop can address. All
// numbers up to the cost function are its source's (heuristics/sm90.hpp, 2026).
constexpr double kSharedBytes = 227 * 1024;  // that one block of compute capability 9.0 can have
constexpr double kBarrierBytes = 256;
constexpr double kMostStages = 16;
constexpr double kScaleBytes = 4;
constexpr double kScaleAlignmentBytes = 128;  // of a stage's row scales, for TMA
constexpr double kDeepGemmBlockK = 128;
// A small tile needs more stages in flight than a large one, whose MMAs take longer.
constexpr double kLeastStages = 4, kLeastStagesOfLargeTile = 3;
constexpr double kLargeTileOutputs = 128 * 192;
// Its cost function's chip: an L2 of 64 bytes a cycle to each SM, at most 8 TB/s at 1.3 GHz; 128
// bytes a cycle of shared memory; an MMA reads at least 64 rows.
constexpr double kL2BytesPerSmCycle = 64;
constexpr double kL2BytesPerUs = 8e6, kCyclesPerUs = 1.3e3;
constexpr double kSharedBytesPerSmCycle = 128;
constexpr double kMmaRows = 64;

double deepgemm_stages(double block_m, double block_n, double k) {
  const double scales_of_rows =
      ceil_div(block_m * kScaleBytes, kScaleAlignmentBytes) * kScaleAlignmentBytes;
  const double stage = (block_m + block_n) * kDeepGemmBlockK + scales_of_rows;
  const double weight_scales =
      block_n > kDeepGemmBlockK || std::fmod(kDeepGemmBlockK, block_n) != 0 ? 2 : 1;
  const double fixed = block_m * block_n * kOutputBytesPerElement + kBarrierBytes +
                       ceil_div(k, kDeepGemmBlockK) * kScaleBytes * weight_scales;
  return std::min(kMostStages, std::floor((kSharedBytes - fixed) / stage));
}

bool deepgemm_legal(double block_m, double block_n, double k) {
  if (block_m > 128 && block_n > 128) return false;
  const double over = block_n - kDeepGemmBlockK;
  if (over > 0 && std::fmod(block_n, over) != 0 && std::fmod(kDeepGemmBlockK, over) != 0) {
    return false;
  }
  const double stages = deepgemm_stages(block_m, block_n, k);
  const bool large = block_m * block_n >= kLargeTileOutputs;
  return stages >= (large ? kLeastStagesOfLargeTile : kLeastStages);
}

// Cycles by its own cost function: bytes through L2 or shared memory, whichever takes longer, over
// the share of busy SMs.
double deepgemm_cycles(const GemmShape& s, const GemmTile& t, double sm_count) {
  const double l2_bytes_per_cycle =
      std::min(kL2BytesPerSmCycle * sm_count, kL2BytesPerUs / kCyclesPerUs);
  const double shared_bytes_per_cycle = kSharedBytesPerSmCycle * sm_count;
  const double tiles = s.b * ceil_div(s.m, t.block_m) * ceil_div(s.n, t.block_n);
  const double waves = ceil_div(tiles, sm_count);
  if (t.cluster_m * t.cluster_n > 1 && waves <= 1) return std::numeric_limits<double>::infinity();
  const double output = t.block_m * t.block_n * kOutputBytesPerElement;
  const double l2 = s.k * (t.block_m / t.cluster_n + t.block_n / t.cluster_m) + output;
  const double loads = s.k * (t.block_m + t.block_n);
  const double tensor = s.k * (std::max(kMmaRows, t.block_m) + t.block_n) + output;
  const double l2_cycles = std::floor(l2 * tiles / l2_bytes_per_cycle);
  const double shared_cycles =
      std::floor((loads + tensor + output) * tiles / shared_bytes_per_cycle);
  return std::floor(std::max(l2_cycles, shared_cycles) / (tiles / (waves * sm_count)));
}

}  // namespace

GemmTile deepgemm_tile_sm90(const GemmShape& s, double sm_count) {
  constexpr std::array kBlockM = {64.0, 128.0, 16.0, 32.0, 256.0};
  constexpr std::array<std::array<double, 2>, 3> kClusters = {{{1, 1}, {1, 2}, {2, 1}}};
  GemmTile best{.block_k = 0};
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [cluster_m, cluster_n] : kClusters) {
    for (const double block_m : kBlockM) {
      if (block_m < 64 && s.m > block_m) continue;
      for (double block_n = 16; block_n <= 192; block_n += 16) {
        if (!deepgemm_legal(block_m, block_n, s.k)) continue;
        const GemmTile t{.block_m = block_m,
                         .block_n = block_n,
                         .block_k = kDeepGemmBlockK,
                         .cluster_m = cluster_m,
                         .cluster_n = cluster_n,
                         .pads_clusters = false};
        const double cycles = deepgemm_cycles(s, t, sm_count);
        if (cycles < least) {
          least = cycles;
          best = t;
        }
      }
    }
  }
  if (best.block_k == 0) {
    std::ostringstream k;
    k << s.k;
    throw DataError("DeepGEMM has no tile for K = " + k.str() +
                    ", whose scales fill the shared memory; known: K up to some 6 million");
  }
  return best;
}

namespace {

// The first DeepGEMM's rule for one side: 64 or 128 rows, then the columns with the fewest waves,
// the fullest last wave, the smallest tile.
GemmTile first_deepgemm_tile(double products, double rows, double columns, double sm_count) {
  const double block_rows = rows <= 64 ? 64 : 128;
  double best = 0, best_waves = 0, best_last = 0;
  for (double block = 16; block <= 128; block += 8) {
    const double tiles = products * ceil_div(rows, block_rows) * ceil_div(columns, block);
    const double waves = ceil_div(tiles, sm_count);
    const double last = tiles - (waves - 1) * sm_count;
    if (best == 0 || waves < best_waves || (waves == best_waves && last > best_last)) {
      best = block;
      best_waves = waves;
      best_last = last;
    }
  }
  return {.block_m = block_rows, .block_n = best, .block_k = kDeepGemmBlockK};
}

}  // namespace

GemmTile trtllm_fp8_block_tile_sm90(const GemmShape& s, double sm_count) {
  if (s.m >= 32) return first_deepgemm_tile(s.b, s.m, s.n, sm_count);
  // Swapped: the weights' outputs take the place of rows.
  GemmTile t = first_deepgemm_tile(s.b, s.n, s.m, sm_count);
  std::swap(t.block_m, t.block_n);
  return t;
}

GemmTile trtllm_fp8_block_bmm_tile_sm90(const GemmShape& s, double sm_count) {
  return first_deepgemm_tile(s.b, s.m, s.n, sm_count);
}

}  // namespace smtwin
