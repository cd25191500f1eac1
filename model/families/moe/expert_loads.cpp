// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/expert_loads.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace smtwin {
namespace {

// SplitMix64 by Sebastiano Vigna (public domain).
class CounterRandom {
 public:
  explicit CounterRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15ull;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)

 private:
  std::uint64_t state_;
};

std::vector<double> stratified(int count, int draw) {
  CounterRandom random((static_cast<std::uint64_t>(count) << 32) + static_cast<unsigned>(draw));
  std::vector<double> u(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < u.size(); ++i) {
    u[i] = (static_cast<double>(i) + random.uniform()) / count;
  }
  for (std::size_t i = u.size(); i > 1; --i) std::swap(u[i - 1], u[random.bits() % i]);
  return u;
}

}  // namespace

void pour_in(std::span<std::int64_t> loads, std::int64_t pairs, std::int64_t cap) {
  if (pairs <= 0 || loads.empty()) return;
  const auto needed = [&](std::int64_t level) {
    std::int64_t sum = 0;
    for (const std::int64_t c : loads) sum += std::max<std::int64_t>(level - c, 0);
    return sum;
  };
  // The highest common level that the pairs reach.
  std::int64_t low = *std::min_element(loads.begin(), loads.end()), high = cap;
  if (low >= cap) return;
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (needed(middle) <= pairs) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  pairs -= needed(low);
  for (std::int64_t& c : loads) c = std::max(c, low);
  if (low >= cap) return;
  for (std::int64_t& c : loads) {
    if (pairs == 0) break;
    if (c == low) ++c, --pairs;
  }
}

void pour_out(std::span<std::int64_t> loads, std::int64_t pairs) {
  if (pairs <= 0 || loads.empty()) return;
  const auto freed = [&](std::int64_t level) {
    std::int64_t sum = 0;
    for (const std::int64_t c : loads) sum += std::max<std::int64_t>(c - level, 0);
    return sum;
  };
  std::int64_t low = 0, high = *std::max_element(loads.begin(), loads.end());
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (freed(middle) <= pairs) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  pairs -= freed(low);
  for (std::int64_t& c : loads) c = std::min(c, low);
  if (low == 0) return;
  for (std::int64_t& c : loads) {
    if (pairs == 0) break;
    if (c == low) --c, --pairs;
  }
}

std::vector<double> power_law_shares(std::int64_t tokens, int topk, int experts, double exponent,
                                     int draw) {
  const bool many = tokens * topk > experts;
  const double smallest = many ? 1.0 : 0.01;
  const double largest = many ? 0.8 * static_cast<double>(tokens) : 2.0;
  std::vector<double> x = stratified(experts, draw);
  // Inverse of the distribution function; the exponent 1 is its limit.
  const double a = 1 - exponent;
  if (std::abs(a) < 1e-9) {
    for (double& v : x) v = smallest * std::pow(largest / smallest, v);
  } else {
    const double from = std::pow(smallest, a), to = std::pow(largest, a);
    for (double& v : x) v = std::pow((to - from) * v + from, 1 / a);
  }
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  for (double& v : x) v /= sum;
  return x;
}

std::vector<std::int64_t> loads_from_shares(std::span<const double> shares, std::int64_t tokens,
                                            int topk, int ep) {
  const std::int64_t pairs = tokens * topk;
  std::vector<std::int64_t> loads(shares.size());
  std::int64_t over = 0, sum = 0;
  for (std::size_t e = 0; e < loads.size(); ++e) {
    const auto c =
        static_cast<std::int64_t>(std::nearbyint(shares[e] * static_cast<double>(pairs)));
    over += std::max<std::int64_t>(c - tokens, 0);
    loads[e] = std::min(c, tokens);
    sum += loads[e];
  }
  const std::size_t per_rank = loads.size() / static_cast<std::size_t>(ep);
  const auto rank = [&](int r) {
    return std::span(loads).subspan(static_cast<std::size_t>(r) * per_rank, per_rank);
  };
  // Every rank settles an equal part, the first ranks one pair more.
  const auto settle = [&](std::int64_t missing) {
    const std::int64_t count = std::abs(missing);
    for (int r = 0; r < ep; ++r) {
      const std::int64_t part = count / ep + (r < count % ep ? 1 : 0);
      if (missing > 0) pour_in(rank(r), part, tokens);
      if (missing < 0) pour_out(rank(r), part);
    }
  };
  const auto missing = [&] {
    return pairs - std::accumulate(loads.begin(), loads.end(), std::int64_t{0});
  };
  if (over > 0) settle(over);
  if (over > 0 || sum != pairs) settle(missing());
  const std::int64_t rest = missing();
  pour_in(loads, rest, tokens);
  pour_out(loads, -rest);

  int heaviest = 0;
  std::int64_t most = -1;
  for (int r = 0; r < ep; ++r) {
    const auto block = rank(r);
    const std::int64_t load = std::accumulate(block.begin(), block.end(), std::int64_t{0});
    if (load > most) most = load, heaviest = r;
  }
  const auto first = rank(0), chosen = rank(heaviest);
  if (heaviest != 0) std::swap_ranges(first.begin(), first.end(), chosen.begin());
  return loads;
}

}  // namespace smtwin
