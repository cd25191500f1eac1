// SPDX-License-Identifier: Apache-2.0
#include "model/expected_routing.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace smtwin {
namespace {

// P(c > n) for n = 0 .. trials, of a binomial distribution; from logarithms, so that thousands of
// trials neither overflow nor vanish.
std::vector<double> exceedance(std::int64_t trials, double p) {
  std::vector<double> above(static_cast<std::size_t>(trials) + 1, 0.0);
  if (p >= 1) {
    std::fill(above.begin(), above.end() - 1, 1.0);
    return above;
  }
  const auto n = static_cast<double>(trials);
  double tail = 0;
  for (std::int64_t c = trials; c > 0; --c) {
    const auto k = static_cast<double>(c);
    const double log_mass = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                            k * std::log(p) + (n - k) * std::log1p(-p);
    tail += std::exp(log_mass);
    above[static_cast<std::size_t>(c - 1)] = std::min(tail, 1.0);
  }
  return above;
}

}  // namespace

MoeRouting expected_routing(const ExpertLayer& layer) {
  MoeRouting routing;
  if (layer.experts <= 0 || layer.tokens <= 0 || layer.experts_per_token <= 0) return routing;
  const auto tokens = static_cast<double>(layer.tokens);
  const auto per_token = static_cast<double>(layer.experts_per_token);
  const auto ranks = static_cast<double>(layer.ep);
  const double local = static_cast<double>(layer.experts) / ranks;
  const std::vector<double> above =
      exceedance(layer.tokens, per_token / static_cast<double>(layer.experts));
  routing.active_experts = local * above[0];
  routing.rows = tokens * per_token / ranks;
  routing.tokens_seen = tokens * (1 - std::pow(1 - 1 / ranks, per_token));
  for (std::size_t i = 0; i < kMoeTileRows.size(); ++i) {
    double tiles = 0;
    for (std::size_t n = 0; n < above.size(); n += static_cast<std::size_t>(kMoeTileRows[i])) {
      tiles += above[n];
    }
    routing.tiles[i] = local * tiles;
  }
  return routing;
}

}  // namespace smtwin
