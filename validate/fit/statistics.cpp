// SPDX-License-Identifier: Apache-2.0
#include "validate/fit/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace smtwin {
namespace {

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t j = i; j < end; ++j) {
      rank[order[j]] = 0.5 * static_cast<double>(i + end - 1);
    }
    i = end;
  }
  return rank;
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), nth, values.end());
  const double low = *nth;
  if (below + 1 == values.size()) return low;
  const double high = *std::min_element(nth + 1, values.end());
  return low + (position - static_cast<double>(below)) * (high - low);
}

double robust_spread(std::vector<double> values) {
  if (values.size() < 2) return 0;
  return 0.5 * (quantile(values, 0.8413) - quantile(values, 0.1587));
}

double spearman(std::span<const double> a, std::span<const double> b) {
  const std::size_t n = a.size();
  if (n < 2) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> ra = ranks(a), rb = ranks(b);
  const double mean = 0.5 * static_cast<double>(n - 1);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < n; ++i) {
    ab += (ra[i] - mean) * (rb[i] - mean);
    aa += (ra[i] - mean) * (ra[i] - mean);
    bb += (rb[i] - mean) * (rb[i] - mean);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : std::numeric_limits<double>::quiet_NaN();
}

ErrorStatistics error_statistics(std::span<const double> predicted,
                                 std::span<const double> measured) {
  ErrorStatistics s;
  s.rows = predicted.size();
  if (s.rows == 0) return s;
  std::vector<double> error(s.rows);
  for (std::size_t i = 0; i < s.rows; ++i) {
    const double e = predicted[i] / measured[i] - 1;
    s.bias += e;
    error[i] = std::fabs(e);
  }
  const auto n = static_cast<double>(s.rows);
  s.bias /= n;
  s.mean_error = std::accumulate(error.begin(), error.end(), 0.0) / n;
  s.median_error = quantile(error, 0.5);
  s.p90_error = quantile(std::move(error), 0.9);
  s.spearman = spearman(predicted, measured);
  return s;
}

}  // namespace smtwin
