// SPDX-License-Identifier: Apache-2.0
// The probes on a real GPU: every quick point gives a positive, finite answer, and a few that no
// GPU can miss are right.
#include <cmath>
#include <map>
#include <string>

#include "arch/error.hpp"
#include "kernels/probes/probes.hpp"
#include "tests/catch.hpp"
#include "validate/device/device.hpp"

namespace smtwin {
namespace {

bool skipped_without_gpu() {
  try {
    query_gpu(0);
    return false;
  } catch (const NoDeviceError& error) {
    test::skip(error.what());
    return true;
  }
}

TEST_CASE("every quick probe answers", "[device]") {
  if (skipped_without_gpu()) return;
  ProbeBench bench;
  std::map<std::string, double> best;
  for (const ProbePoint& point : probe_points(bench.gpu(), ProbeEffort::quick)) {
    INFO(point.probe);
    const std::optional<double> value = bench.run(point);
    if (!value) {
      CHECK(point.unit == "W");  // only power may be unknown
      continue;
    }
    CHECK(std::isfinite(*value));
    CHECK(*value > 0);
    double& most = best[point.probe];
    most = std::max(most, *value);
    if (point.probe == "residency_seen") {
      ProbePoint asked = point;
      asked.probe = "residency_driver";
      CHECK(*value == bench.run(asked).value());
    }
  }
  CHECK(best.at("l2_read") > best.at("dram_read"));
  CHECK(best.at("launch_gap_graph") < best.at("launch_gap_stream"));
  // 32 banks of 4 bytes: at most 128 bytes a clock; a stride of 32 words meets in one bank.
  CHECK(best.at("shared_read") == Approx(128).epsilon(0.1));
  CHECK(best.at("shared_stride") == Approx(32).epsilon(0.1));
  CHECK(best.at("fma_per_cycle") <= 256);  // 128 lanes x 2 flops
  CHECK(best.at("fma_per_cycle") > 200);
}

TEST_CASE("unknown probes and settings are refused by name", "[device]") {
  if (skipped_without_gpu()) return;
  ProbeBench bench;
  CHECK_THROWS_WITH(
      bench.run({.probe = "dram_reed", .unit = "B/s"}),
      Catch::Contains("unknown probe \"dram_reed\"") && Catch::Contains("dram_read,"));
  CHECK_THROWS_WITH(
      bench.run({.probe = "fma", .parameters = {{"warps_per_sm", 33}}, .unit = "flop/s"}),
      "probe fma: warps_per_sm is 33; allowed is 1 to 32");
}

}  // namespace
}  // namespace smtwin
