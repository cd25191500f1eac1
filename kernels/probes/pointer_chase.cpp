// SPDX-License-Identifier: Apache-2.0
// Which working sets, strides and carveouts are chased.
#include "kernels/probes/pointer_chase.hpp"

#include "kernels/probes/probe_point.hpp"

namespace smtwin {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;
constexpr double kLine = 128;       // one node a cache line
constexpr double kPage = 2 * kMiB;  // what the driver maps large allocations with

std::map<std::string, double> level(double cached_in_l1, double l2_flushed, double stride) {
  return {{"cached_in_l1", cached_in_l1}, {"l2_flushed", l2_flushed}, {"stride_bytes", stride}};
}

}  // namespace

std::vector<ProbePoint> pointer_chase_points(const ProbeGpu&, ProbeEffort effort) {
  const bool full = effort == ProbeEffort::full;
  const auto sizes = [](std::vector<double> counts, double unit) {
    for (double& count : counts) count *= unit;
    return counts;
  };
  std::vector<ProbePoint> points;
  const auto sweep = [&](const std::string& probe, const std::vector<double>& working_sets,
                         const std::map<std::string, double>& fixed) {
    append_sweep(points, {.probe = probe,
                          .unit = "cycles",
                          .parameter = "working_set_bytes",
                          .values = working_sets,
                          .fixed = fixed,
                          .repetitions = 5});
  };
  const auto l1_sizes =
      full ? std::vector<double>{4, 16, 64, 128, 192, 256, 512} : std::vector<double>{16};
  const auto l2_sizes = full ? std::vector<double>{1, 4, 8, 16, 32, 48} : std::vector<double>{8};
  sweep("latency_global", sizes(l1_sizes, kKiB), level(1, 0, kLine));
  sweep("latency_global", sizes(l2_sizes, kMiB), level(0, 0, kLine));
  sweep("latency_global", {32 * kMiB}, level(0, 1, kLine));
  if (full) {
    sweep("latency_global", sizes({128, 512, 2048}, kMiB), level(0, 0, kLine));
    sweep("latency_global", sizes({128, 512, 2048}, kMiB), level(0, 0, kPage));
  }
  sweep("latency_shared", {16 * kKiB}, {});
  for (const double percent : {0.0, 50.0, 100.0}) {
    const auto carveout_sizes = full ? std::vector<double>{16, 32, 64, 96, 128, 160, 192, 224, 256}
                                     : std::vector<double>{16, 64, 192};
    sweep("l1_carveout", sizes(carveout_sizes, kKiB), {{"carveout_percent", percent}});
  }
  return points;
}

}  // namespace smtwin
