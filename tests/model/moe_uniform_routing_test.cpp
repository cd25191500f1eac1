// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/uniform_routing.hpp"

#include "tests/catch.hpp"

using namespace smtwin;

namespace {

MoeShape layer(double tokens, double per_token, double experts, double ep = 1) {
  return {.tokens = tokens, .topk = per_token, .experts = experts, .ep = ep};
}

}  // namespace

TEST_CASE("one token activates as many experts as it chooses", "[hand]") {
  const MoeRouting r = uniform_routing(layer(1, 8, 128));
  CHECK(r.active_experts == Approx(8));  // 128 x 8/128
  CHECK(r.rows == Approx(8));
  CHECK(r.tokens_seen == Approx(1));
  for (const int rows : kMoeTileRows) CHECK(r.tiles_of(rows) == Approx(8));
}

TEST_CASE("two tokens meet in one expert as often as chance says", "[hand]") {
  // Two experts, one choice each: both active with 1/2, one with 1/2.
  CHECK(uniform_routing(layer(2, 1, 2)).active_experts == Approx(1.5));
}

TEST_CASE("tiles count the rows of every expert rounded up", "[hand]") {
  // c ~ B(10, 1/2). Tiles of 8: P(c > 0) + P(c > 8) = (1 - 1/1024) + (10 + 1)/1024 for each.
  const MoeRouting r = uniform_routing(layer(10, 1, 2));
  CHECK(r.tiles_of(8) == Approx(2 * 1034.0 / 1024).epsilon(0.01));
  CHECK(r.tiles_of(16) == Approx(2 * 1023.0 / 1024));
}

TEST_CASE("ranks share experts and rows", "[hand]") {
  const MoeRouting r = uniform_routing(layer(64, 8, 128, 4));
  const MoeRouting whole = uniform_routing(layer(64, 8, 128));
  CHECK(r.active_experts == Approx(whole.active_experts / 4));
  CHECK(r.rows == Approx(128));
  // A token misses a rank with (3/4)^8 = 0.1001.
  CHECK(r.tokens_seen == Approx(64 * (1 - 0.1001129)).epsilon(1e-5));
}

TEST_CASE("many tokens activate all experts", "[property]") {
  const MoeRouting r = uniform_routing(layer(16384, 8, 512));
  CHECK(r.active_experts == Approx(512).epsilon(1e-9));
  CHECK(r.tiles_of(128) >= 16384.0 * 8 / 128);
  CHECK(r.tiles_of(128) <= 16384.0 * 8 / 128 + 512);
  double before = 0;
  for (const double tokens : {1, 2, 5, 20, 100, 1000}) {
    const double active = uniform_routing(layer(tokens, 8, 512)).active_experts;
    CHECK(active > before);
    before = active;
  }
}

TEST_CASE("any number of tokens ends", "[unit]") {
  // Far beyond where a tile more changes a double there are no empty rows to speak of: with all 8
  // of 8 experts chosen tiles = 8 tokens / height.
  for (const double tokens : {1e15, 1e17, 1e20}) {
    for (const int rows : kMoeTileRows) {
      CHECK(uniform_routing(layer(tokens, 8, 8)).tiles_of(rows) == Approx(8 * tokens / rows));
      CHECK(uniform_routing(layer(tokens, 1, 8)).tiles_of(rows) == Approx(tokens / rows));
    }
  }
  // Where the sum over the tail gives way to its closed form nothing jumps: with 2 experts and one
  // choice the spread is sqrt(tokens / 2), 1024 x 8 at 2^27 tokens.
  const double below = uniform_routing(layer(134217000, 1, 2)).tiles_of(8);
  const double above = uniform_routing(layer(134218000, 1, 2)).tiles_of(8);
  CHECK(above - below == Approx(1000.0 / 8).epsilon(1e-3));
}
