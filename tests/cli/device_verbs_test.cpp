// SPDX-License-Identifier: Apache-2.0
// validate and calibrate with --run and --device from the command line. Builds without CUDA refuse
// --device; builds with it refuse where no GPU is. Both are exit code 3, one line, no output.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/run_in_process.hpp"
#include "validate/device/device.hpp"
#include "validate/fit/profile_io.hpp"
#include "validate/runs/run_file.hpp"

using namespace smtwin;
using Catch::Matchers::Contains;
using smtwin::test::Ran;

namespace {

const std::string kRun =
    std::string(SMTWIN_TEST_SOURCE_DIR) + "/tests/golden/validate_run/made_up_run.json";

Ran run_words(const std::vector<std::string>& words) { return test::smtwin_run(words); }

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name, const std::string& text = "")
      : path_((std::filesystem::temp_directory_path() /
               ("smtwin_" + std::to_string(::getpid()) + name))
                  .string()) {
    if (!text.empty()) std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

bool one_line_error(const Ran& ran) {
  return ran.out.empty() && ran.err.rfind("error: ", 0) == 0 &&
         std::count(ran.err.begin(), ran.err.end(), '\n') == 1 && ran.err.size() < 600;
}

}  // namespace

TEST_CASE("--device without CUDA or without a GPU is exit code 3 in one line", "[cli]") {
  const TemporaryFile output("nothing.json");
  for (const char* verb : {"validate", "calibrate"}) {
    // No machine has GPU 1023.
    const Ran ran = run_words({verb, "--device", "1023", "-o", output.path()});
    INFO(verb << " " << ran.err);
    CHECK(ran.exit_code == 3);
    CHECK(one_line_error(ran));
    CHECK_THAT(ran.err, Contains(built_with_cuda() ? "GPU" : "built without CUDA"));
    CHECK_FALSE(std::filesystem::exists(output.path()));
    CHECK_FALSE(std::filesystem::exists(output.path() + ".journal"));
  }
}

TEST_CASE("what the flags ask for is checked before any GPU is", "[cli]") {
  const std::vector<std::vector<std::string>> refused = {
      {"validate", "--device", "-1"},
      {"validate", "--device", "0", "--run", kRun},
      {"validate", "--device", "0", "--effort", "heroic"},
      {"validate", "--device", "0", "--kernel", "no_such_kernel"},
      {"validate", "--device", "0", "--set", "sm_count=1"},
      {"validate", "--device", "0", "--audit"},
      {"validate", "--run", kRun, "--kernel", "dense_gemm"},
      {"validate", "--run", kRun, "--effort", "quick"},
      {"validate", "--run", kRun, "--max-seconds", "9"},
      {"validate", "--measurements", kRun, "--kernel", "dense_gemm"},
      {"validate", "--measurements", kRun, "--calibrate-share", "0.5"},
      {"validate", "--run", kRun, "--calibrate-share", "1"},
      {"validate", "--run", kRun, "--calibrate-share", "0.5", "--profile", "none"},
      {"validate", "--run", kRun, "--worst", "3", "--format", "csv"},
      {"validate", "--run", kRun, "--max-p90", "-1"},
      {"validate", "--run", kRun, "--gpu", "rtx-5090"},
      {"validate", "--run", "/nowhere.json"},
      {"validate", "--run", "/tmp"},
      {"calibrate", "--device", "0", "--effort", "heroic"},
      {"calibrate", "--device", "0", "--base", "l40s"},
      {"calibrate", "--device", "0", "--show", "h200"},
      {"calibrate", "--run", kRun, "--ablate"},
      {"calibrate", "--run", kRun, "--save-run", "x.json"},
      {"calibrate", "--run", kRun, "--base", "rtx-pro-6000-server"},
      {"calibrate", "--run", kRun, "--max-seconds", "9"},
      {"calibrate", "--show", "h200", "--effort", "quick"},
      {"calibrate", "--show", "h200", "--save-run", "x.json"},
      {"calibrate", "--measurements", kRun, "--force"}};
  for (const auto& words : refused) {
    const Ran ran = run_words(words);
    INFO(words[1] << " " << words.back() << " | " << ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(one_line_error(ran));
  }
}

TEST_CASE("help names the flags", "[cli]") {
  const Ran validate = run_words({"validate", "--help"});
  for (const char* flag : {"--device", "--run", "--kernel", "--effort", "--calibrate-share"}) {
    CHECK_THAT(validate.out, Contains(flag));
  }
  const Ran calibrate = run_words({"calibrate", "--help"});
  for (const char* flag : {"--device", "--run", "--base", "--force", "--save-run", "--effort"}) {
    CHECK_THAT(calibrate.out, Contains(flag));
  }
}

TEST_CASE("a stored run is scored, and a wrong residency or result is outside tolerance", "[cli]") {
  const Ran fine = run_words({"validate", "--run", kRun, "--profile", "none"});
  INFO(fine.err);
  CHECK(fine.exit_code == 0);
  RunFile run = read_run(text_of(kRun), kRun);
  REQUIRE_FALSE(run.functions.empty());
  run.functions.front().driver_ctas_per_sm += 1;
  const TemporaryFile residency("residency.json", write_run(run));
  const Ran differs = run_words({"validate", "--run", residency.path(), "--profile", "none"});
  CHECK(differs.exit_code == 1);
  CHECK_THAT(differs.out, Contains("1 function differs"));
  run = read_run(text_of(kRun), kRun);
  run.times.front().relative_error = 0.5;
  const TemporaryFile wrong("wrong.json", write_run(run));
  CHECK(run_words({"validate", "--run", wrong.path(), "--profile", "none"}).exit_code == 1);
  run = read_run(text_of(kRun), kRun);
  run.gpu.name = "";
  const TemporaryFile unknown("unknown.json", write_run(run));
  CHECK(run_words({"validate", "--run", unknown.path()}).exit_code == 2);
}

TEST_CASE("every reading is in the csv and the json", "[cli]") {
  const RunFile run = read_run(text_of(kRun), kRun);
  const Ran csv = run_words({"validate", "--run", kRun, "--format", "csv"});
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') ==
        1 + static_cast<std::ptrdiff_t>(run.times.size()));
  const Ran text = run_words({"validate", "--run", kRun, "--format", "json", "--worst", "2"});
  const auto json = nlohmann::json::parse(text.out)["result"];
  CHECK(json["points"].size() == run.times.size());
  CHECK(json["worst"].size() == 2);
  CHECK(json["functions"].size() == run.functions.size());
}

