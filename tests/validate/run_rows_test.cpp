// SPDX-License-Identifier: Apache-2.0
// Readings of a run as families: a made-up run whose times follow from known constants gives those
// constants back, and whole shapes that were held out are predicted.
#include "validate/runs/run_rows.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "tests/catch.hpp"
#include "tests/validate/made_up_run.hpp"
#include "validate/fit/profile_io.hpp"
#include "validate/runs/run_calibration.hpp"
#include "validate/runs/run_probes.hpp"

using namespace smtwin;

namespace {

constexpr const char* kTriton = "triton_sparse_mla_split";

// Six configurations on twenty shapes, as the runner of the Triton kernel writes them.
std::vector<TimeReading> triton_readings() {
  std::vector<TimeReading> readings;
  for (const std::int64_t heads : {16, 64}) {
    for (const std::int64_t topk : {512, 2048}) {
      for (const std::int64_t batch : {1, 8, 32, 64, 128}) {
        for (const auto& [block_h, block_t, warps] : {std::array<std::int64_t, 3>{16, 16, 4},
                                                      {16, 16, 8},
                                                      {16, 32, 8},
                                                      {32, 16, 4},
                                                      {32, 16, 8},
                                                      {32, 32, 8}}) {
          TimeReading r;
          r.kernel = kTriton;
          r.peer = true;
          r.shape = {{"heads", heads}, {"topk", topk}, {"batch", batch}};
          r.config = {{"block_h", block_h},
                      {"block_t", block_t},
                      {"num_warps", warps},
                      {"num_stages", 2},
                      {"nsplit", 4}};
          r.seconds = 1;
          readings.push_back(r);
        }
      }
    }
  }
  return readings;
}

// Constants away from their priors, within two of their sigmas.
std::vector<double> known_constants(const std::vector<ConstantSpec>& specs) {
  std::vector<double> values;
  for (std::size_t j = 0; j < specs.size(); ++j) {
    values.push_back(specs[j].prior * std::exp((j % 2 == 0 ? 0.6 : -0.6) * specs[j].log_sigma));
  }
  return values;
}

RunFile made_up_triton_run(const std::vector<double>* constants = nullptr) {
  RunFile run;
  run.gpu = test::made_up_gpu();
  run.date = "2026-01-02T03:04:05Z";
  run.times = triton_readings();
  const RunRows rows = run_rows(run, gpu_of_run(run));
  const TimeProblem& problem = *rows.families.front().problem;
  const std::vector<double> values = constants ? *constants : known_constants(problem.constants());
  int choice = 0;
  for (std::size_t i = 0; i < run.times.size(); ++i) {
    run.times[i].seconds = problem.seconds(i, values, choice, true);
  }
  return run;
}

}  // namespace

TEST_CASE("readings become points of their kernel's family, shape by shape", "[unit]") {
  RunFile run = made_up_triton_run();
  run.times.push_back(run.times.front());
  run.times.back().kernel = "cublas_gemm";
  const RunRows rows = run_rows(run, gpu_of_run(run));
  REQUIRE(rows.families.size() == 1);
  const FamilyRows& family = rows.families.front();
  CHECK(family.identity.key() == "run/triton_sparse_mla_split");
  CHECK(family.gpu == "h200-sxm");
  CHECK(family.problem->size() == 120);
  CHECK(family.shapes == 20);
  CHECK(rows.readings.front().shapes.front() == "heads=16 topk=512 batch=1 d=512");
  CHECK(rows.readings.front().configs[1] == "BH16/BT16/w8/s2");
  // All configurations of a shape belong together.
  for (std::size_t i = 0; i < 120; ++i) CHECK(family.measured.shape[i] == i / 6);
  REQUIRE(rows.left_out.size() == 1);
  CHECK(rows.left_out.front() == "1 readings of cublas_gemm: no time model covers it");

  // A wrong result says nothing about this kernel's time.
  RunFile with_wrong = run;
  with_wrong.times[1].relative_error = 0.021;
  with_wrong.times[2].relative_error = 0.019;
  const RunRows without = run_rows(with_wrong, gpu_of_run(with_wrong));
  CHECK(without.families.front().problem->size() == 119);
  CHECK(without.left_out.back() ==
        "1 readings of triton_sparse_mla_split BH16/BT16/w8/s2: wrong result when it was checked");

  run.times.front().config["colour"] = 3;
  CHECK_THROWS_WITH(
      run_rows(run, gpu_of_run(run)),
      Catch::Contains("run: a reading of triton_sparse_mla_split") && Catch::Contains("colour"));
  run.gpu.name.clear();
  CHECK_THROWS_WITH(gpu_of_run(run), Catch::Contains("NVIDIA H200"));
}

