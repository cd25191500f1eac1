// SPDX-License-Identifier: Apache-2.0
// Which launches residency is looked at for: each limiter (threads, registers, shared memory, CTA
// slots) decides at least one of them.
#include "kernels/probes/residency.hpp"

namespace smtwin {

std::vector<ProbePoint> residency_points(const ProbeGpu& gpu, ProbeEffort effort) {
  struct Launch {
    int threads;
    std::int64_t shared_bytes;
    int live_values;
  };
  std::vector<Launch> launches{{128, 0, 64}, {256, gpu.shared_bytes_per_cta_optin / 2, 16}};
  if (effort == ProbeEffort::full) {
    launches.insert(launches.end(), {{32, 0, 16},
                                     {64, 4096, 16},
                                     {96, 0, 128},
                                     {128, 16 * 1024, 64},
                                     {160, 0, 64},
                                     {256, 0, 16},
                                     {256, 0, 128},
                                     {256, gpu.shared_bytes_per_cta_optin, 64},
                                     {512, 0, 16},
                                     {1024, 0, 16}});
  }
  std::vector<ProbePoint> points;
  for (const std::string probe : {"residency_seen", "residency_driver"}) {
    for (const Launch& launch : launches) {
      points.push_back({.probe = probe,
                        .parameters = {{"threads_per_cta", launch.threads},
                                       {"dynamic_shared_bytes", double(launch.shared_bytes)},
                                       {"live_values", launch.live_values}},
                        .unit = "1",
                        .repetitions = 1});
    }
  }
  return points;
}

}  // namespace smtwin
