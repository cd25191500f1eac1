// SPDX-License-Identifier: Apache-2.0
// Run files: what is written reads back, and nothing else reads at all.
#include <cmath>

#include "arch/error.hpp"
#include "tests/catch.hpp"
#include "tests/validate/made_up_run.hpp"
#include "validate/runs/run_report.hpp"

using namespace smtwin;

namespace {

std::string complaint(const std::string& text) {
  try {
    read_run(text, "r.json");
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

// A run with one reading of each kind.
RunFile full_run() {
  std::mt19937_64 random(7);
  RunFile run;
  while (run.probes.empty() || run.functions.empty() || run.times.empty()) {
    run = test::random_run(random);
  }
  return run;
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = write_run(full_run());
  const std::size_t at = text.find(from);
  INFO(from);
  REQUIRE(at != std::string::npos);
  return complaint(text.replace(at, from.size(), to));
}

// The value of the first `key` replaced.
std::string with_value(const std::string& key, const std::string& value) {
  std::string text = write_run(full_run());
  const std::size_t name = text.find("\"" + key + "\":");
  INFO(key);
  REQUIRE(name != std::string::npos);
  const std::size_t begin = name + key.size() + 3;
  const std::size_t end = text.find_first_of(",}", begin);
  return complaint(text.replace(begin, end - begin, value));
}

}  // namespace

TEST_CASE("a run reads back as it was written", "[property]") {
  std::mt19937_64 random(20261129);
  for (int i = 0; i < 200; ++i) {
    const RunFile run = test::random_run(random);
    const std::string text = write_run(run);
    const RunFile back = read_run(text, "r.json");
    CHECK(back == run);
    CHECK(write_run(back) == text);
  }
}

TEST_CASE("one reading a line, so that runs compare as text", "[unit]") {
  const RunFile run = full_run();
  const std::string text = write_run(run);
  // Two braces and 8 lines of facts, three lists of two lines and one line a reading.
  const auto lines = std::count(text.begin(), text.end(), '\n');
  CHECK(lines ==
        2 + 8 + 3 * 2 +
            static_cast<std::int64_t>(run.probes.size() + run.functions.size() + run.times.size()));
}

TEST_CASE("a file cut anywhere is refused in one line", "[errors]") {
  const std::string text = write_run(full_run());
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    const std::string message = complaint(text.substr(0, length));
    INFO(length);
    REQUIRE_FALSE(message.empty());
    CHECK(message.rfind("r.json: ", 0) == 0);
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("any byte changed reads or is refused, and never crashes", "[property]") {
  const std::string text = write_run(full_run());
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    if (i % 3 == 0) damaged.erase(random() % damaged.size(), random() % 9);
    const std::string message = complaint(damaged);
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.size() < 3000);
  }
}

TEST_CASE("unknown, missing and misspelt keys are named with their place", "[errors]") {
  CHECK(with("\"seed\"", "\"sead\"").find("r.json: /sead: unknown key") == 0);
  CHECK(with("\"probe\":", "\"prob\":").find("r.json: /probes/0/prob: unknown key") == 0);
  CHECK(with("\"symbol\":", "\"symbols\":").find("/functions/0/symbols") != std::string::npos);
  CHECK(with("\"medians\":", "\"median\":").find("/times/0/median: unknown") != std::string::npos);
  CHECK(with("\"note\": ", "\"note\": 1, \"was\": ").find("/was") != std::string::npos);
  CHECK(with("\"sm_count\":132,", "").find("/gpu/sm_count: missing") != std::string::npos);
  CHECK(with("\"schema_version\": 1", "\"schema_version\": 2").find("expected 1") !=
        std::string::npos);
}

TEST_CASE("values that no GPU has are refused", "[errors]") {
  for (const char* value :
       {"NaN", "-1e999", "1e999", "null", "\"1e-5\"", "-1e-5", "0", "1e9", "[]", "{}", "true"}) {
    INFO(value);
    CHECK_FALSE(with_value("seconds", value).empty());
  }
  CHECK_FALSE(with_value("samples", "9.5").empty());
  CHECK_FALSE(with_value("samples", "99999999999999999999").empty());
  CHECK_FALSE(with_value("registers_per_thread", "-1").empty());
  CHECK_FALSE(with_value("driver_ctas_per_sm", "4294967296").empty());
  CHECK_FALSE(with_value("seen_ctas_per_sm", "-2").empty());
  CHECK_FALSE(with_value("peer", "1").empty());
  CHECK_FALSE(with_value("cache", "\"tepid\"").empty());
  CHECK_FALSE(with_value("launch", "7").empty());
  CHECK_FALSE(with_value("p90_s", "1e-300").empty());  // below the median
  CHECK_FALSE(with_value("block_m", "1.5").empty());
  CHECK_FALSE(with_value("spread", "-1").empty());
}

TEST_CASE("runs join only when they were taken on one GPU and driver", "[unit]") {
  const RunFile run = full_run();
  RunFile peer;
  peer.gpu.reported = run.gpu.reported;  // all that a script may know
  TimeReading time = run.times.front();
  time.kernel = "peer";
  peer.times = {time, time};  // the second in place of the first
  const RunFile both = join_runs({run, peer}, {"a", "b"});
  CHECK(both.gpu == run.gpu);
  CHECK(both.times.size() == run.times.size() + 1);
  peer.gpu.name = run.gpu.name;
  const RunFile turned = join_runs({peer, run}, {"a", "b"});  // the head of the program's own run
  CHECK(turned.gpu == run.gpu);
  CHECK(turned.method == run.method);
  CHECK(turned.times == both.times);
  peer.gpu.driver = "1.0";
  CHECK_THROWS_WITH(join_runs({run, peer}, {"a", "b"}),
                    Catch::Matchers::Contains("b: taken on NVIDIA H200 with driver 1.0, a on"));
}
