// SPDX-License-Identifier: Apache-2.0
// `occupancy --explain`: each limit worked out with its numbers, as on paper. The model did the
// sums; here they are only spelled, in the order of model/residency.hpp.
#include <algorithm>
#include <ostream>

#include "cli/kernel_choice.hpp"
#include "cli/occupancy_answer.hpp"

namespace smtwin {
namespace {

std::string ctas(std::int32_t n) { return format_count(n) + (n == 1 ? " CTA" : " CTAs"); }

void explain_warps(std::ostream& out, const OccupancyAnswer& a) {
  const SmSpec& sm = a.gpu.sm;
  const Residency& r = a.residency;
  const std::int32_t left = a.kernel.threads_per_cta % sm.threads_per_warp;
  print_wrapped(
      out, "warps of a CTA",
      "ceil(" + format_count(a.kernel.threads_per_cta) + " threads / " +
          format_count(sm.threads_per_warp) + ") = " + format_count(r.warps_per_cta) +
          (left ? "; the last warp has " + format_count(left) + " threads and counts whole" : ""));
  print_wrapped(out, "warps",
                format_count(sm.max_warps_per_sm) + " / " + format_count(r.warps_per_cta) + " -> " +
                    ctas(r.limits.warps));
}

void explain_registers(std::ostream& out, const OccupancyAnswer& a) {
  const SmSpec& sm = a.gpu.sm;
  const Residency& r = a.residency;
  if (a.kernel.registers_per_thread == 0) {
    print_wrapped(out, "registers", "0 per thread: no limit");
    return;
  }
  const std::int32_t raw = a.kernel.registers_per_thread * sm.threads_per_warp;
  print_wrapped(out, "registers",
                format_count(a.kernel.registers_per_thread) + " x " +
                    format_count(sm.threads_per_warp) + " = " + format_count(raw) + " -> " +
                    format_count(r.registers_per_warp) + " per warp (units of " +
                    format_count(sm.register_allocation_unit) + ")");
  const std::int32_t per_partition = sm.registers_per_sm / sm.partitions_per_sm;
  const std::int32_t warps = per_partition / r.registers_per_warp;
  std::string text = format_count(per_partition) + " per partition / " +
                     format_count(r.registers_per_warp) + " -> " + format_count(warps) +
                     " warps, x " + format_count(sm.partitions_per_sm) +
                     " partitions = " + format_count(warps * sm.partitions_per_sm) + " warps, / " +
                     format_count(r.warps_per_cta) + " -> ";
  if (r.limits.registers == 0 && warps * sm.partitions_per_sm >= r.warps_per_cta) {
    text +=
        "0 CTAs: the launch check counts warps in whole rounds of the partitions, or refuses "
        "so many registers per thread";
  } else {
    text += ctas(r.limits.registers);
  }
  print_wrapped(out, "", text);
}

void explain_shared(std::ostream& out, const OccupancyAnswer& a) {
  const SmSpec& sm = a.gpu.sm;
  const KernelResources& k = a.kernel;
  const Residency& r = a.residency;
  print_wrapped(out, "shared memory",
                format_count(k.static_shared_bytes) + " static + " +
                    format_count(k.dynamic_shared_bytes) + " dynamic + " +
                    format_count(sm.shared_bytes_reserved_per_cta) + " reserved -> " +
                    format_bytes(r.shared_bytes_allocated) + " (units of " +
                    format_count(sm.shared_allocation_unit_bytes) + ")");
  if (r.shared_bytes_over_limit > 0) {
    print_wrapped(out, "",
                  format_bytes(r.shared_bytes_requested) + " - " +
                      format_bytes(shared_limit_per_cta(sm, k)) +
                      " allowed = " + format_bytes(r.shared_bytes_over_limit) + " over -> 0 CTAs");
    return;
  }
  if (k.carveout_percent >= 0) {
    print_wrapped(out, "",
                  "carveout " + format_count(k.carveout_percent) + " % of " +
                      format_bytes(sm.shared_bytes_per_sm) +
                      ", rounded up to a size the chip "
                      "has and one CTA fits in -> " +
                      format_bytes(r.carveout_bytes));
  }
  if (r.shared_bytes_allocated == 0) {
    print_wrapped(out, "", "nothing allocated: no limit");
    return;
  }
  print_wrapped(out, "",
                format_count(r.carveout_bytes) + " / " + format_count(r.shared_bytes_allocated) +
                    " -> " + ctas(r.limits.shared_memory));
}

}  // namespace

void print_occupancy_arithmetic(std::ostream& out, const OccupancyAnswer& a) {
  const Residency& r = a.residency;
  const SmSpec& sm = a.gpu.sm;
  out << "\nthe arithmetic (-> rounds or cuts)\n";
  explain_warps(out, a);
  explain_registers(out, a);
  explain_shared(out, a);
  print_wrapped(out, "CTA slots", ctas(sm.max_ctas_per_sm));
  if (r.limits.barriers != kUnlimited) {
    print_wrapped(out, "barriers",
                  format_count(sm.barriers_per_sm) + " / " +
                      format_count(a.kernel.barriers_per_cta) + " -> " + ctas(r.limits.barriers));
  }
  std::vector<std::string> limits;
  std::int32_t least = kUnlimited;
  for (const std::int32_t limit : {r.limits.warps, r.limits.registers, r.limits.shared_memory,
                                   r.limits.cta_slots, r.limits.barriers}) {
    if (limit != kUnlimited) limits.push_back(format_count(limit));
    least = std::min(least, limit);
  }
  print_wrapped(out, "resident",
                "min(" + join(limits, ", ") + ") = " + ctas(least) + ", limited by " +
                    label(r.limiters) +
                    (least != r.ctas_per_sm ? "; but the launch is refused, so 0" : ""));
  print_wrapped(out, "occupancy",
                format_count(r.ctas_per_sm) + " x " + format_count(r.warps_per_cta) + " / " +
                    format_count(sm.max_warps_per_sm) +
                    " warps = " + format_percent(r.theoretical_occupancy));
}

}  // namespace smtwin
