// SPDX-License-Identifier: Apache-2.0
// Pairs of readings that differ in one parameter, and whose change was predicted the right way.
#include "validate/runs/run_compare.hpp"

#include <map>

#include "arch/error.hpp"
#include "kernels/descriptor.hpp"
#include "tests/catch.hpp"
#include "tests/validate/made_up_run.hpp"
#include "validate/runs/run_calibration.hpp"

using namespace smtwin;

namespace {

// A Triton reading: the predictions are those of the priors, whatever they are.
TimeReading reading(std::int64_t batch, std::int64_t warps, double seconds,
                    SampleCache cache = SampleCache::cold) {
  TimeReading t;
  t.kernel = "triton_sparse_mla_split";
  t.peer = true;
  t.config = {
      {"block_h", 16}, {"block_t", 16}, {"num_warps", warps}, {"num_stages", 2}, {"nsplit", warps}};
  t.shape = {{"batch", batch}, {"heads", 16}, {"topk", 2048}};
  t.cache = cache;
  t.seconds = t.p10_s = t.p90_s = seconds;
  t.samples = 15;
  return t;
}

std::unique_ptr<RunReport> report_of(const RunFile& run) {
  return report_run(run, [](const RunRows& rows) { return score_run(rows, nullptr); });
}

RunFile run_of(std::vector<TimeReading> times) {
  RunFile run;
  run.gpu = test::made_up_gpu();
  run.times = std::move(times);
  return run;
}

}  // namespace

TEST_CASE("pairs are readings of one shape that differ in the parameter alone", "[hand]") {
  const RunFile run = run_of({
      reading(128, 4, 360e-6), reading(1, 8, 10.4e-6), reading(1, 4, 10e-6),
      reading(128, 8, 600e-6), reading(2, 4, 12e-6),  // nothing to compare it with
      reading(128, 8, 1e-6, SampleCache::warm)        // another state of the L2
  });
  const auto report = report_of(run);
  const auto pairs = compare_readings(*report, parse_parameter_change("num_warps=4,8"));
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].shape == "batch=1");  // by shape, whatever the order in the run
  CHECK(pairs[1].shape == "batch=128");
  CHECK(pairs[0].measured_ratio() == Approx(1.04));     // 10.4 / 10
  CHECK(pairs[1].measured_ratio() == Approx(5.0 / 3));  // 600 / 360
  CHECK(pairs[1].telling());
  CHECK_FALSE(pairs[1].fitted);
  const double predicted = pairs[1].to->point->predicted_s / pairs[1].from->point->predicted_s;
  CHECK(pairs[1].predicted_ratio() == Approx(predicted));
  CHECK(pairs[1].right() == (predicted > 1));

  const auto other_way = compare_readings(*report, {"num_warps", 8, 4});
  REQUIRE(other_way.size() == 2);
  CHECK(other_way[1].measured_ratio() == Approx(0.6));
  CHECK(other_way[1].right() == pairs[1].right());

  CHECK(compare_readings(*report, {"num_warps", 4, 8}, {{"batch", 128}, {"block_t", 16}}).size() ==
        1);
  CHECK_THROWS_WITH(compare_readings(*report, {"num_warps", 4, 8}, {{"batch", 64}}),
                    "--compare num_warps=4,8: the run has no two predicted readings that differ in "
                    "that alone and match --where");
  CHECK_THROWS_AS(compare_readings(*report, {"num_stages", 2, 3}), UsageError);
}

TEST_CASE("a change within the noise is neither right nor wrong", "[hand]") {
  // 10.2 / 10 = 1.02, within 3 %; 10.4 / 10 = 1.04, outside.
  for (const auto& [to_s, telling] : std::map<double, bool>{{10.2e-6, false}, {10.4e-6, true}}) {
    const RunFile run = run_of({reading(1, 4, 10e-6), reading(1, 8, to_s)});
    const auto report = report_of(run);
    CHECK(compare_readings(*report, {"num_warps", 4, 8}).front().telling() == telling);
  }
}

TEST_CASE("what --compare and --where say is read strictly", "[errors]") {
  const ParameterChange change = parse_parameter_change("block_h=32,16");
  CHECK(change.parameter == "block_h");
  CHECK(change.from == 32);
  CHECK(change.to == 16);
  for (const char* text : {"", "block_h", "block_h=", "block_h=16", "block_h=16,", "block_h=16,16",
                           "=16,32", "block_h=16,32,64", "block_h=a,b", "block_h=16,3 2"}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_parameter_change(text),
                      Catch::Contains("two different values of it, as in num_warps=4,8"));
  }
  CHECK(parse_parameter_value("heads=64") == std::pair<std::string, std::int64_t>("heads", 64));
  for (const char* text :
       {"", "heads", "heads=", "=64", "heads=x", "heads=6.5", "heads=99999999999999999999"}) {
    INFO(text);
    CHECK_THROWS_WITH(parse_parameter_value(text), Catch::Contains("as in heads=64"));
  }
}
