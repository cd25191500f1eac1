// SPDX-License-Identifier: Apache-2.0
// Which loads clock and power are read under, and for how long.
#include "kernels/probes/load_state.hpp"

namespace smtwin {

std::vector<ProbePoint> load_state_points(const ProbeGpu&, ProbeEffort effort) {
  const bool full = effort == ProbeEffort::full;
  const double load_s = full ? 0.4 : 0.2;
  std::vector<ProbePoint> points;
  const auto add = [&](const std::string& probe, const std::string& unit) {
    points.push_back({.probe = probe,
                      .parameters = {{"load_s", load_s}},
                      .unit = unit,
                      .repetitions = full ? 3 : 2});
  };
  for (const std::string load : {"fma", "tensor_bf16", "dram_read"}) {
    if (load == "fma" && !full) continue;
    add("sm_clock_" + load, "Hz");
    add("power_" + load, "W");
  }
  if (full) add("power_idle", "W");
  return points;
}

}  // namespace smtwin
