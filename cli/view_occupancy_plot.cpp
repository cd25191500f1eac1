// SPDX-License-Identifier: Apache-2.0
// `occupancy --plot`: resident CTAs over shared memory and over registers, everything else as
// asked. Each point is the residency model's answer; nothing is interpolated.
#include <algorithm>
#include <ostream>

#include "cli/occupancy_answer.hpp"

namespace smtwin {

void print_occupancy_plots(std::ostream& out, const OccupancyAnswer& a, PlotStyle style) {
  const SmSpec& sm = a.gpu.sm;
  const KernelResources& k = a.kernel;
  const auto share = [&](std::int32_t ctas) {
    return format_percent(static_cast<double>(ctas * a.residency.warps_per_cta) /
                          sm.max_warps_per_sm);
  };
  const std::int64_t requested = a.residency.shared_bytes_requested;
  // The static part cannot be taken away, so the axis begins there.
  print_staircase(out,
                  {.title = "over shared memory of a CTA (static + dynamic): " +
                            format_count(k.threads_per_cta) + " threads, " +
                            format_count(k.registers_per_thread) + " registers",
                   .unit = "B",
                   .first = std::min(k.static_shared_bytes, sm.shared_bytes_per_cta_optin),
                   .last = sm.shared_bytes_per_cta_optin,
                   .step = sm.shared_allocation_unit_bytes,
                   .present = requested,
                   .count =
                       [&](std::int64_t bytes) {
                         KernelResources changed = k;
                         changed.static_shared_bytes = std::min(k.static_shared_bytes, bytes);
                         changed.dynamic_shared_bytes = bytes - changed.static_shared_bytes;
                         return resident_ctas(sm, changed).ctas_per_sm;
                       },
                   .describe_count = share},
                  style);
  constexpr std::int32_t kMostNamable = 255;  // SASS names a register with 8 bits, one is zero
  print_staircase(out,
                  {.title = "over registers per thread: " + format_count(k.threads_per_cta) +
                            " threads, " + format_bytes(requested) + " of shared memory",
                   .unit = "registers",
                   .first = 1,
                   .last = std::min<std::int64_t>(sm.max_registers_per_thread, kMostNamable),
                   .step = 1,
                   .present = std::max(1, k.registers_per_thread),
                   .count =
                       [&](std::int64_t registers) {
                         KernelResources changed = k;
                         changed.registers_per_thread = static_cast<std::int32_t>(registers);
                         return resident_ctas(sm, changed).ctas_per_sm;
                       },
                   .describe_count = share},
                  style);
}

}  // namespace smtwin
