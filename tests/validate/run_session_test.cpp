// SPDX-License-Identifier: Apache-2.0
// A run walked with a made-up measurer: what is measured, again, skipped or given up, and that a
// run killed anywhere carries on from its journal.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "kernels/dense_gemm/config.hpp"
#include "tests/catch.hpp"
#include "tests/validate/made_up_run.hpp"
#include "validate/runs/run_session.hpp"

using namespace smtwin;
using test::FakeMeasurer;

namespace {

// Every third compiled GEMM tile, of both data types, and a peer.
std::vector<MeasurableKernel> gemm_kernels() {
  MeasurableKernel gemm{.name = "dense_gemm", .unavailable = "", .variants = {}};
  const std::vector<DenseGemmTile>& tiles = gemm_variants();
  for (std::size_t i = 0; i < tiles.size(); i += 3) gemm.variants.push_back(gemm_config(tiles[i]));
  return {gemm,
          {.name = "cublas_gemm", .peer = true, .unavailable = "", .variants = {{}}},
          {.name = "other_gemm", .peer = true, .unavailable = "no library", .variants = {{}}}};
}

FakeMeasurer fake() {
  FakeMeasurer measurer;
  measurer.fakes = gemm_kernels();
  return measurer;
}

SessionOptions quick() { return {.effort = Effort::quick, .only_kernel = "", .clock = {}}; }

std::string journal_path(const std::string& name) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("smtwin_" + name + "_" + std::to_string(::getpid()) + ".journal");
  std::filesystem::remove(path);
  return path.string();
}

JournalHead head() {
  return {.gpu = test::made_up_gpu(),
          .tool_version = "0.1",
          .compiler = "nvcc 13.0.0",
          .plan = plan_name(quick())};
}

// Order of readings differs between a run and a resumed one; content must not.
RunFile sorted(RunFile run) {
  const auto order = [](auto& readings, const auto& key) {
    std::sort(readings.begin(), readings.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
  };
  order(run.probes, [](const ProbeReading& r) { return std::tie(r.probe, r.parameters); });
  order(run.functions, [](const FunctionReading& r) { return std::tie(r.symbol, r.config); });
  order(run.times,
        [](const TimeReading& r) { return std::tie(r.kernel, r.shape, r.config, r.cache); });
  return run;
}

}  // namespace

TEST_CASE("every variant is timed on every shape that it can run", "[unit]") {
  FakeMeasurer measurer = fake();
  const SessionResult result = run_session(measurer, quick(), nullptr);
  CHECK(result.complete());
  std::map<Parameters, std::map<Parameters, int>> cold;  // shape -> config -> readings
  std::size_t peers = 0;
  for (const TimeReading& t : result.run.times) {
    CHECK(t.relative_error == 3e-3);
    peers += t.peer;
    if (!t.peer && t.cache == SampleCache::cold) ++cold[t.shape][t.config];
  }
  CHECK(cold.size() == 18);  // 3 matrices x 3 row counts x 2 data types
  CHECK(peers > 18);         // some shapes are measured warm as well
  const GpuSpec gpu = find_gpu("h200-sxm");
  for (const auto& [shape, configs] : cold) {
    for (const Parameters& config : measurer.fakes[0].variants) {
      const bool expected = can_run("dense_gemm", shape, config, gpu);
      CHECK(configs.count(config) == (expected ? 1 : 0));
    }
  }
  for (const FunctionReading& f : result.run.functions) CHECK(f.seen_ctas_per_sm == 2);
  CHECK(result.run.probes.size() == 2);  // the third cannot be read here
  REQUIRE(result.skipped.size() == 1);
  CHECK(describe(result.skipped) == "other_gemm: no library");
}

TEST_CASE("what the kernel runs by default is measured beside the variants", "[unit]") {
  FakeMeasurer measurer = fake();
  const SessionResult result = run_session(measurer, quick(), nullptr);
  const GpuSpec gpu = find_gpu("h200-sxm");
  std::map<Parameters, std::map<Parameters, int>> cold;
  for (const TimeReading& t : result.run.times) {
    if (!t.peer && t.cache == SampleCache::cold) ++cold[t.shape][t.config];
  }
  std::size_t fixed_splits = 0;
  for (const auto& [shape, configs] : cold) {
    const Parameters own = find_kernel("dense_gemm").default_config(shape, gpu);
    REQUIRE_FALSE(own.empty());
    REQUIRE(configs.count(own) == 1);
    CHECK(configs.at(own) == 1);
    fixed_splits += own.at("split_k") != 0;
  }
  CHECK(fixed_splits > 0);  // none of the variants has one
}

