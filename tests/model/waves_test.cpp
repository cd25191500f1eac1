// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_time.hpp"
#include "tests/catch.hpp"

using smtwin::fill_waves;

TEST_CASE("the field notes' grid leaves a third of the last wave", "[unit]") {
  // batch 64 x 1 head group x 4 splits = 256 CTAs on 188 SMs, one resident each:
  //   256 / 188 = 1.362 waves: 1 full, then 68 CTAs = 36 % of the SMs
  //   efficiency 256 / (2 x 188) = 0.681
  const auto w = fill_waves(256, 188, 1);
  CHECK(w.slots == 188);
  CHECK(w.waves == Approx(1.3617).epsilon(1e-4));
  CHECK(w.full_waves == 1);
  CHECK(w.tail_ctas == 68);
  CHECK(w.tail_fill == Approx(68.0 / 188));
  CHECK(w.efficiency == Approx(256.0 / 376));
}

TEST_CASE("a tail gives one CTA to every SM before a second to any", "[unit]") {
  // 10 SMs x 4 CTAs = 40 slots. 52 CTAs: one full wave, 12 left: all 10 SMs get work.
  const auto w = fill_waves(52, 10, 4);
  CHECK(w.full_waves == 1);
  CHECK(w.tail_ctas == 12);
  CHECK(w.tail_fill == 1.0);
  CHECK(w.efficiency == Approx(52.0 / 80));
}

TEST_CASE("a grid that divides evenly has no tail", "[unit]") {
  const auto w = fill_waves(80, 10, 4);
  CHECK(w.full_waves == 2);
  CHECK(w.tail_ctas == 0);
  CHECK(w.tail_fill == 1.0);
  CHECK(w.efficiency == 1.0);
}

TEST_CASE("no slots or no CTAs give no waves", "[unit]") {
  CHECK(fill_waves(100, 10, 0).waves == 0);
  CHECK(fill_waves(0, 10, 2).waves == 0);
  CHECK(fill_waves(0, 10, 2).tail_fill == 0);
}

TEST_CASE("waves account for every CTA", "[property]") {
  const int sms = GENERATE(1, 7, 132, 188);
  const int resident = GENERATE(1, 2, 5, 24);
  for (std::int64_t ctas = 1; ctas < 3000; ctas += 13) {
    INFO(ctas << " CTAs, " << sms << " SMs, " << resident << " resident");
    const auto w = fill_waves(ctas, sms, resident);
    REQUIRE(w.full_waves * w.slots + w.tail_ctas == ctas);
    REQUIRE(w.tail_ctas < w.slots);
    REQUIRE(w.efficiency > 0);
    REQUIRE(w.efficiency <= 1);
    REQUIRE((w.tail_ctas == 0) == (w.efficiency == 1));
    // More room per SM never takes more waves.
    REQUIRE(fill_waves(ctas, sms, resident + 1).waves <= w.waves);
  }
}

TEST_CASE("a grid near the limit of 64 bits does not overflow", "[unit]") {
  const std::int64_t huge = INT64_MAX;
  const auto w = fill_waves(huge, 188, 24);
  CHECK(w.full_waves == huge / (188 * 24));
  CHECK(w.efficiency <= 1.0);
}
