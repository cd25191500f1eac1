// SPDX-License-Identifier: Apache-2.0
#include "model/spread_contexts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace smtwin {
namespace {

// Quantile of the standard normal distribution by Newton steps on its distribution function; the
// start is good to a few percent, three steps to 1e-9.
double normal_quantile(double p) {
  double x = 1.6 * std::log(p / (1 - p)) / 2.7;
  for (int step = 0; step < 12; ++step) {
    const double below = 0.5 * std::erfc(-x / std::sqrt(2.0));
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::acos(-1.0));
    x += std::clamp((p - below) / density, -1.0, 1.0);
  }
  return x;
}

}  // namespace

std::vector<double> spread_contexts(std::int64_t sequences, double mean_tokens, double cv) {
  const auto n = static_cast<std::size_t>(std::max<std::int64_t>(sequences, 0));
  std::vector<double> lengths(n, mean_tokens);
  if (cv <= 0 || n < 2) return lengths;
  const double sigma = std::sqrt(std::log1p(cv * cv));
  // Neighbours in the batch are far apart in length: steps of the golden section.
  constexpr double kGolden = 0.6180339887498949;
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t i) {
    return std::fmod(static_cast<double>(i) * kGolden, 1.0);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  for (std::size_t i = 0; i < n; ++i) {
    const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    lengths[order[i]] = std::exp(sigma * normal_quantile(p));
  }
  const double scale =
      mean_tokens * static_cast<double>(n) / std::accumulate(lengths.begin(), lengths.end(), 0.0);
  for (double& length : lengths) length = std::max(1.0, length * scale);
  return lengths;
}

}  // namespace smtwin