TEST_CASE("a GPU that the catalog lacks is measured with the SMs that the driver counts",
          "[unit]") {
  FakeMeasurer measurer = fake();
  measurer.fake_gpu.name = "";
  measurer.fake_gpu.reported = "NVIDIA H999";
  const SessionResult result = run_session(measurer, quick(), nullptr);
  CHECK(result.complete());
  FakeMeasurer known = fake();
  CHECK(result.run.times == run_session(known, quick(), nullptr).run.times);
}

TEST_CASE("a check times nothing and leaves peers out", "[unit]") {
  FakeMeasurer measurer = fake();
  std::set<Parameters> checked;
  measurer.error_of = [&](const Parameters& config) {
    checked.insert(config);
    return 1e-3;
  };
  SessionOptions options = quick();
  options.effort = Effort::check;
  const SessionResult result = run_session(measurer, options, nullptr);
  CHECK(result.complete());
  CHECK(result.skipped.empty());
  CHECK(measurer.medians_taken == 0);
  CHECK(measurer.probes_taken == 0);
  CHECK_FALSE(checked.contains(Parameters{}));  // the peer's only configuration
  for (const Parameters& config : measurer.fakes[0].variants) CHECK(checked.contains(config));
  for (const FunctionReading& f : result.run.functions) CHECK(f.seen_ctas_per_sm == 2);
}

TEST_CASE("the fastest few get five medians, and their median counts", "[unit]") {
  FakeMeasurer measurer = fake();
  const SessionResult result = run_session(measurer, quick(), nullptr);
  std::map<Parameters, std::vector<const TimeReading*>> by_shape;
  for (const TimeReading& t : result.run.times) {
    if (!t.peer && t.cache == SampleCache::cold) by_shape[t.shape].push_back(&t);
  }
  for (auto& [shape, times] : by_shape) {
    std::sort(times.begin(), times.end(),
              [](const TimeReading* a, const TimeReading* b) { return a->seconds < b->seconds; });
    CHECK(times.front()->medians == 5);
    CHECK(times.front()->samples == 45);
    for (const TimeReading* t : times) {
      // 6 % slower than the fastest is out of the final.
      if (t->seconds > 1.061 * times.front()->seconds) CHECK(t->medians == 1);
    }
  }
}

TEST_CASE("a wrong result is said and never timed", "[unit]") {
  FakeMeasurer measurer = fake();
  const Parameters wrong = measurer.fakes[0].variants[0];
  measurer.error_of = [&](const Parameters& config) {
    return config == wrong ? std::numeric_limits<double>::infinity() : 1e-3;
  };
  const SessionResult result = run_session(measurer, quick(), nullptr);
  CHECK(result.complete());
  CHECK(result.wrong_results == 9);  // on each shape of its data type
  for (const TimeReading& t : result.run.times) CHECK(t.config != wrong);
  CHECK(result.skipped.back().why.find("wrong result") != std::string::npos);
}

TEST_CASE("checks are bounded in time, the first shapes and the fastest are always checked",
          "[unit]") {
  FakeMeasurer measurer = fake();
  double now = 0;
  int checks = 0;
  measurer.error_of = [&](const Parameters&) {
    now += 10;  // each check takes ten seconds
    ++checks;
    return 1e-3;
  };
  measurer.before_time = [&](const Parameters&) { now += 0.1; };
  SessionOptions options = quick();
  options.deadline_s = 1e9;
  options.clock = [&] { return now; };
  const SessionResult result = run_session(measurer, options, nullptr);
  std::map<Parameters, int> checked, timed;
  std::size_t unchecked = 0;
  for (const TimeReading& t : result.run.times) {
    if (t.peer || t.cache == SampleCache::warm) continue;
    checked[t.config] += t.relative_error >= 0;
    ++timed[t.config];
    unchecked += t.relative_error < 0;
    if (t.medians == 5) CHECK(t.relative_error >= 0);
  }
  CHECK(unchecked > 0);
  for (const auto& [config, shapes] : checked) CHECK(shapes >= std::min(3, timed[config]));
}

