// SPDX-License-Identifier: Apache-2.0
// The lists of what can be measured: complete, without doubles, in base units, launchable.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <tuple>

#include "arch/error.hpp"
#include "kernels/probes/probe_point.hpp"
#include "kernels/probes/probes.hpp"
#include "tests/catch.hpp"

namespace smtwin {
namespace {

ProbeGpu h200() {
  return {.compute_capability = {9, 0},
          .sm_count = 132,
          .l2_bytes = 62914560,
          .shared_bytes_per_sm = 233472,
          .shared_bytes_per_cta_optin = 232448,
          .max_threads_per_sm = 2048};
}

ProbeGpu rtx_pro_6000() {
  return {.compute_capability = {12, 0},
          .sm_count = 188,
          .l2_bytes = 134217728,
          .shared_bytes_per_sm = 102400,
          .shared_bytes_per_cta_optin = 101376,
          .max_threads_per_sm = 1536};
}

ProbeGpu a100() {
  return {.compute_capability = {8, 0},
          .sm_count = 108,
          .l2_bytes = 41943040,
          .shared_bytes_per_sm = 167936,
          .shared_bytes_per_cta_optin = 166912,
          .max_threads_per_sm = 2048};
}

using Names = std::set<std::string>;
Names names_of(const std::vector<ProbePoint>& points) {
  Names names;
  for (const ProbePoint& point : points) names.insert(point.probe);
  return names;
}

double value_of(const ProbePoint& point, const char* name, double otherwise) {
  const auto found = point.parameters.find(name);
  return found == point.parameters.end() ? otherwise : found->second;
}

TEST_CASE("no point is listed twice and units are base units", "[property]") {
  const Names units{"B/s",      "s",       "cycles", "flop/s", "op/s", "flop/cycle",
                    "op/cycle", "B/cycle", "Hz",     "W",      "1"};
  for (const ProbeGpu& gpu : {h200(), rtx_pro_6000(), a100()}) {
    for (const ProbeEffort effort : {ProbeEffort::quick, ProbeEffort::full}) {
      std::set<std::tuple<std::string, std::map<std::string, double>>> seen;
      std::map<std::string, std::string> unit_of;
      for (const ProbePoint& point : probe_points(gpu, effort)) {
        INFO(point.probe);
        CHECK(seen.insert({point.probe, point.parameters}).second);
        CHECK(units.count(point.unit) == 1);
        CHECK(unit_of.emplace(point.probe, point.unit).first->second == point.unit);
        CHECK(point.repetitions >= 1);
      }
      CHECK(seen.size() > 50);
    }
  }
}

TEST_CASE("quick measures the same things at fewer settings", "[property]") {
  const auto quick = probe_points(h200(), ProbeEffort::quick);
  const auto full = probe_points(h200(), ProbeEffort::full);
  CHECK(quick.size() * 2 < full.size());
  const Names few = names_of(quick);
  const Names all = names_of(full);
  CHECK(std::includes(all.begin(), all.end(), few.begin(), few.end()));
  // Only the FMA load and the idle board are left to the full list.
  Names missing;
  std::set_difference(all.begin(), all.end(), few.begin(), few.end(),
                      std::inserter(missing, missing.end()));
  CHECK(missing == Names{"power_fma", "power_idle", "sm_clock_fma"});
}

TEST_CASE("streams fit the SM they are meant for", "[property]") {
  for (const ProbeGpu& gpu : {h200(), rtx_pro_6000(), a100()}) {
    int streams = 0;
    for (const ProbePoint& point : probe_points(gpu, ProbeEffort::full)) {
      const double in_flight = value_of(point, "bytes_in_flight_per_sm", 0);
      if (in_flight == 0) continue;
      ++streams;
      INFO(point.probe << " " << in_flight);
      const double ctas = point.parameters.at("ctas_per_sm");
      CHECK(ctas * 256 <= gpu.max_threads_per_sm);
      // 256 threads with 16-byte accesses; the kernels exist for 1, 2, 4 and 8 a thread.
      const double accesses = in_flight / (ctas * 256 * 16);
      CHECK((accesses == 1 || accesses == 2 || accesses == 4 || accesses == 8));
      if (point.probe == "dram_read_async")
        CHECK(in_flight + ctas * 1024 <= double(gpu.shared_bytes_per_sm));
      CHECK(value_of(point, "working_set_bytes", 0) <= 1.5 * double(gpu.l2_bytes));
    }
    CHECK(streams >= 40);
  }
}

TEST_CASE("an SM120 is never asked for more CTAs than its threads allow", "[unit]") {
  // 1536 threads / 256 = 6 CTAs, where an H200 takes 8.
  double most = 0;
  for (const ProbePoint& point : probe_points(rtx_pro_6000(), ProbeEffort::full)) {
    if (point.probe == "dram_read") most = std::max(most, point.parameters.at("ctas_per_sm"));
  }
  CHECK(most == 6);
}

TEST_CASE("FP8 is asked only of chips that have it", "[unit]") {
  CHECK(names_of(probe_points(h200(), ProbeEffort::quick)).count("tensor_fp8") == 1);
  const Names old = names_of(probe_points(a100(), ProbeEffort::full));
  CHECK(old.count("tensor_fp8") == 0);
  CHECK(old.count("cvt_e4m3") == 0);
  CHECK(old.count("tensor_bf16") == 1);
}

TEST_CASE("residency is asked of the hardware and of the driver alike", "[unit]") {
  std::set<std::map<std::string, double>> seen;
  std::set<std::map<std::string, double>> driver;
  for (const ProbePoint& point : probe_points(rtx_pro_6000(), ProbeEffort::full)) {
    if (point.probe == "residency_seen") seen.insert(point.parameters);
    if (point.probe == "residency_driver") driver.insert(point.parameters);
    if (point.probe.rfind("residency", 0) == 0) {
      CHECK(point.parameters.at("dynamic_shared_bytes") <= 101376);
    }
  }
  CHECK(seen.size() == 12);
  CHECK(seen == driver);
}

TEST_CASE("a parameter is read back or refused in one line", "[unit]") {
  const ProbePoint point{
      .probe = "fma", .parameters = {{"warps_per_sm", 16}, {"chains", 2.5}}, .unit = "flop/s"};
  CHECK(whole_parameter(point, "warps_per_sm") == 16);
  CHECK_THROWS_WITH(whole_parameter(point, "stages"), "probe fma: parameter stages is missing");
  CHECK_THROWS_WITH(whole_parameter(point, "chains"),
                    "probe fma: chains is 2.5; allowed is a whole number");
  CHECK_THROWS_AS(refuse_parameter(point, "chains", "1 or 2"), UsageError);
}

}  // namespace
}  // namespace smtwin
