// SPDX-License-Identifier: Apache-2.0
// Which shared-memory accesses are measured.
#include "kernels/probes/shared_memory.hpp"

#include "kernels/probes/probe_point.hpp"

namespace smtwin {

std::vector<ProbePoint> shared_memory_points(const ProbeGpu&, ProbeEffort effort) {
  const bool full = effort == ProbeEffort::full;
  std::vector<ProbePoint> points;
  for (const std::string probe : {"shared_read", "shared_write"}) {
    append_sweep(points, {.probe = probe,
                          .unit = "B/cycle",
                          .parameter = "warps_per_sm",
                          .values = full ? std::vector<double>{4, 8, 16} : std::vector<double>{16},
                          .repetitions = 5});
  }
  append_sweep(points, {.probe = "shared_stride",
                        .unit = "cycles",
                        .parameter = "stride_words",
                        .values = full ? std::vector<double>{1, 2, 3, 4, 8, 16, 32}
                                       : std::vector<double>{1, 4, 32},
                        .fixed = {{"warps_per_sm", 16}},
                        .repetitions = 5});
  // Rows of 64, 256 and 288 halves, plain and padded by one 16-byte column.
  append_sweep(points, {.probe = "ldmatrix_stride",
                        .unit = "cycles",
                        .parameter = "row_bytes",
                        .values = full ? std::vector<double>{128, 144, 512, 528, 576, 592}
                                       : std::vector<double>{512, 528, 576},
                        .fixed = {{"warps_per_sm", 16}},
                        .repetitions = 5});
  return points;
}

}  // namespace smtwin