TEST_CASE("readings that are missing for one reason are named together", "[unit]") {
  CHECK(describe({}).empty());
  CHECK(describe({{"a", "no room"}, {"b", "lost"}, {"c", "no room"}, {"d", "no room"}}) ==
        "a and 2 more: no room; b: lost");
}

TEST_CASE("a refusal costs one reading, a lost GPU ends the run with what it has", "[unit]") {
  FakeMeasurer measurer = fake();
  const Parameters bad = measurer.fakes[0].variants[1];
  measurer.before_time = [&](const Parameters& config) {
    if (config == bad) throw DeviceError("launch: cudaErrorInvalidValue (invalid argument)");
  };
  const SessionResult refused = run_session(measurer, quick(), nullptr);
  CHECK(refused.stopped.empty());
  CHECK(refused.skipped.size() > 1);
  CHECK(refused.skipped.back().why.find("cudaErrorInvalidValue") != std::string::npos);

  FakeMeasurer lost = fake();
  lost.before_time = [&](const Parameters&) {
    if (lost.medians_taken == 40) {
      lost.alive = false;
      throw DeviceError("dense_gemm: cudaErrorIllegalAddress");
    }
  };
  const SessionResult stopped = run_session(lost, quick(), nullptr);
  CHECK(stopped.stopped.find("cudaErrorIllegalAddress") != std::string::npos);
  CHECK_FALSE(stopped.complete());
  CHECK(lost.medians_taken == 40);
  CHECK(stopped.run.times.size() > 10);
}

TEST_CASE("nothing starts after the time box, and the rest is said", "[unit]") {
  FakeMeasurer measurer = fake();
  SessionOptions options = quick();
  options.deadline_s = 100;
  options.clock = [&] { return 1.0 * measurer.medians_taken; };
  const SessionResult result = run_session(measurer, options, nullptr);
  CHECK(measurer.medians_taken == 100);
  CHECK(result.out_of_time);
  CHECK(result.skipped.back().why == "the time box of 100 s was used up");
}

TEST_CASE("a run interrupted anywhere carries on and ends as if it never was", "[property]") {
  FakeMeasurer whole = fake();
  const RunFile expected = sorted(run_session(whole, quick(), nullptr).run);
  std::mt19937_64 random(5);
  for (int i = 0; i < 12; ++i) {
    const std::string path = journal_path("resume");
    int medians = 0, sessions = 0;
    std::optional<RunFile> run;
    while (!run) {
      FakeMeasurer measurer = fake();
      measurer.readings_left = 1 + static_cast<int>(random() % 150);
      try {
        RunJournal journal(path, head());
        run = run_session(measurer, quick(), &journal).run;
        journal.remove();
      } catch (const test::Killed&) {
      }
      medians += measurer.medians_taken;
      REQUIRE(++sessions < 1000);
    }
    CHECK(sorted(*run) == expected);
    CHECK_FALSE(std::filesystem::exists(path));
    // Repeated are at most the unfinished medians of the final of one shape, each time.
    CHECK(medians <= whole.medians_taken + sessions * 30);
  }
}

TEST_CASE("a kill by the system loses one reading, a cut line is dropped", "[property]") {
  const std::string path = journal_path("kill");
  const pid_t child = ::fork();
  if (child == 0) {
    FakeMeasurer measurer = fake();
    measurer.before_time = [&](const Parameters&) {
      if (measurer.medians_taken == 50) ::raise(SIGKILL);
    };
    RunJournal journal(path, head());
    run_session(measurer, quick(), &journal);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  std::ofstream(path, std::ios::app) << "{\"time\": {\"kernel\": \"dense_g";  // a torn write
  FakeMeasurer again = fake();
  FakeMeasurer whole = fake();
  RunJournal journal(path, head());
  CHECK(journal.found().times.size() > 10);
  CHECK(sorted(run_session(again, quick(), &journal).run) ==
        sorted(run_session(whole, quick(), nullptr).run));
  CHECK(again.medians_taken < whole.medians_taken - 20);
  journal.remove();
}
