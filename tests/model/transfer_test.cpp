// SPDX-License-Identifier: Apache-2.0
#include "model/timing/transfer.hpp"

#include <cmath>

#include "arch/error.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

namespace {

TimingGpu chip() {
  TimingGpu g;
  g.name = "chip";
  g.compute_capability = {12, 0};
  g.sm_count = 100;
  g.clock_hz = 2e9;
  g.dram_bytes_per_s = 1e12;
  g.dram_read_bytes_per_s = 0.9e12;
  g.board_power_w = 600;
  return g;
}

// A rate that follows the DRAM, a tensor rate that follows SMs and clock, a latency in cycles.
std::vector<ConstantSpec> specs_on(const TimingGpu& g) {
  return {{.name = "dram_rate",
           .unit = "B/s",
           .meaning = "DRAM",
           .prior = g.dram_read_bytes_per_s,
           .low = 1,
           .high = 1e15,
           .of_gpu = true},
          {.name = "tensor_rate",
           .unit = "flop/s",
           .meaning = "tensor cores",
           .prior = 4096 * g.sm_count * g.clock_hz,
           .low = 1,
           .high = 1e18},
          {.name = "step_time",
           .unit = "s",
           .meaning = "1000 cycles",
           .prior = 1000 / g.clock_hz,
           .low = 1e-9,
           .high = 1}};
}

FamilyCalibration fitted() {
  FamilyCalibration f;
  f.constants = {{.name = "dram_rate", .unit = "B/s", .meaning = "", .value = 0.8e12},
                 {.name = "tensor_rate", .unit = "flop/s", .meaning = "", .value = 6e14},
                 {.name = "step_time", .unit = "s", .meaning = "", .value = 6e-7}};
  f.covariance.assign(9, 0.0);
  return f;
}

std::vector<double> on(const TimingGpu& to) {
  return transferred_values(fitted(), specs_on(chip()), chip(), specs_on(to), to);
}

}  // namespace

TEST_CASE("on the GPU it was fitted on, a constant is what was fitted", "[hand]") {
  CHECK(on(chip()) == std::vector<double>{0.8e12, 6e14, 6e-7});
}

TEST_CASE("what the fit learned beyond the specification is carried over as a factor", "[hand]") {
  TimingGpu to = chip();
  to.dram_read_bytes_per_s *= 2;
  CHECK(on(to)[0] == Approx(1.6e12));  // 0.8/0.9 of twice the rate
  CHECK(on(to)[1] == Approx(6e14));
  to = chip();
  to.clock_hz *= 1.25;
  to.board_power_w = 5000;
  CHECK(on(to)[1] == Approx(7.5e14));
  CHECK(on(to)[2] == Approx(4.8e-7));  // the same cycles at a faster clock
}

TEST_CASE("half the power slows the tensor cores by the cube root, and nothing else", "[hand]") {
  TimingGpu to = chip();
  to.board_power_w = 300;
  CHECK(on(to)[1] == Approx(6e14 * std::cbrt(0.5)));  // 0.794
  CHECK(on(to)[0] == 0.8e12);
  CHECK(on(to)[2] == Approx(6e-7));
  to.sm_count = 50;  // half the SMs: as much power for each as before
  CHECK(on(to)[1] == Approx(3e14));
  to.board_power_w = 600;  // more than enough: the boost clock is all there is
  CHECK(on(to)[1] == Approx(3e14));
}

TEST_CASE("a calibration of other constants is refused", "[errors]") {
  const auto use = [](const FamilyCalibration& f) {
    return transferred_values(f, specs_on(chip()), chip(), specs_on(chip()), chip());
  };
  FamilyCalibration f = fitted();
  CHECK_NOTHROW(use(f));
  std::swap(f.constants[0], f.constants[1]);
  CHECK_THROWS_AS(use(f), DataError);
  f = fitted();
  f.constants.pop_back();
  CHECK_THROWS_AS(use(f), DataError);
  f = fitted();
  f.constants[2].name = "other_time";
  CHECK_THROWS_WITH(use(f), Catch::Contains("dram_rate, tensor_rate, step_time; found dram_rate, "
                                            "tensor_rate, other_time"));
  f = fitted();
  f.covariance.clear();
  CHECK_THROWS_AS(use(f), DataError);
}

TEST_CASE("relatives share a major compute capability", "[property]") {
  TimingGpu a = chip();
  CHECK(are_relatives({12, 0}, {12, 1}));
  CHECK_FALSE(are_relatives({12, 0}, {9, 0}));
  CHECK(same_specification(a, chip()));
  a.l2_bytes += 1;
  CHECK_FALSE(same_specification(a, chip()));
}

TEST_CASE("intervals widen with the spread, the constants and the transfer", "[hand]") {
  FamilyCalibration f;
  f.spread.fill(0.1);
  f.low_score = -1.5;
  f.high_score = 2;
  const TimeInterval plain = interval_of(1, Regime::dram, f, 0, 0);
  CHECK(plain.low_s == Approx(std::exp(-0.15)));
  CHECK(plain.high_s == Approx(std::exp(0.2)));
  // u = sqrt(0.01 + 0.0125) = 0.15
  CHECK(interval_of(1, Regime::dram, f, 0.0125, 0).high_s == Approx(std::exp(0.3)));
  // hypot(0.2, 1.645 x 0.1)
  CHECK(interval_of(2, Regime::dram, f, 0, 0.1).high_s ==
        Approx(2 * std::exp(std::hypot(0.2, 0.1645))));
}
