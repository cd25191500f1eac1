// SPDX-License-Identifier: Apache-2.0
#include "model/timing/uncertainty.hpp"

#include <algorithm>
#include <cmath>

namespace smtwin {

std::vector<double> log_sensitivities(
    const std::function<double(std::span<const double>)>& seconds_at,
    std::span<const double> values) {
  constexpr double kStep = 1e-3;
  std::vector<double> v(values.begin(), values.end());
  const double base = std::log(seconds_at(v));
  std::vector<double> g(v.size());
  for (std::size_t j = 0; j < v.size(); ++j) {
    v[j] = values[j] * std::exp(kStep);
    g[j] = (std::log(seconds_at(v)) - base) / kStep;
    v[j] = values[j];
  }
  return g;
}

double variance_from_constants(std::span<const double> sensitivity,
                               std::span<const double> covariance) {
  const std::size_t n = sensitivity.size();
  double sum = 0;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      sum += sensitivity[a] * covariance[a * n + b] * sensitivity[b];
    }
  }
  return std::max(sum, 0.0);
}

}  // namespace smtwin