TEST_CASE("calibrate --run fits, merges and refuses to make things worse", "[cli]") {
  const TemporaryFile profile("profile.json");
  const std::vector<std::string> fit = {"calibrate", "--run", kRun, "-o", profile.path()};
  const Ran first = run_words(fit);
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  const std::string once = text_of(profile.path());
  const CalibrationProfile own = read_profile(once, "p");
  REQUIRE_FALSE(own.families.empty());
  // The same again is no worse.
  CHECK(run_words(fit).exit_code == 0);
  CHECK(read_profile(text_of(profile.path()), "p").families.size() == own.families.size());
  // A better one stays.
  CalibrationProfile better = own;
  for (FamilyCalibration& f : better.families) f.unseen.median_error = 1e-6;
  std::ofstream(profile.path()) << write_profile(better);
  const Ran refused = run_words(fit);
  CHECK(refused.exit_code == 2);
  CHECK(one_line_error(refused));
  CHECK_THAT(refused.err, Contains("the profile there is better") && Contains("--force"));
  CHECK(text_of(profile.path()) == write_profile(better));
  std::vector<std::string> forced = fit;
  forced.push_back("--force");
  CHECK(run_words(forced).exit_code == 0);
  CHECK(text_of(profile.path()) != write_profile(better));
  // So does a file that is no profile, unless forced.
  std::ofstream(profile.path()) << "my notes";
  CHECK(run_words(fit).exit_code == 2);
  CHECK(text_of(profile.path()) == "my notes");
  CHECK(run_words(forced).exit_code == 0);
}

TEST_CASE("families that a run does not cover stay", "[cli]") {
  const TemporaryFile profile("merged.json");
  const Ran merged =
      run_words({"calibrate", "--run", kRun, "--base", "h200-sxm", "-o", profile.path()});
  INFO(merged.err);
  REQUIRE(merged.exit_code == 0);
  const CalibrationProfile shipped =
      load_profile(std::string(SMTWIN_TEST_SOURCE_DIR) + "/data/calibrations/h200-sxm.json");
  const CalibrationProfile after = load_profile(profile.path());
  for (const FamilyCalibration& family : shipped.families) {
    INFO(family.identity.key());
    CHECK(after.find(family.identity) != nullptr);
  }
  bool own = false;
  for (const FamilyCalibration& family : after.families) own |= family.identity.table == "run";
  CHECK(own);
}

TEST_CASE("--probes shows what the probes of a run read", "[unit]") {
  const std::string run_file =
      std::string(SMTWIN_TEST_SOURCE_DIR) + "/data/runs/h200-sxm-2026-11-29.json";
  const RunFile run = read_run(text_of(run_file), run_file);
  REQUIRE_FALSE(run.probes.empty());
  const Ran table = run_words({"validate", "--run", run_file, "--probes"});
  CHECK(table.exit_code == 0);
  for (const ProbeReading& reading : run.probes) CHECK_THAT(table.out, Contains(reading.probe));

  const Ran json = run_words({"validate", "--run", run_file, "--probes", "--format", "json"});
  const auto probes = nlohmann::json::parse(json.out)["result"]["probes"];
  REQUIRE(probes.size() == run.probes.size());
  // Little's law: a CTA an SM with twice the bytes in flight reads faster, less than twice as fast.
  const auto rate = [&](double bytes) {
    for (const auto& p : probes) {
      if (p["probe"] == "dram_read" && p["parameters"]["ctas_per_sm"] == 1 &&
          p["parameters"]["bytes_in_flight_per_sm"] == bytes) {
        return p["value"].get<double>();
      }
    }
    return 0.0;
  };
  CHECK(rate(8192) > 1.5 * rate(4096));
  CHECK(rate(8192) < 2 * rate(4096));
  CHECK(rate(4096) > 0);

  const Ran csv = run_words({"validate", "--run", run_file, "--probes", "--format", "csv"});
  CHECK(static_cast<std::size_t>(std::count(csv.out.begin(), csv.out.end(), '\n')) ==
        run.probes.size() + 1);

  const Ran without =
      run_words({"validate", "--run",
                 std::string(SMTWIN_TEST_SOURCE_DIR) + "/data/runs/h200-sxm-2026-11-29-triton.json",
                 "--probes"});
  CHECK(without.exit_code == 2);
  CHECK_THAT(without.err, Contains("the run has no probe readings; one of --device has them"));
}
