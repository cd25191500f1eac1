// SPDX-License-Identifier: Apache-2.0
#include "arch/units.hpp"

#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("rounding up", "[unit]") {
  CHECK(ceil_div(0, 256) == 0);
  CHECK(ceil_div(256, 256) == 1);
  CHECK(ceil_div(257, 256) == 2);
  CHECK(round_up(33 * 32, 256) == 1280);  // 1,056 registers -> 5 units
  CHECK(round_up<std::int64_t>(62592, 128) == 62592);
  // No detour over a + b - 1, which would overflow here.
  CHECK(ceil_div(std::numeric_limits<std::int64_t>::max(), std::int64_t{2}) == 1LL << 62);
}

TEST_CASE("sizes saturate instead of wrapping", "[unit]") {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  CHECK(saturating_mul(3, 4) == 12);
  CHECK(saturating_mul(0, kMax) == 0);
  CHECK(saturating_mul(1LL << 32, 1LL << 32) == kMax);
  CHECK(saturating_mul(kMax, 1) == kMax);
  CHECK(saturating_add(kMax - 1, 1) == kMax);
  CHECK(saturating_add(kMax, kMax) == kMax);
}