TEST_CASE("a fit to a made-up run finds its constants", "[oracle]") {
  const RunFile run = made_up_triton_run();
  const RunRows rows = run_rows(run, gpu_of_run(run));
  const std::vector<ConstantSpec>& specs = rows.families.front().problem->constants();
  const std::vector<double> known = known_constants(specs);
  const CalibrationProfile profile = calibrate_run(run, rows);
  REQUIRE(profile.families.size() == 1);
  const FamilyCalibration& family = profile.families.front();
  CHECK(family.unseen.median_error < 0.003);
  CHECK(family.unseen.p90_error < 0.01);
  for (std::size_t j = 0; j < specs.size(); ++j) {
    INFO(specs[j].name << ": " << family.constants[j].value << ", made with " << known[j]);
    // What the readings do not show stays within what the fit says it does not know.
    const double off = std::fabs(std::log(family.constants[j].value / known[j]));
    CHECK(off < std::max(0.05, 2 * family.constants[j].log_sd));
  }
}

TEST_CASE("held-out shapes are predicted, and every draw is the same again", "[property]") {
  RunFile run = made_up_triton_run();
  const RunRows rows = run_rows(run, gpu_of_run(run));
  const RunScore score = score_held_out(rows, {.calibrate_share = 0.25, .seed = 3});
  REQUIRE(score.families.size() == 1);
  const RunFamilyScore& family = score.families.front();
  CHECK(family.fitted);
  CHECK(family.fitted_shapes == 5);
  CHECK(family.scored_shapes == 15);
  CHECK(family.fitted_points == 30);
  CHECK(family.scored_points == 90);
  CHECK(family.errors.median_error < 0.02);
  CHECK(family.errors.p90_error < 0.05);
  CHECK(family.judged_picks == 15);
  CHECK(family.good_picks == 15);
  // The order of the readings does not matter.
  std::reverse(run.times.begin(), run.times.end());
  const RunRows other_order = run_rows(run, gpu_of_run(run));
  const RunScore again = score_held_out(other_order, {.calibrate_share = 0.25, .seed = 3});
  CHECK(again.families.front().errors.median_error == Approx(family.errors.median_error));
  const RunScore other_seed = score_held_out(rows, {.calibrate_share = 0.25, .seed = 4});
  CHECK(other_seed.families.front().errors.median_error != family.errors.median_error);
  CHECK_THROWS_WITH(score_held_out(rows, {.calibrate_share = 1}),
                    Catch::Contains("between 0 and 1"));
}

TEST_CASE("a pick is judged by the measured time of what it picked", "[unit]") {
  // Two configurations predicted alike but for their order; the run says the other way round.
  RunFile run = made_up_triton_run();
  const RunRows rows = run_rows(run, gpu_of_run(run));
  RunFile swapped = run;
  for (std::size_t i = 0; i + 5 < swapped.times.size(); i += 6) {
    std::swap(swapped.times[i].seconds, swapped.times[i + 1].seconds);
  }
  const RunRows wrong = run_rows(swapped, gpu_of_run(swapped));
  const CalibrationProfile profile = calibrate_run(run, rows);
  const RunFamilyScore good = score_run(rows, &profile).families.front();
  CHECK(good.good_picks == good.judged_picks);
  CHECK(good.judged_picks == 20);
  const RunFamilyScore bad = score_run(wrong, &profile).families.front();
  CHECK(bad.good_picks < good.good_picks);
  for (const RunPick& pick : bad.picks) CHECK(pick.picked_s >= pick.best_s);
  // Without a profile the priors predict, and no interval is claimed.
  const RunFamilyScore priors = score_run(rows, nullptr).families.front();
  CHECK_FALSE(priors.fitted);
  CHECK(priors.points.front().interval.low_s == priors.points.front().predicted_s);
}

