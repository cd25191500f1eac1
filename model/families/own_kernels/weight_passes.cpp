// SPDX-License-Identifier: Apache-2.0
#include "model/families/own_kernels/weight_passes.hpp"

#include <algorithm>
#include <vector>

namespace smtwin {

double weight_passes(const SharedWeights& w, const L2Residency& l2) {
  if (w.tiles_m <= 1 || w.tiles <= 0 || w.ctas <= 0) return 1;
  constexpr std::int64_t kPlaces = 3;  // along K
  constexpr std::int64_t kMostColumns = 256;
  const std::int64_t total = w.tiles * w.k_steps;
  const double steps = static_cast<double>(total) / static_cast<double>(w.ctas);
  const double bytes_per_step = w.bytes_per_step * static_cast<double>(std::min(w.ctas, w.slots));
  const std::int64_t columns = w.tiles / w.tiles_m;
  const std::int64_t stride = std::max<std::int64_t>(1, columns / kMostColumns);
  std::vector<double> times;
  double again = 0;
  int places = 0;
  for (std::int64_t column = 0; column < columns; column += stride) {
    for (std::int64_t place = 0; place < kPlaces; ++place) {
      const std::int64_t k = w.k_steps * (2 * place + 1) / (2 * kPlaces);
      times.clear();
      for (std::int64_t row = 0; row < w.tiles_m; ++row) {
        const std::int64_t step = (column * w.tiles_m + row) * w.k_steps + k;
        const std::int64_t cta = ((step + 1) * w.ctas - 1) / total;
        const std::int64_t first = cta * total / w.ctas;
        times.push_back(static_cast<double>(cta / w.slots) * steps +
                        static_cast<double>(step - first));
      }
      std::sort(times.begin(), times.end());
      for (std::size_t i = 1; i < times.size(); ++i) {
        again += 1 - l2.hit((times[i] - times[i - 1]) * bytes_per_step);
      }
      ++places;
    }
  }
  return 1 + again / places;
}

}  // namespace smtwin
