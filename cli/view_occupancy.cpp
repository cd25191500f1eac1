// SPDX-License-Identifier: Apache-2.0
// The occupancy report for people: the resource table with its limiters, what is resident, and
// the way to more.
#include <algorithm>
#include <ostream>

#include "cli/kernel_choice.hpp"
#include "cli/occupancy_answer.hpp"

namespace smtwin {
namespace {

std::string limit_text(std::int32_t limit) {
  return limit == kUnlimited ? "no limit" : format_count(limit);
}

// "61,568 + 1,024 reserved B"; with static bytes "1 + 49,152 + 1,024 reserved -> 50,304 B".
std::string shared_taken(const OccupancyAnswer& a) {
  const KernelResources& k = a.kernel;
  const std::int64_t reserved = a.gpu.sm.shared_bytes_reserved_per_cta;
  const std::int64_t allocated = a.residency.shared_bytes_allocated;
  std::string text;
  if (k.static_shared_bytes > 0) text = format_count(k.static_shared_bytes) + " + ";
  text += format_count(k.dynamic_shared_bytes);
  if (reserved > 0) text += " + " + format_count(reserved) + " reserved";
  if (allocated != a.residency.shared_bytes_requested + reserved) {
    text += " -> " + format_count(allocated);
  }
  return text + " B";
}

void print_resources(std::ostream& out, const OccupancyAnswer& a) {
  const SmSpec& sm = a.gpu.sm;
  const Residency& r = a.residency;
  TextTable table({{"resource      ", Align::left},  // as wide as the labels below

                   {"one CTA takes", Align::left},
                   {"an SM has", Align::left},
                   {"CTAs"},
                   {"", Align::left}});
  const auto add = [&](Limiter limiter, const std::string& takes, const std::string& has,
                       std::int32_t limit) {
    table.add_row({label(limiter), takes, has, limit_text(limit),
                   r.limiters.contains(limiter) ? "<- limits" : ""});
  };
  const std::string carveout =
      r.carveout_bytes > 0 ? format_bytes(r.carveout_bytes) : format_bytes(sm.shared_bytes_per_sm);
  add(Limiter::shared_memory, shared_taken(a), carveout, r.limits.shared_memory);
  add(Limiter::registers,
      a.kernel.registers_per_thread == 0
          ? "not counted"
          : format_count(r.warps_per_cta) + " warps x " + format_count(r.registers_per_warp),
      format_count(sm.partitions_per_sm) + " x " +
          format_count(sm.registers_per_sm / sm.partitions_per_sm),
      r.limits.registers);
  add(Limiter::warps, format_count(r.warps_per_cta), format_count(sm.max_warps_per_sm),
      r.limits.warps);
  add(Limiter::cta_slots, "1", format_count(sm.max_ctas_per_sm), r.limits.cta_slots);
  if (r.limits.barriers != kUnlimited) {
    add(Limiter::barriers, format_count(a.kernel.barriers_per_cta),
        format_count(sm.barriers_per_sm), r.limits.barriers);
  }
  table.print(out);
}

void print_growth(std::ostream& out, const OccupancyAnswer& a, std::string label_text) {
  constexpr std::size_t kMostLines = 4;
  for (std::size_t i = 0; i < std::min(a.steps.size(), kMostLines); ++i) {
    print_wrapped(out, label_text, describe(a.steps[i]));
    label_text.clear();
  }
  const Residency& r = a.residency;
  const std::int32_t most = r.max_threads_keeping_ctas;
  if (r.ctas_per_sm > 0 && most > a.kernel.threads_per_cta) {
    const std::int32_t warps = most / a.gpu.sm.threads_per_warp;
    if (warps <= r.warps_per_cta) return;
    const double occupancy = static_cast<double>(r.ctas_per_sm * warps) / a.gpu.sm.max_warps_per_sm;
    std::string text = "up to " + format_count(warps) + " warps in one CTA (" +
                       format_percent(occupancy) + ") keep these bytes and the " +
                       format_count(r.ctas_per_sm) + (r.ctas_per_sm == 1 ? " CTA" : " CTAs");
    if (a.kernel.registers_per_thread > 0) {
      text +=
          "; " + format_count(a.kernel.registers_per_thread) + " registers per thread still launch";
    }
    print_wrapped(out, label_text, text);
  }
}

void print_shared_details(std::ostream& out, const OccupancyAnswer& a) {
  const Residency& r = a.residency;
  if (r.ctas_per_sm == 0) return;
  std::string text = format_bytes(r.carveout_bytes) + " of shared memory";
  if (a.gpu.sm.l1_and_shared_bytes_per_sm > 0) {
    text += ", " + format_bytes(r.l1_bytes) + " left to the L1";
  }
  if (a.kernel.carveout_percent >= 0) {
    text += " (preference " + format_count(a.kernel.carveout_percent) + " %)";
  } else if (r.carveout_smallest_bytes < r.carveout_bytes) {
    text += " (the most; " + format_bytes(r.carveout_smallest_bytes) + " hold the same CTAs)";
  }
  print_wrapped(out, "carveout", text);
  if (r.shared_opt_in_required) {
    print_wrapped(out, "opt-in",
                  "needed: " + format_bytes(r.shared_bytes_requested) + " are more than the " +
                      format_bytes(a.gpu.sm.shared_bytes_per_cta_default) +
                      " of a plain launch (cudaFuncAttributeMaxDynamicSharedMemorySize)");
  }
}

void print_cluster(std::ostream& out, const OccupancyAnswer& a) {
  const ClusterBound& bound = a.residency.cluster;
  if (!bound.applies || a.residency.verdict == LaunchVerdict::cluster_exceeds_limit) return;
  std::string text = format_count(a.kernel.cluster_ctas) + " CTAs";
  if (!bound.portable) {
    text += ", more than the portable " + format_count(a.gpu.sm.max_cluster_ctas_portable) +
            ": needs cudaFuncAttributeNonPortableClusterSizeAllowed";
  }
  if (bound.max_active_clusters > 0) {
    text += "; at most " + format_count(bound.max_active_clusters) +
            " clusters at once on the whole GPU";
  }
  print_wrapped(out, "cluster", text + " (" + bound.reason + ")");
}

}  // namespace

void print_occupancy(std::ostream& out, const OccupancyAnswer& a) {
  const Residency& r = a.residency;
  out << a.gpu.display_name << "   " << architecture_name(a.gpu.compute_capability);
  if (a.gpu.sm_count) out << ", " << format_count(*a.gpu.sm_count) << " SMs";
  out << '\n';
  if (a.instance) {
    print_wrapped(out, a.instance->kernel,
                  a.instance->config + ": " + a.instance->shared_formula + " B (" +
                      std::string(to_string(a.instance->shared_provenance)) + "), " +
                      format_count(a.kernel.registers_per_thread) + " registers (" +
                      std::string(to_string(a.instance->registers_provenance)) + ")");
  }
  print_resources(out, a);
  const std::string refusal = describe_refusal(a.gpu, a.kernel, r);
  if (!refusal.empty()) {
    print_wrapped(out, "resident", "0 CTAs: " + refusal);
  } else {
    std::string text = format_count(r.ctas_per_sm) + (r.ctas_per_sm == 1 ? " CTA" : " CTAs") +
                       " = " + format_count(r.resident_warps) + " of " +
                       format_count(a.gpu.sm.max_warps_per_sm) + " warps, " +
                       format_percent(r.theoretical_occupancy) + "; ";
    text += r.warps_per_partition_busiest == r.warps_per_partition_idlest
                ? format_count(r.warps_per_partition_busiest)
                : format_count(r.warps_per_partition_idlest) + " to " +
                      format_count(r.warps_per_partition_busiest);
    text += (r.warps_per_partition_busiest == 1 ? " warp" : " warps");
    print_wrapped(out, "resident", text + " per partition");
    print_wrapped(out, "left over",
                  format_bytes(r.free_shared_bytes) + " of shared memory, " +
                      format_count(r.free_registers) + " registers, " + format_count(r.free_warps) +
                      " warps, " + format_count(r.free_cta_slots) + " CTA slots");
  }
  print_growth(out, a, "next step");
  print_shared_details(out, a);
  print_cluster(out, a);
  for (const std::string& note : a.notes) print_wrapped(out, "note", note);
  print_wrapped(out, "source",
                "limits of the SM: " + std::string(to_string(a.provenance)) +
                    (r.verdict == LaunchVerdict::launches
                         ? "; more resident warps are not always faster: `smtwin predict` weighs "
                           "what they do"
                         : ""));
  print_overrides(out, a.overrides);
}

}  // namespace smtwin
