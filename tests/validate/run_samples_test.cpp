// SPDX-License-Identifier: Apache-2.0
// Which samples count, and what they come to.
#include <vector>

#include "tests/catch.hpp"
#include "validate/runs/samples.hpp"

using namespace smtwin;

TEST_CASE("median and percentiles of samples, linear between neighbours", "[unit]") {
  // 1..5 us: the median is the third. Position of the 10th percentile 0.1 x 4 = 0.4: 1.4 us; of
  // the 90th 3.6: 4.6 us.
  std::vector<Sample> samples;
  for (const double us : {3.0, 1.0, 5.0, 2.0, 4.0}) samples.push_back({.seconds = us * 1e-6});
  const SampleSummary s = summarize(samples, {});
  CHECK(s.median_s == Approx(3e-6));
  CHECK(s.p10_s == Approx(1.4e-6));
  CHECK(s.p90_s == Approx(4.6e-6));
  CHECK(s.accepted == 5);
  CHECK(s.rejected == 0);
  CHECK(s.sm_clock_hz == 0);
}

TEST_CASE("samples at another clock or while throttled do not count", "[unit]") {
  // Within 3 % of 1.98 GHz: 1.9206 to 2.0394 GHz.
  const SampleRules rules{.reference_clock_hz = 1.98e9, .clock_tolerance = 0.03};
  const std::vector<Sample> samples = {
      {.seconds = 10e-6, .sm_clock_hz = 1.98e9},
      {.seconds = 11e-6, .sm_clock_hz = 1.921e9},
      {.seconds = 90e-6, .sm_clock_hz = 1.920e9},  // too slow
      {.seconds = 90e-6, .sm_clock_hz = 2.040e9},  // too fast
      {.seconds = 90e-6, .sm_clock_hz = 1.98e9, .throttled = true},
      {.seconds = 12e-6, .sm_clock_hz = 0}};  // clock not known: counts
  const SampleSummary s = summarize(samples, rules);
  CHECK(s.accepted == 3);
  CHECK(s.rejected == 3);
  CHECK(s.median_s == Approx(11e-6));
  CHECK(s.sm_clock_hz == Approx(0.5 * (1.98e9 + 1.921e9)));  // of the two known ones
}

TEST_CASE("no sample left is no time", "[unit]") {
  const std::vector<Sample> samples = {{.seconds = 1e-6, .throttled = true}};
  const SampleSummary s = summarize(samples, {});
  CHECK(s.accepted == 0);
  CHECK(s.rejected == 1);
  CHECK(s.median_s == 0);
  CHECK_FALSE(s.noisy);
}

TEST_CASE("noise is judged relative to the time, and by ticks below it", "[unit]") {
  const auto spread = [](double median_us, double width_us) {
    // p90 - p10 of {m - w/1.6, m, m + w/1.6} is 0.8 x 2 w / 1.6 = w.
    const double half = width_us / 1.6;
    return std::vector<Sample>{{.seconds = (median_us - half) * 1e-6},
                               {.seconds = median_us * 1e-6},
                               {.seconds = (median_us + half) * 1e-6}};
  };
  const SampleRules rules{.noise_relative = 0.06, .noise_s = 1e-6};
  CHECK_FALSE(summarize(spread(100, 5.9), rules).noisy);
  CHECK(summarize(spread(100, 6.1), rules).noisy);
  CHECK_FALSE(summarize(spread(5, 0.9), rules).noisy);  // 18 %, but less than a microsecond
  CHECK(summarize(spread(5, 1.1), rules).noisy);
}
