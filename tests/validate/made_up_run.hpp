// SPDX-License-Identifier: Apache-2.0
// Run files with random content, and a measurer that makes its readings up: the time of a
// configuration follows from its numbers and its shape alone.
#pragma once

#include <algorithm>
#include <functional>
#include <random>
#include <string>

#include "arch/error.hpp"
#include "validate/runs/measurer.hpp"

namespace smtwin::test {

inline RunGpu made_up_gpu() {
  return {.name = "h200-sxm",
          .reported = "NVIDIA H200",
          .compute_capability = "9.0",
          .driver = "580.1",
          .cuda_runtime = "13.0",
          .sm_count = 132,
          .memory_bytes = 150'000'000'000,
          .l2_bytes = 62'914'560,
          .sm_clock_max_hz = 1.98e9,
          .memory_clock_hz = 3.2e9,
          .power_limit_w = 700};
}

inline RunFile random_run(std::mt19937_64& random) {
  const auto whole = [&](int most) {
    return static_cast<std::int32_t>(random() % static_cast<unsigned>(most));
  };
  std::uniform_real_distribution<double> exponent(-7, 13);
  const auto number = [&] { return std::pow(10.0, exponent(random)); };
  RunFile run{.gpu = made_up_gpu(),
              .tool_version = "0.1",
              .compiler = "nvcc \"13\"",
              .date = "2026-01-02T03:04:05Z",
              .method = "flush\nreplay",
              .note = "\xC3\xA4 \\ /",
              .seed = random() >> 1};
  for (int i = whole(4); i > 0; --i) {
    run.probes.push_back({.probe = "dram_read",
                          .parameters = {{"ctas_per_sm", number()}, {"bytes", -number()}},
                          .value = number(),
                          .unit = "B/s",
                          .spread = 0.01,
                          .samples = 9});
  }
  for (int i = whole(4); i > 0; --i) {
    run.functions.push_back({.kernel = "k",
                             .config = {{"block_m", whole(100)}, {"split_k", -whole(3)}},
                             .symbol = "s" + std::to_string(i),
                             .registers_per_thread = whole(256),
                             .static_shared_bytes = whole(1 << 16),
                             .dynamic_shared_bytes = whole(1 << 18),
                             .local_bytes = whole(64),
                             .threads_per_cta = 128,
                             .driver_ctas_per_sm = whole(9),
                             .seen_ctas_per_sm = whole(9) - 1});
  }
  for (int i = whole(6); i > 0; --i) {
    const double median = number() * 1e-9;
    run.times.push_back({.kernel = "k",
                         .peer = whole(2) == 1,
                         .config = {{"block_m", whole(100)}},
                         .shape = {{"m", whole(64)}, {"n", std::int64_t{1} << 40}},
                         .cache = whole(2) == 1 ? SampleCache::cold : SampleCache::warm,
                         .launch = whole(2) == 1 ? SampleLaunch::graph : SampleLaunch::stream,
                         .seconds = median,
                         .p10_s = median * 0.9,
                         .p90_s = median * 1.1,
                         .samples = 1 + whole(40),
                         .medians = 1 + whole(5),
                         .rejected = whole(5),
                         .sm_clock_hz = number(),
                         .power_w = number(),
                         .relative_error = whole(2) == 1 ? -1 : 1e-3 * whole(5)});
  }
  return run;
}

// What a kill in the middle of a reading looks like from inside the process.
struct Killed {};

class FakeMeasurer : public Measurer {
 public:
  int readings_left = 1'000'000'000;  // until the process is "killed"
  int medians_taken = 0;
  int problems_opened = 0;
  int probes_taken = 0;
  bool alive = true;
  RunGpu fake_gpu = made_up_gpu();
  std::vector<MeasurableKernel> fakes;
  std::function<void(const Parameters&)> before_time = [](const Parameters&) {};
  std::function<double(const Parameters&)> error_of = [](const Parameters&) { return 3e-3; };

  RunGpu gpu() override { return fake_gpu; }
  std::string compiler() const override { return "nvcc 13.0.0"; }
  std::string method() const override { return "made up"; }
  std::vector<MeasurableKernel> kernels() override { return fakes; }

  std::vector<FunctionReading> functions(const std::string& kernel,
                                         const Parameters& config) override {
    spend();
    return {{.kernel = kernel,
             .config = config,
             .symbol = kernel + std::to_string(config.begin()->second),
             .registers_per_thread = 100,
             .threads_per_cta = 128,
             .driver_ctas_per_sm = 2}};
  }

  std::vector<ProbePoint> probes(Effort) override {
    return {{.probe = "dram_read", .parameters = {{"ctas_per_sm", 1}}, .unit = "B/s"},
            {.probe = "dram_read", .parameters = {{"ctas_per_sm", 2}}, .unit = "B/s"},
            {.probe = "power_idle", .parameters = {}, .unit = "W"}};
  }
  std::optional<ProbeReading> probe(const ProbePoint& point) override {
    spend();
    ++probes_taken;
    if (point.unit == "W") return std::nullopt;
    return ProbeReading{.probe = point.probe,
                        .parameters = point.parameters,
                        .value = 4e12,
                        .unit = point.unit,
                        .samples = 9};
  }

  class Problem : public MeasuredProblem {
   public:
    Problem(FakeMeasurer& owner, Parameters shape) : owner_(owner), shape_(std::move(shape)) {}
    double relative_error(const Parameters& config) override { return owner_.error_of(config); }
    std::int64_t ctas(const Parameters&) override { return 1000; }
    int seen_ctas_per_sm(const Parameters&) override { return 2; }
    TimeReading time(const TimeTask& task) override {
      owner_.spend();
      owner_.before_time(task.config);
      ++owner_.medians_taken;
      const double seconds = seconds_of(task);
      TimeReading reading;
      reading.seconds = seconds;
      reading.p10_s = seconds * 0.99;
      reading.p90_s = seconds * 1.01;
      reading.samples = task.samples;
      reading.sm_clock_hz = 1.9e9;
      return reading;
    }

   private:
    // Larger tiles are slower, 2 % a step: the first few are finalists.
    double seconds_of(const TimeTask& task) const {
      double factor = task.cache == SampleCache::cold ? 1 : 0.5;
      for (const auto& [name, value] : task.config)
        factor *= 1 + 0.001 * static_cast<double>(value);
      for (const auto& [name, value] : shape_) factor += 1e-6 * static_cast<double>(value);
      return 1e-5 * factor;
    }
    FakeMeasurer& owner_;
    Parameters shape_;
  };

  std::unique_ptr<MeasuredProblem> open(const std::string&, const Parameters& shape,
                                        std::uint64_t) override {
    ++problems_opened;
    return std::make_unique<Problem>(*this, shape);
  }
  bool usable() override { return alive; }

 private:
  void spend() {
    if (readings_left-- <= 0) throw Killed{};
  }
};

}  // namespace smtwin::test
