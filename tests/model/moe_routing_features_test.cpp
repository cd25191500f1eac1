// SPDX-License-Identifier: Apache-2.0
// From routings to features: layouts by hand and against one token at a time, group-limited top-k,
// what happens to pairs of other ranks, the tuner's uniform routing.
#include "model/families/moe/routing.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "arch/error.hpp"
#include "model/families/moe/expert_loads.hpp"
#include "model/families/moe/token_runs.hpp"
#include "model/families/moe/uniform_routing.hpp"
#include "tests/catch.hpp"

using namespace smtwin;
using Loads = std::vector<std::int64_t>;

TEST_CASE("balanced routing strides over the experts", "[unit]") {
  // E 8, k 2: stride 4. 6 tokens: token t -> t and t + 4 mod 8. Slot 0 gives experts 0..5 one pair,
  // slot 1 experts 4 5 6 7 0 1: loads 2 2 1 1 2 2 1 1. Two ranks: rank 0 holds 2 2 1 1.
  const MoeRouting r = route_balanced({.tokens = 6, .topk = 2, .experts = 8, .ep = 2});
  CHECK(r.active_experts == 4);
  CHECK(r.rows == 6);
  CHECK(r.tokens_seen == 6);  // every token has one of its two experts here
  CHECK(r.tiles_of(8) == 4);
}

TEST_CASE("fewer tokens than the stride are spread evenly", "[unit]") {
  // E 16, k 2: stride 8, 2 tokens. Token 0 -> 0, 8; token 1 -> floor(8/2) = 4, 12. Four ranks of 4
  // experts: rank 0 holds expert 0 alone, and only token 0 sees it.
  const MoeRouting r = route_balanced({.tokens = 2, .topk = 2, .experts = 16, .ep = 4});
  CHECK(r.active_experts == 1);
  CHECK(r.rows == 1);
  CHECK(r.tokens_seen == 1);
}

TEST_CASE("pairs of other ranks are dropped, given to the first or to the last local expert",
          "[unit]") {
  // As above: rank 0 of 4 has one pair; 4 pairs in all, 2 of them of the one token it sees.
  RoutingRequest request{.tokens = 2, .topk = 2, .experts = 16, .ep = 4};
  request.remote = RemotePairs::first_expert;
  CHECK(route_balanced(request).rows == 2);
  CHECK(route_balanced(request).active_experts == 1);
  request.remote = RemotePairs::last_expert;
  CHECK(route_balanced(request).rows == 4);
  CHECK(route_balanced(request).active_experts == 2);  // expert 0 and, with 3 pairs, expert 3
}

TEST_CASE("tiles are counted expert by expert", "[unit]") {
  const MoeRouting r = routing_of_loads(Loads{1, 0, 16, 17, 300}, 300);
  CHECK(r.active_experts == 4);
  CHECK(r.rows == 334);
  CHECK(r.tiles_of(8) == 1 + 2 + 3 + 38);
  CHECK(r.tiles_of(16) == 1 + 1 + 2 + 19);
  CHECK(r.tiles_of(48) == 1 + 1 + 1 + 7);
  CHECK(r.tiles_of(256) == 1 + 1 + 1 + 2);
  CHECK_THROWS_AS(r.tiles_of(24), DataError);
  // 5e9 rows do not fit 32 bits: 5e9 / 256 = 19,531,250 tiles.
  CHECK(routing_of_loads(Loads{5000000000}, 5e9).tiles_of(256) == 19531250);
}

TEST_CASE("the sorted layout in runs equals the layout token by token", "[property]") {
  const std::int64_t tokens = GENERATE(1, 3, 50, 777);
  const int ep = GENERATE(1, 4);
  const Loads loads = loads_from_shares(power_law_shares(tokens, 4, 16, 1.2, 1), tokens, 4, ep);
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
  std::vector<int> column;
  for (const std::size_t e : order) {
    column.insert(column.end(), static_cast<std::size_t>(loads[e]), static_cast<int>(e));
  }
  const auto expert_at = [&](std::int64_t token, int slot) {
    return column[static_cast<std::size_t>(slot * tokens + token)];
  };
  const TokenRuns runs = sorted_runs(loads, tokens);
  std::int64_t token = 0;
  for (std::size_t r = 0; r < runs.lengths.size(); ++r) {
    for (std::int64_t i = 0; i < runs.lengths[r]; ++i, ++token) {
      for (int slot = 0; slot < 4; ++slot) {
        REQUIRE(runs.experts_of(r)[static_cast<std::size_t>(slot)] == expert_at(token, slot));
      }
    }
  }
  REQUIRE(token == tokens);
  const int local = 16 / ep;
  std::int64_t seen = 0;
  for (std::int64_t t = 0; t < tokens; ++t) {
    bool any = false;
    for (int slot = 0; slot < 4; ++slot) any = any || expert_at(t, slot) < local;
    seen += any;
  }
  REQUIRE(tokens_covered(loads, static_cast<std::size_t>(local), tokens) == seen);
}

