// SPDX-License-Identifier: Apache-2.0
#include "model/families/gemm/cublas_tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace smtwin {
namespace {

constexpr std::array kSplits = {1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0};
// Accumulators of this many outputs fill about half of an SM's registers.
constexpr double kOutputsPerSm = 16384;
constexpr double kMostCtasPerSm = 2;
constexpr double kLeastStepsPerSplit = 4;
constexpr double kLeastSplitBytes = 4096;
constexpr double kFewRows = 16;
constexpr GemmTile kGemv{.block_m = 1, .block_n = 1, .block_k = 512};

struct TileGrid {
  std::vector<double> block_m, block_n;
  double largest_area = 0;
  bool gemv = false;
};

struct TileLists {
  // Indexed by wide_k * 2 + splits.
  std::array<std::vector<GemmTile>, 4> lists;

  explicit TileLists(const TileGrid& grid) {
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (grid.gemv && i == 1) lists[i].push_back(kGemv);  // bf16, not batched
      const double block_k = i >= 2 ? 128 : 64;
      for (const double m : grid.block_m) {
        for (const double n : grid.block_n) {
          if (m * n > grid.largest_area) continue;
          const double fit = std::floor(kOutputsPerSm / (m * n));
          for (const double splits : kSplits) {
            if (splits > 1 && i % 2 == 0) break;
            lists[i].push_back({.block_m = m,
                                .block_n = n,
                                .block_k = block_k,
                                .splits = splits,
                                .ctas_per_sm = std::clamp(fit, 1.0, kMostCtasPerSm)});
          }
        }
      }
    }
  }
  std::span<const GemmTile> at(bool wide_k, bool splits) const {
    return lists[(wide_k ? 2u : 0u) + (splits ? 1u : 0u)];
  }
};

}  // namespace

std::span<const GemmTile> cublas_tiles_sm120(bool wide_k, bool splits) {
  static const TileLists lists({.block_m = {256, 128, 64, 32, 16},
                                .block_n = {256, 128, 64},
                                .largest_area = 128 * 256,
                                .gemv = true});
  return lists.at(wide_k, splits);
}

std::span<const GemmTile> cublas_tiles_sm90(bool wide_k, bool splits) {
  static const TileLists lists({.block_m = {256, 224, 192, 160, 128, 112, 96, 80, 64, 48, 32, 16},
                                .block_n = {256, 192, 128, 64},
                                .largest_area = 192 * 256});
  return lists.at(wide_k, splits);
}

bool cublas_allows(const GemmShape& s, const GemmTile& t, double element_bytes) {
  if (t.block_m == 1) return s.m == 1;
  if (t.splits == 1) return true;
  if (s.k * element_bytes < kLeastSplitBytes) return false;
  if (s.k < t.block_k * t.splits * kLeastStepsPerSplit) return false;
  return s.m > kFewRows || s.k >= s.n;
}

}  // namespace smtwin
