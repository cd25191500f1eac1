// SPDX-License-Identifier: Apache-2.0
// Which data types, warps and chains of mma.sync are measured.
#include "kernels/probes/tensor_rate.hpp"

#include "kernels/probes/probe_point.hpp"

namespace smtwin {

std::vector<ProbePoint> tensor_rate_points(const ProbeGpu& gpu, ProbeEffort effort) {
  const bool full = effort == ProbeEffort::full;
  std::vector<ProbePoint> points;
  for (const std::string type : {"bf16", "f16", "tf32", "fp8", "int8"}) {
    const bool has_fp8_mma = gpu.compute_capability >= ComputeCapability{8, 9};
    if (type == "fp8" && !has_fp8_mma) continue;
    const std::string work = type == "int8" ? "op" : "flop";
    const std::string probe = "tensor_" + type;
    const std::vector<double> warps =
        full ? std::vector<double>{4, 8, 16} : std::vector<double>{16};
    for (const std::string suffix : {"", "_per_cycle"}) {
      append_sweep(points, {.probe = probe + suffix,
                            .unit = work + (suffix.empty() ? "/s" : "/cycle"),
                            .parameter = "warps_per_sm",
                            .values = warps,
                            .fixed = {{"chains", 8}}});
    }
    if (full) {
      append_sweep(points, {.probe = probe + "_per_cycle",
                            .unit = work + "/cycle",
                            .parameter = "chains",
                            .values = {1, 2, 4},
                            .fixed = {{"warps_per_sm", 4}}});
    }
    append_sweep(points, {.probe = probe + "_latency",
                          .unit = "cycles",
                          .parameter = "chains",
                          .values = {1},
                          .fixed = {{"warps_per_sm", 1}},
                          .repetitions = 3});
  }
  return points;
}

}  // namespace smtwin
