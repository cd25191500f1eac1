// SPDX-License-Identifier: Apache-2.0
// Calibration as a whole on families that can be worked by hand: pooling, intervals, determinism,
// and profiles written and read back.
#include "validate/fit/calibrate.hpp"

#include <cmath>
#include <random>

#include "arch/error.hpp"
#include "tests/catch.hpp"
#include "tests/validate/toy_family.hpp"
#include "validate/fit/profile_io.hpp"
#include "validate/fit/score.hpp"

using namespace smtwin;
using smtwin::test::ToyProblem;
using smtwin::test::ToyRows;

namespace {

// A family whose rows carry log-normal errors of `sd` within and between shapes.
FamilyRows noisy_family(const std::string& source, int shapes, int copies, double sd, unsigned seed,
                        double rate = 1.5e12) {
  static std::vector<std::unique_ptr<MeasurementRow>> rows;
  std::mt19937 random(seed);
  const auto normal = [&] {  // sum of twelve uniforms, the same with every library
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random()) / 4294967296.0;
    return sum;
  };
  ToyRows toy(shapes, copies, 0);
  for (std::size_t i = 0; i < toy.bytes.size(); ++i) {
    toy.family.measured_s[i] = (3e-6 + toy.bytes[i] / rate) * std::exp(sd * normal());
  }
  FamilyRows family;
  family.gpu = "h200-sxm";
  family.identity = {.table = "gemm_perf", .framework = "vllm", .kernel_source = source};
  family.problem = std::make_unique<ToyProblem>(toy.bytes);
  family.measured = toy.family;
  family.measured.problem = family.problem.get();
  family.shapes = toy.family.shape_count;
  for (std::size_t i = 0; i < toy.bytes.size(); ++i) {
    rows.push_back(std::make_unique<MeasurementRow>());
    rows.back()->m = toy.bytes[i];
    rows.back()->latency_s = toy.family.measured_s[i];
    rows.back()->kernel_source = "toy";
    family.rows.push_back(rows.back().get());
  }
  return family;
}

std::vector<FamilyRows> one(FamilyRows family) {
  std::vector<FamilyRows> families;
  families.push_back(std::move(family));
  return families;
}

}  // namespace

TEST_CASE("a shared constant lies between what the families say", "[property]") {
  std::vector<FamilyRows> families;
  families.push_back(noisy_family("slow", 60, 3, 0.01, 1, 1.4e12));
  families.push_back(noisy_family("fast", 60, 3, 0.01, 2, 1.6e12));
  const CalibrationProfile profile = calibrate(families, "test");
  REQUIRE(profile.gpu_constants.size() == 1);
  CHECK(profile.gpu_constants[0].name == "dram_rate");
  // Equally certain: the geometric mean, sqrt(1.4 x 1.6) = 1.4967 TB/s.
  CHECK(profile.gpu_constants[0].value == Approx(1.4967e12).epsilon(0.01));
  for (const FamilyCalibration& f : profile.families) {
    CHECK(f.constants[1].value == profile.gpu_constants[0].value);
    CHECK(f.constants[1].of_gpu);
    CHECK(f.constants[0].log_sd > 0);
  }
}

TEST_CASE("a stated 90 % interval holds about 90 % of rows of other shapes", "[property]") {
  for (const double sd : {0.1, 0.2}) {
    const CalibrationProfile profile = calibrate(one(noisy_family("x", 60, 20, sd, 3)), "test");
    const std::vector<FamilyRows> fresh = one(noisy_family("x", 47, 20, sd, 99));
    const MeasurementScore score =
        score_measurements(fresh, [&](const std::string&) { return &profile; });
    REQUIRE(score.families.size() == 1);
    CHECK(score.families[0].interval_coverage > 0.86);
    CHECK(score.families[0].interval_coverage < 0.94);
    CHECK(score.families[0].provenance == Provenance::fitted);
    // Median of |normal| is 0.674 standard deviations.
    CHECK(score.families[0].errors.median_error == Approx(0.674 * sd).epsilon(0.15));
  }
}

TEST_CASE("fewer rows make constants less certain, not wrong", "[property]") {
  const std::vector<FamilyRows> families = one(noisy_family("x", 60, 20, 0.1, 5));
  CalibrateOptions few;
  few.max_points = 50;
  const CalibrationProfile small = calibrate(families, "test", few);
  const CalibrationProfile large = calibrate(families, "test");
  CHECK(small.families[0].rows_used == 50);
  CHECK(small.families[0].constants[0].log_sd > 2 * large.families[0].constants[0].log_sd);
  CHECK(small.families[0].constants[0].value == Approx(3e-6).epsilon(0.15));
}

TEST_CASE("the same rows give the same profile, on one thread or many", "[property]") {
  const auto text = [](int threads, unsigned seed) {
    std::vector<FamilyRows> families;
    families.push_back(noisy_family("a", 30, 4, 0.1, 1));
    families.push_back(noisy_family("b", 30, 4, 0.1, seed));
    CalibrateOptions options;
    options.threads = threads;
    return write_profile(calibrate(families, "test", options));
  };
  CHECK(text(1, 2) == text(2, 2));
  CHECK(text(1, 2) != text(1, 3));  // other rows: another fingerprint at least
}

TEST_CASE("without its launch gap the toy family misses small shapes", "[property]") {
  const std::vector<FamilyRows> families = one(noisy_family("x", 40, 3, 0.01, 8));
  const CalibrationProfile profile = calibrate(families, "test");
  const std::vector<Ablation> ablations = ablate(families[0], profile.families[0]);
  REQUIRE(ablations.size() == 2);  // nothing, gap; the rate cannot be taken out
  CHECK(ablations[0].constant.empty());
  CHECK(ablations[1].constant == "gap");
  CHECK(ablations[0].median_error < 0.02);
  CHECK(ablations[1].median_error > 0.2);
}

TEST_CASE("a profile survives writing and reading", "[property]") {
  const CalibrationProfile p = calibrate(one(noisy_family("x", 40, 10, 0.1, 4)), "somewhere");
  const std::string text = write_profile(p);
  const CalibrationProfile q = read_profile(text, "p.json");
  CHECK(write_profile(q) == text);
  CHECK(q.gpu == "h200-sxm");
  CHECK(q.source == "somewhere");
  REQUIRE(q.families.size() == 1);
  CHECK(q.families[0].identity == p.families[0].identity);
  CHECK(q.families[0].covariance.size() == 4);
  CHECK(q.families[0].covariance[1] == q.families[0].covariance[2]);
}

TEST_CASE("a damaged profile is refused in one line that says where", "[errors]") {
  const std::string good = write_profile(calibrate(one(noisy_family("x", 40, 10, 0.1, 4)), "s"));
  const auto complaint = [](std::string text) {
    try {
      read_profile(text, "p.json");
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(complaint(good).empty());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return complaint(text);
  };
  CHECK(with("\"schema_version\": 1", "\"schema_version\": 2") ==
        "p.json: /schema_version: expected 1, found 2");
  CHECK(with("\"covariance\": [", "\"covariance\": [0.5,")
            .find("p.json: /families/0/covariance: expected 3 numbers for 2 constants, found 4") ==
        0);
  CHECK(with("\"folds\":4", "\"folds\":-4").find("p.json: /families/0/unseen_shapes/folds") == 0);
  CHECK_FALSE(with("\"value\":", "\"volume\":").empty());
  for (std::size_t cut = 0; cut < good.size(); cut += 37) {
    CHECK_FALSE(complaint(good.substr(0, cut)).empty());
  }
}
