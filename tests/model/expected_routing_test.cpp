// SPDX-License-Identifier: Apache-2.0
#include "model/expected_routing.hpp"

#include "tests/catch.hpp"

using namespace smtwin;

namespace {

ExpertLayer layer(std::int64_t tokens, std::int64_t per_token, std::int64_t experts, int ep = 1) {
  return {.tokens = tokens,
          .experts_per_token = per_token,
          .experts = experts,
          .hidden = 1024,
          .intermediate = 512,
          .ep = ep,
          .tp = 1,
          .gated = true};
}

}  // namespace

TEST_CASE("one token activates as many experts as it chooses", "[hand]") {
  const MoeRouting r = expected_routing(layer(1, 8, 128));
  CHECK(r.active_experts == Approx(8));  // 128 x 8/128
  CHECK(r.rows == 8);
  CHECK(r.tokens_seen == 1);
  for (const int rows : kMoeTileRows) CHECK(r.tiles_of(rows) == Approx(8));
}

TEST_CASE("two tokens meet in one expert as often as chance says", "[hand]") {
  // Two experts, one choice each: both active with 1/2, one with 1/2.
  CHECK(expected_routing(layer(2, 1, 2)).active_experts == Approx(1.5));
}

TEST_CASE("tiles count the rows of every expert rounded up", "[hand]") {
  // c ~ B(10, 1/2). Tiles of 8: P(c > 0) + P(c > 8) = (1 - 1/1024) + (10 + 1)/1024 for each.
  const MoeRouting r = expected_routing(layer(10, 1, 2));
  CHECK(r.tiles_of(8) == Approx(2 * 1034.0 / 1024));
  CHECK(r.tiles_of(16) == Approx(2 * 1023.0 / 1024));
  // All tokens choose all experts: 16 rows each, two tiles of 8, one of 16.
  const MoeRouting all = expected_routing(layer(16, 2, 2));
  CHECK(all.active_experts == 2);
  CHECK(all.tiles_of(8) == 4);
  CHECK(all.tiles_of(16) == 2);
}

TEST_CASE("ranks share experts and rows", "[hand]") {
  const MoeRouting r = expected_routing(layer(64, 8, 128, 4));
  const MoeRouting whole = expected_routing(layer(64, 8, 128));
  CHECK(r.active_experts == Approx(whole.active_experts / 4));
  CHECK(r.rows == 128);
  // A token misses a rank with (3/4)^8 = 0.1001.
  CHECK(r.tokens_seen == Approx(64 * (1 - 0.1001129)).epsilon(1e-5));
}

TEST_CASE("many tokens activate all experts; none activate none", "[property]") {
  const MoeRouting r = expected_routing(layer(16384, 8, 512));
  CHECK(r.active_experts == Approx(512).epsilon(1e-9));
  CHECK(r.tiles_of(128) >= 16384.0 * 8 / 128);
  CHECK(r.tiles_of(128) <= 16384.0 * 8 / 128 + 512);
  CHECK(expected_routing(layer(0, 8, 512)).active_experts == 0);
  double before = 0;
  for (const std::int64_t tokens : {1, 2, 5, 20, 100, 1000}) {
    const double active = expected_routing(layer(tokens, 8, 512)).active_experts;
    CHECK(active > before);
    before = active;
  }
}
