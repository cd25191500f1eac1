// SPDX-License-Identifier: Apache-2.0
// What a run holds of its plan, and the small things done with readings.
#include "validate/runs/run_progress.hpp"

#include "tests/catch.hpp"
#include "validate/runs/run_readings.hpp"

using namespace smtwin;

namespace {

const PlannedShape kShape{.kernel = "k", .shape = {{"m", 1}}};

TimeTask task(std::int64_t config, SampleCache cache = SampleCache::cold) {
  return {.config = {{"c", config}}, .cache = cache};
}

TimeReading reading(const TimeTask& task, double seconds) {
  TimeReading t;
  t.kernel = kShape.kernel;
  t.shape = kShape.shape;
  t.config = task.config;
  t.cache = task.cache;
  t.seconds = seconds;
  return t;
}

}  // namespace

TEST_CASE("finalists are cold, right and within 6 % of the fastest, fastest first", "[unit]") {
  const std::vector<TimeTask> tasks = {task(0), task(1), task(2),
                                       task(3), task(4), task(5, SampleCache::warm)};
  RunFile run;
  run.times = {reading(tasks[0], 1.05), reading(tasks[1], 1.0), reading(tasks[2], 1.07),
               reading(tasks[3], 0.5), reading(tasks[5], 0.4)};
  run.times[3].relative_error = 0.03;  // wrong, and so no measure of the others
  const auto close = finalists(run, kShape, tasks);
  REQUIRE(close.size() == 2);
  CHECK(close[0].config == tasks[1].config);
  CHECK(close[1].config == tasks[0].config);
  run.times[1].medians = kFinalMedians;
  const auto left = unsettled_finalists(run, kShape, tasks);
  REQUIRE(left.size() == 1);
  CHECK(left[0].config == tasks[0].config);
}

TEST_CASE("no more than ten are finalists", "[unit]") {
  RunFile run;
  std::vector<TimeTask> tasks;
  for (std::int64_t i = 0; i < 15; ++i) {
    tasks.push_back(task(i));
    run.times.push_back(reading(tasks.back(), 1));
  }
  CHECK(finalists(run, kShape, tasks).size() == 10);
  CHECK(finalists({}, kShape, tasks).empty());
}

TEST_CASE("the first function of a variant is its main one, a fixed split has none", "[unit]") {
  RunFile run;
  for (const char* symbol : {"main", "combine"}) {
    FunctionReading f;
    f.kernel = "k";
    f.config = {{"split_k", 0}};
    f.symbol = symbol;
    run.functions.push_back(f);
  }
  REQUIRE(main_function(run, "k", {{"split_k", 0}}) == run.functions.data());
  CHECK(main_function(run, "k", {{"split_k", 2}}) == nullptr);
  CHECK(main_function(run, "peer", {}) == nullptr);
}

TEST_CASE("several medians are one: the middle one, samples added", "[unit]") {
  std::vector<TimeReading> medians;
  for (const double seconds : {3.0, 1.0, 2.0}) {
    TimeReading t = reading(task(0), seconds);
    t.p10_s = seconds - 0.5;
    t.p90_s = seconds + 0.25;
    t.samples = 9;
    t.rejected = 1;
    t.sm_clock_hz = 1e9 * seconds;
    medians.push_back(t);
  }
  const TimeReading all = median_of(medians);
  CHECK(all.seconds == 2);
  CHECK(all.p10_s == 1.5);
  CHECK(all.p90_s == 2.25);
  CHECK(all.samples == 27);
  CHECK(all.rejected == 3);
  CHECK(all.medians == 3);
  CHECK(all.sm_clock_hz == 2e9);
}

TEST_CASE("every shape and seed draws its own inputs, the same in every run", "[unit]") {
  const Parameters one = {{"m", 1}}, two = {{"m", 2}};
  CHECK(plain_text({{"heads", 16}, {"batch", 64}}) == "batch=64/heads=16");
  CHECK(plain_text({}) == "-");
  CHECK(draw_seed(one, 1) == draw_seed(one, 1));
  CHECK(draw_seed(one, 1) != draw_seed(two, 1));
  CHECK(draw_seed(one, 1) != draw_seed(one, 2));
}
