// SPDX-License-Identifier: Apache-2.0
// Which launch costs are measured.
#include "kernels/probes/launch_gap.hpp"

namespace smtwin {

std::vector<ProbePoint> launch_gap_points(const ProbeGpu&, ProbeEffort) {
  std::vector<ProbePoint> points;
  for (const std::string probe : {"launch_gap_stream", "launch_gap_queued", "launch_gap_graph"}) {
    points.push_back({.probe = probe, .parameters = {{"kernels", 256}}, .unit = "s"});
  }
  points.push_back({.probe = "timed_nothing", .unit = "s"});
  for (const double in_graph : {0.0, 1.0}) {
    points.push_back(
        {.probe = "timed_empty_kernel", .parameters = {{"in_graph", in_graph}}, .unit = "s"});
  }
  return points;
}

}  // namespace smtwin
