// SPDX-License-Identifier: Apache-2.0
// Dynamic quantization scales: one bound at a time, and what holds everywhere.
#include <cmath>
#include <vector>

#include "model/families/gemm/quant_scale_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/gemm_chip.hpp"

using namespace smtwin;

namespace {

using Granularity = QuantScaleTimeModel::Granularity;

std::vector<double> priors(const QuantScaleTimeModel& model) {
  std::vector<double> v;
  for (const ConstantSpec& c : model.constants()) v.push_back(c.prior);
  return v;
}

// Values by name, the others at their prior.
std::vector<double> with(const QuantScaleTimeModel& model,
                         const std::vector<std::pair<std::string, double>>& set) {
  std::vector<double> v = priors(model);
  for (const auto& [name, value] : set) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (model.constants()[i].name == name) v[i] = value;
    }
  }
  return v;
}

}  // namespace

TEST_CASE("rows beyond the resident CTAs wait for a second wave", "[unit]") {
  // SM120: 48 warps an SM hold 6 CTAs of 256 threads; 188 SMs hold 1128 rows.
  const QuantScaleTimeModel model(Granularity::row, test::catalog_chip("rtx-pro-6000-server"));
  const auto v = with(
      model,
      {{"first_wave_time", 5e-7}, {"wave_time", 9e-7}, {"step_time", 4e-7}, {"l2_rate", 1e30}});
  CHECK(model.seconds(1128, 4096, v) == Approx(5e-7));
  CHECK(model.seconds(1129, 4096, v) == Approx(5e-7 + 9e-7));
  // 4097 elements of a row are a second step of 256 threads x 16.
  CHECK(model.seconds(1, 4097, v) == Approx(5e-7 + 4e-7));
  // Rows of 128 elements take 128 threads: 12 CTAs an SM, 2256 a wave, half the time a wave.
  CHECK(model.seconds(2256, 128, v) == Approx(5e-7));
  CHECK(model.seconds(2257, 128, v) == Approx(5e-7 + 4.5e-7));
}

TEST_CASE("the second read of a row goes through the L2", "[unit]") {
  const QuantScaleTimeModel model(Granularity::row, test::catalog_chip("rtx-pro-6000-server"));
  // 1000 x 4096 x 2 bytes = 8.192 MB at 4.096 TB/s = 2 us beside 1.5 us: sqrt(4 + 2.25) = 2.5.
  const auto v = with(model, {{"first_wave_time", 1.5e-6}, {"l2_rate", 4.096e12}});
  CHECK(model.seconds(1000, 4096, v) == Approx(2.5e-6));
}

TEST_CASE("a whole tensor is one maximum over a fixed grid", "[unit]") {
  const QuantScaleTimeModel model(Granularity::tensor, test::catalog_chip("rtx-pro-6000-server"));
  const auto v = with(model, {{"launch_time", 7e-6},
                              {"contention_time", 4e-6},
                              {"l2_rate", 2097152 / 1e-6},
                              {"stream_rate", 1e12}});
  // 1024 x 1024 elements are one grid: half of the contention, 2 us, and 2 MiB in 1 us:
  // 7 + (8 + 1)^(1/3) = 9.0801 us.
  CHECK(model.seconds(1024, 1024, v) == Approx(9.0801e-6).epsilon(1e-4));
}

TEST_CASE("a scale costs more for more rows or longer rows", "[property]") {
  const TimingGpu gpu =
      test::catalog_chip(GENERATE(as<std::string>{}, "rtx-pro-6000-server", "h200-sxm"));
  const auto granularity = GENERATE(Granularity::row, Granularity::tensor);
  const QuantScaleTimeModel model(granularity, gpu);
  const std::vector<double> v = priors(model);
  CHECK(v.size() <= 16);
  for (const double columns : {128.0, 2048.0, 16384.0}) {
    double before = 0;
    for (double rows = 1; rows <= 1024; rows *= 2) {
      const double now = model.seconds(rows, columns, v);
      CHECK(now >= before * (1 - 1e-12));
      before = now;
    }
    CHECK(model.seconds(64, 2 * columns, v) >= model.seconds(64, columns, v) * (1 - 1e-12));
  }
}

TEST_CASE("scale times are finite and positive in all corners", "[property]") {
  const TimingGpu gpu =
      test::catalog_chip(GENERATE(as<std::string>{}, "rtx-pro-6000-server", "h200-sxm"));
  const QuantScaleTimeModel model(GENERATE(Granularity::row, Granularity::tensor), gpu);
  for (const auto which : {&ConstantSpec::low, &ConstantSpec::prior, &ConstantSpec::high}) {
    std::vector<double> v;
    for (const ConstantSpec& c : model.constants()) v.push_back(c.*which);
    for (const double rows : {1.0, 1000.0, 32768.0}) {
      for (const double columns : {32.0, 65536.0}) {
        const TimeParts t = model.parts(rows, columns, v);
        CHECK(std::isfinite(t.seconds));
        CHECK(t.seconds > 0);
        CHECK(t.seconds == model.seconds(rows, columns, v));
      }
    }
  }
}