TEST_CASE("probes replace the specification, and profiles keep them", "[unit]") {
  RunFile run;
  run.gpu = test::made_up_gpu();
  const GpuSpec gpu = gpu_of_run(run);
  const auto read = [&](const char* probe, std::map<std::string, double> parameters, double value) {
    run.probes.push_back(
        {.probe = probe, .parameters = std::move(parameters), .value = value, .unit = "x"});
  };
  read("dram_read", {{"ctas_per_sm", 1}}, 1.3e12);
  read("dram_read", {{"ctas_per_sm", 4}}, 4.5e12);
  // 198 cycles at 1.98 GHz are 100 ns; the chase that misses the L2 says nothing about it.
  read("latency_global", {{"working_set_bytes", 8e6}}, 198);
  read("latency_global", {{"working_set_bytes", 1e9}}, 150);
  read("latency_global", {{"working_set_bytes", 3e7}, {"l2_flushed", 1}}, 594);
  read("timed_empty_kernel", {{"in_graph", 0}}, 2e-6);
  read("timed_empty_kernel", {{"in_graph", 1}}, 3e-6);
  const ProbedGpu probed = probed_gpu(run, gpu);
  CHECK(probed.dram_read_bytes_per_s.value == 4.5e12);
  CHECK(probed.dram_read_bytes_per_s.provenance == Provenance::measured);
  CHECK(probed.dram_read_bytes_per_s.source == "probe dram_read, ctas_per_sm 4");
  CHECK(probed.l2_latency_s.value == Approx(100e-9));
  CHECK(probed.dram_latency_s.value == Approx(300e-9));
  CHECK(probed.launch_s.value == 3e-6);
  CHECK(probed.shared_bytes_per_cycle.provenance == Provenance::assumed);
  CHECK(probed.shared_bytes_per_cycle.value == *gpu.rates.shared_bytes_per_cycle);

  CalibrationProfile profile;
  profile.gpu = gpu.name;
  profile.gpu_constants = probe_constants(probed, assumed_probes(gpu));
  const CalibrationProfile kept = read_profile(write_profile(profile), "kept.json");
  const ProbedGpu back = with_probe_constants(assumed_probes(gpu), kept.gpu_constants);
  for (const ProbedField& f : probed_fields()) {
    CHECK((back.*f.value).value == Approx((probed.*f.value).value));
    CHECK((back.*f.value).provenance == (probed.*f.value).provenance);
  }
}

TEST_CASE("families of a run join the profile of their GPU", "[unit]") {
  const RunFile run = made_up_triton_run();
  const CalibrationProfile fitted = calibrate_run(run, run_rows(run, gpu_of_run(run)));
  CalibrationProfile base;
  base.gpu = "h200-sxm";
  base.source = "rows";
  base.families.emplace_back().identity = {.table = "gemm_perf", .framework = "vllm"};
  const CalibrationProfile once = with_run_families(base, fitted);
  CHECK(once.families.size() == 2);
  CHECK(once.source == "rows; run of 2026-01-02T03:04:05Z on NVIDIA H200");
  const CalibrationProfile twice = with_run_families(once, fitted);
  CHECK(twice.families.size() == 2);
  CHECK(twice.source == once.source);
  base.gpu = "rtx-pro-6000-server";
  CHECK_THROWS_WITH(with_run_families(base, fitted), Catch::Contains("rtx-pro-6000-server"));
}