TEST_CASE("group-limited top-k keeps the groups with two hits, then fills up by index", "[unit]") {
  // 16 experts in 4 groups of 4, 2 groups kept, k = 4. Chosen 2, 9, 10, 15: group 2 has two hits,
  // groups 0 and 3 one; the tie goes to group 0. Kept hits 2, 9, 10; the fourth is the lowest other
  // expert of the kept groups, 0.
  GroupLimiter limiter(16, {.groups = 4, .kept = 2});
  std::vector<int> chosen{15, 2, 9, 10};
  limiter.apply(chosen);
  CHECK(std::set<int>(chosen.begin(), chosen.end()) == std::set<int>{0, 2, 9, 10});
  // Three hits count as two: groups 1 (4, 5, 6) and 3 (12) stay.
  chosen = {4, 5, 6, 12};
  limiter.apply(chosen);
  CHECK(std::set<int>(chosen.begin(), chosen.end()) == std::set<int>{4, 5, 6, 12});
}

TEST_CASE("groups that do not divide the experts or hold too few are refused", "[unit]") {
  CHECK_THROWS_AS(GroupLimiter(12, {.groups = 8, .kept = 4}), DataError);
  CHECK_THROWS_AS(GroupLimiter(16, {.groups = 0, .kept = 0}), DataError);
  CHECK_THROWS_AS(GroupLimiter(16, {.groups = 4, .kept = 5}), DataError);
  // One group of 4 experts cannot give a token 5.
  GroupLimiter one(16, {.groups = 4, .kept = 1});
  std::vector<int> chosen{0, 1, 2, 3, 4};
  CHECK_THROWS_AS(one.apply(chosen), DataError);
}

TEST_CASE("with group-limited top-k a balanced benchmark reaches half of the experts",
          "[property]") {
  // DeepSeek-V3: 256 experts in 8 groups, 4 kept, k 8. The stride of 32 is a group, so every token
  // has one expert in each group, ties decide, groups 0..3 stay: 128 experts can be reached.
  const RoutingRequest plain{.tokens = 4096, .topk = 8, .experts = 256, .ep = 1};
  RoutingRequest limited = plain;
  limited.group = {.groups = 8, .kept = 4};
  CHECK(route_balanced(plain).active_experts == 256);
  CHECK(route_balanced(limited).active_experts == 128);
  CHECK(route_balanced(limited).rows == 4096 * 8);
}

TEST_CASE("remembered routings are those routed anew", "[unit]") {
  const RoutingRequest request{
      .tokens = 96, .topk = 8, .experts = 128, .ep = 8, .power_law_exponent = 1.01};
  MoeRouter router, other;
  const MoeRouting first = router.route(request);
  RoutingRequest changed = request;
  changed.ep = 16;
  CHECK(router.route(changed).rows != first.rows);
  CHECK(router.route(request).rows == first.rows);
  CHECK(other.route(request).tiles == first.tiles);
  // The busiest of 8 ranks has more than an eighth of the pairs, and less than all.
  CHECK(first.rows > 96);
  CHECK(first.rows < 96 * 8);
}

TEST_CASE("the tuner's uniform routing has binomial loads", "[unit]") {
  // 1 token, k 2 of 8 experts, 4 local: each is active with probability 1/4.
  const MoeShape one{.tokens = 1, .topk = 2, .experts = 8, .ep = 2};
  CHECK(uniform_routing(one).active_experts == Approx(1.0));
  CHECK(uniform_routing(one).rows == Approx(1.0));
  // 4096 tokens: 1024 rows an expert, deviation at most sqrt(1024) = 32. Tiles of 256: three are
  // sure, the fourth nearly (768 is 8 deviations away), the fifth comes in half of the cases.
  const MoeShape many{.tokens = 4096, .topk = 2, .experts = 8, .ep = 2};
  CHECK(uniform_routing(many).tiles_of(256) == Approx(4 * 4.5).epsilon(0.01));
  // Mean tiles of 16: rows / 16 and a half, 64.5.
  CHECK(uniform_routing(many).tiles_of(16) == Approx(4 * 64.5).epsilon(0.001));
}
