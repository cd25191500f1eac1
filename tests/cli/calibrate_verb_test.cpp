// SPDX-License-Identifier: Apache-2.0
// smtwin calibrate and validate --measurements from the command line, on rows that are made up.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/run_in_process.hpp"

using namespace smtwin;
using smtwin::test::Ran;

namespace {

const std::string kRows =
    std::string(SMTWIN_TEST_SOURCE_DIR) + "/tests/golden/calibrate/made_up_rows.csv";

// A list of words, so that paths may hold blanks.
Ran run_words(const std::vector<std::string>& words) { return test::smtwin_run(words); }

std::string temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("smtwin_" + name)).string();
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a profile is written, is the same every time, and predicts", "[cli]") {
  const std::string one = temporary("one.json"), two = temporary("two.json");
  CHECK(run_words({"calibrate", "--measurements", kRows, "-o", one, "--threads", "1"}).exit_code ==
        0);
  CHECK(run_words({"calibrate", "--measurements", kRows, "-o", two, "--threads", "2"}).exit_code ==
        0);
  CHECK(text_of(one) == text_of(two));
  CHECK(text_of(one).find("NVIDIA H200") == std::string::npos);  // constants, not rows
  const Ran scored =
      run_words({"validate", "--measurements", kRows, "--profile", one, "--format", "json"});
  CHECK(scored.exit_code == 0);
  const auto json = nlohmann::json::parse(scored.out);
  CHECK(json["context"]["calibration"]["provenance"] == "fitted");
  REQUIRE(json["result"]["families"].size() == 1);
  const auto& family = json["result"]["families"][0];
  CHECK(family["name"] == "h200_sxm/gemm_perf/torch_flow/bfloat16");
  CHECK(family["rows"] == 64);
  for (const char* key : {"median_error", "mean_error", "p90_error", "bias", "spearman"}) {
    CHECK(family[key].is_number());
  }
  CHECK(family["interval_coverage"].get<double>() > 0.8);
  CHECK(family["median_error"].get<double>() < 0.08);
  const Ran other = run_words({"predict", "--kernel", "triton_gemm", "--gpu", "h100-sxm", "--m",
                               "16", "--n", "4096", "--k", "4096", "--profile", one});
  CHECK(other.exit_code == 0);
  CHECK(run_words({"decode", "--model", "llama-3.1-8b", "--gpu", "rtx-5090", "--profile", one})
            .exit_code == 2);  // no relative
  std::filesystem::remove(one);
  std::filesystem::remove(two);
}

TEST_CASE("a gate fails on errors beyond it, and when nothing was judged", "[cli]") {
  CHECK(run_words({"validate", "--measurements", kRows}).exit_code == 0);
  CHECK(run_words({"validate", "--measurements", kRows, "--max-median", "5"}).exit_code == 1);
}

TEST_CASE("without a profile there is no interval to hold rows to", "[cli]") {
  const Ran scored =
      run_words({"validate", "--measurements", kRows, "--profile", "none", "--format", "json"});
  const auto json = nlohmann::json::parse(scored.out);
  CHECK(json["result"]["families"][0]["interval_coverage"].is_null());
  CHECK(json["result"]["families"][0]["provenance"] == "assumed");
  CHECK(json["context"]["calibration"].is_null());
}

TEST_CASE("flags that would change nothing are refused, in one line", "[cli]") {
  const std::vector<std::vector<std::string>> refused = {
      {"calibrate"},
      {"calibrate", "--show", "h200", "--ablate"},
      {"calibrate", "--show", "h200", "--measurements", kRows},
      {"calibrate", "--show", "l40s"},
      {"calibrate", "--measurements", kRows, "--set", "sm_count=10"},
      {"calibrate", "--measurements", kRows, "--seed", "-1"},
      {"calibrate", "--measurements", kRows, "--ablate", "--format", "csv"},
      {"calibrate", "--measurements", kRows, "--gpu", "rtx-5090"},
      {"validate", "--measurements", kRows, "--worst", "3", "--format", "csv"},
      {"validate", "--measurements", kRows, "--max-median", "-3"},
      {"validate", "--measurements", "/nowhere"},
      {"decode", "--model", "llama-3.1-8b", "--gpu", "h200-sxm", "--framework", "tgi"},
      {"decode", "--model", "llama-3.1-8b", "--gpu", "h200-sxm", "--context-cv", "-1"}};
  for (const auto& arguments : refused) {
    const Ran outcome = test::smtwin_run(arguments);
    INFO(arguments.back() << " | " << outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(outcome.err.rfind("error: ", 0) == 0);
    CHECK(outcome.err.size() < 400);
  }
}

TEST_CASE("shipped profiles can be looked at by any name of their GPU", "[cli]") {
  for (const char* name : {"h200", "rtx_pro_6000_server"}) {
    const Ran shown = run_words({"calibrate", "--show", name});
    CHECK(shown.exit_code == 0);
    CHECK(shown.out.find("dram_rate") != std::string::npos);
    CHECK(shown.out.find("AIConfigurator") != std::string::npos);
  }
}
