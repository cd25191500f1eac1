// SPDX-License-Identifier: Apache-2.0
// Which arithmetic rates are measured, at how many warps an SM.
#include "kernels/probes/alu_rate.hpp"

#include "kernels/probes/probe_point.hpp"

namespace smtwin {

std::vector<ProbePoint> alu_rate_points(const ProbeGpu& gpu, ProbeEffort effort) {
  const bool full = effort == ProbeEffort::full;
  std::vector<ProbePoint> points;
  for (const std::string probe : {"fma", "ex2", "cvt_e4m3"}) {
    if (probe == "cvt_e4m3" && gpu.compute_capability < ComputeCapability{8, 9}) continue;
    const std::string work = probe == "fma" ? "flop" : "op";
    for (const std::string suffix : {"", "_per_cycle"}) {
      append_sweep(points,
                   {.probe = probe + suffix,
                    .unit = work + (suffix.empty() ? "/s" : "/cycle"),
                    .parameter = "warps_per_sm",
                    .values = full ? std::vector<double>{4, 8, 16, 32} : std::vector<double>{16}});
    }
  }
  return points;
}

}  // namespace smtwin
