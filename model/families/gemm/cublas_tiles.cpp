// SPDX-License-Identifier: Apache-2.0
#include "model/families/gemm/cublas_tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace smtwin {
namespace {

constexpr std::array kSplits = {1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0};
// Accumulators of this many outputs fill about half of an SM's registers.
constexpr double kOutputsPerSm = 16384;

struct TileGrid {
  std::vector<double> block_m, block_n;
  double largest_area = 0;
  double most_ctas_per_sm = 1;
};

struct TileLists {
  // Indexed by wide_k * 2 + splits.
  std::array<std::vector<GemmTile>, 4> lists;

  explicit TileLists(const TileGrid& grid) {
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const double block_k = i >= 2 ? 128 : 64;
      for (const double splits : kSplits) {
        if (splits > 1 && i % 2 == 0) break;
        for (const double m : grid.block_m) {
          for (const double n : grid.block_n) {
            if (m * n > grid.largest_area) continue;
            const double fit = std::floor(kOutputsPerSm / (m * n));
            lists[i].push_back({.block_m = m,
                                .block_n = n,
                                .block_k = block_k,
                                .splits = splits,
                                .ctas_per_sm = std::clamp(fit, 1.0, grid.most_ctas_per_sm)});
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
                                .most_ctas_per_sm = 4});
  return lists.at(wide_k, splits);
}

std::span<const GemmTile> cublas_tiles_sm90(bool wide_k, bool splits) {
  static const TileLists lists({.block_m = {256, 192, 128, 64},
                                .block_n = {256, 192, 128, 96, 64, 32, 16},
                                .largest_area = 192 * 256,
                                .most_ctas_per_sm = 2});
  return lists.at(wide_k, splits);
}

}  // namespace smtwin
