// SPDX-License-Identifier: Apache-2.0
// Loads of experts: levelling by hand, sums, caps, the heaviest rank, the same draws everywhere.
#include "model/families/moe/expert_loads.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tests/catch.hpp"

using namespace smtwin;
using Loads = std::vector<std::int64_t>;

TEST_CASE("pairs are poured in one by one, the first of the emptiest experts first", "[unit]") {
  // 0 3 1 0: two make it 1 3 1 1, the third goes to the first 1 -> 2 3 1 1.
  Loads loads{0, 3, 1, 0};
  pour_in(loads, 3, 9);
  CHECK(loads == Loads{2, 3, 1, 1});
  // Experts at the cap of 3 take nothing: 1 + 2 + 2 = 5 fit, the other 5 are left over.
  pour_in(loads, 10, 3);
  CHECK(loads == Loads{3, 3, 3, 3});
  // One that is above the cap stays.
  Loads over{7, 0};
  pour_in(over, 1, 3);
  CHECK(over == Loads{7, 1});
}

TEST_CASE("pairs are poured out one by one, the first of the fullest experts first", "[unit]") {
  // 5 2 5 0: four make it 3 2 3 0, the fifth takes the first 3 -> 2 2 3 0.
  Loads loads{5, 2, 5, 0};
  pour_out(loads, 5);
  CHECK(loads == Loads{2, 2, 3, 0});
  pour_out(loads, 100);
  CHECK(loads == Loads{0, 0, 0, 0});
}

TEST_CASE("levelling equals what one pair at a time does", "[property]") {
  const Loads start{9, 0, 4, 4, 1, 7, 2, 2, 0, 5};
  const std::int64_t cap = 8;
  for (std::int64_t pairs = 0; pairs < 60; ++pairs) {
    Loads fast = start, slow = start;
    pour_in(fast, pairs, cap);
    for (std::int64_t i = 0; i < pairs; ++i) {
      const auto lowest = std::min_element(slow.begin(), slow.end());
      if (*lowest < cap) ++*lowest;
    }
    REQUIRE(fast == slow);
    fast = slow = start;
    pour_out(fast, pairs);
    for (std::int64_t i = 0; i < pairs; ++i) {
      const auto highest = std::max_element(slow.begin(), slow.end());
      if (*highest > 0) --*highest;
    }
    REQUIRE(fast == slow);
  }
}

TEST_CASE("shares are rounded, capped at one pair a token, and the heaviest rank comes first",
          "[unit]") {
  // 8 tokens x 2 = 16 pairs over 4 experts on 2 ranks. Shares give 1.6, 1.6, 11.2, 1.6 -> 2 2 11 2;
  // 11 is capped at 8, 3 over: rank 0 gets two (3 3), rank 1 one: (8, 2 + 1). That is 17 pairs, one
  // too many, which rank 0 gives back: its first fullest expert 3 -> 2. 2 3 | 8 3. Rank 1 is
  // heavier.
  const std::vector<double> shares{0.1, 0.1, 0.7, 0.1};
  CHECK(loads_from_shares(shares, 8, 2, 2) == Loads{8, 3, 2, 3});
}

TEST_CASE("power-law loads sum to all pairs and stay within a token each", "[property]") {
  const std::int64_t tokens = GENERATE(1, 2, 7, 64, 1000, 16384);
  const int ep = GENERATE(1, 4, 32);
  for (int draw = 0; draw < 6; ++draw) {
    const std::vector<double> shares = power_law_shares(tokens, 8, 128, 1.2, draw);
    REQUIRE(std::accumulate(shares.begin(), shares.end(), 0.0) == Approx(1.0));
    const Loads loads = loads_from_shares(shares, tokens, 8, ep);
    REQUIRE(std::accumulate(loads.begin(), loads.end(), std::int64_t{0}) == tokens * 8);
    REQUIRE(*std::max_element(loads.begin(), loads.end()) <= tokens);
    REQUIRE(*std::min_element(loads.begin(), loads.end()) >= 0);
    const auto rank_load = [&](int r) {
      const auto first = loads.begin() + r * (128 / ep);
      return std::accumulate(first, first + 128 / ep, std::int64_t{0});
    };
    for (int r = 1; r < ep; ++r) REQUIRE(rank_load(0) >= rank_load(r));
  }
}

TEST_CASE("a steeper law spreads pairs over fewer experts", "[property]") {
  // The share of the heaviest of 128 experts, mean of six draws.
  const auto heaviest = [](double exponent) {
    double sum = 0;
    for (int draw = 0; draw < 6; ++draw) {
      const std::vector<double> shares = power_law_shares(4096, 8, 128, exponent, draw);
      sum += *std::max_element(shares.begin(), shares.end());
    }
    return sum;
  };
  CHECK(heaviest(2.0) > heaviest(1.5));
  CHECK(heaviest(1.5) > heaviest(1.2));
}

TEST_CASE("draws differ from each other and repeat", "[unit]") {
  CHECK(power_law_shares(64, 2, 8, 1.2, 0) == power_law_shares(64, 2, 8, 1.2, 0));
  CHECK(power_law_shares(64, 2, 8, 1.2, 0) != power_law_shares(64, 2, 8, 1.2, 1));
  // Strata: sorted, the e-th of 8 random numbers lies in [e/8, (e+1)/8). With exponent 1 a weight
  // is m (M/m)^u with m = 1, M = 0.8 x 64 = 51.2, so log(weight ratio) / log(51.2) recovers
  // differences of u: at most 2/8 between neighbours.
  std::vector<double> shares = power_law_shares(64, 2, 8, 1.0, 3);
  std::sort(shares.begin(), shares.end());
  for (std::size_t e = 1; e < shares.size(); ++e) {
    const double step = std::log(shares[e] / shares[e - 1]) / std::log(51.2);
    CHECK(step >= 0.0);
    CHECK(step <= 0.25);
  }
}
