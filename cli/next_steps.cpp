// SPDX-License-Identifier: Apache-2.0
#include "cli/next_steps.hpp"

#include <algorithm>

#include "arch/units.hpp"
#include "cli/kernel_choice.hpp"
#include "cli/report.hpp"

namespace smtwin {
namespace {

const Cliff* find_cliff(const Residency& r, Limiter resource, std::int32_t ctas) {
  const auto found = std::find_if(r.cliffs.begin(), r.cliffs.end(), [&](const Cliff& c) {
    return c.resource == resource && c.ctas == ctas;
  });
  return found == r.cliffs.end() ? nullptr : &*found;
}

// Occupancy is counted in whole warps of the CTA that the step leads to.
double occupancy_of(const SmSpec& sm, std::int32_t ctas, std::int64_t threads) {
  const auto warps = ceil_div<std::int64_t>(threads, sm.threads_per_warp);
  return static_cast<double>(ctas * warps) / sm.max_warps_per_sm;
}

std::string describe(const Need& need) {
  const std::string less = need.reduce_by == 0 ? "" : ", " + format_count(need.reduce_by);
  switch (need.resource) {
    case Limiter::shared_memory:
      return "<= " + format_bytes(need.at_most) + " of shared memory" + less +
             (less.empty() ? "" : " B less");
    case Limiter::registers:
      return "<= " + format_count(need.at_most) + " registers per thread" + less +
             (less.empty() ? "" : " less");
    case Limiter::barriers:
      return "<= " + format_count(need.at_most) + " barriers per CTA" + less +
             (less.empty() ? "" : " less");
    default:
      return "<= " + format_count(need.at_most) + " threads per CTA" + less +
             (less.empty() ? "" : " less");
  }
}

}  // namespace

std::vector<NextStep> next_steps(const SmSpec& sm, const KernelResources& kernel,
                                 const Residency& r) {
  std::vector<NextStep> steps;
  switch (r.verdict) {
    case LaunchVerdict::threads_exceed_cta_limit:
    case LaunchVerdict::threads_exceed_function_limit:
    case LaunchVerdict::registers_exceed_thread_limit:
    case LaunchVerdict::cluster_exceeds_limit:
      return steps;  // nothing below matters before that is mended; the refusal says how
    case LaunchVerdict::shared_needs_opt_in: {
      KernelResources opted_in = kernel;
      opted_in.shared_opt_in = true;
      const std::int32_t ctas = resident_ctas(sm, opted_in).ctas_per_sm;
      steps.push_back({.ctas = ctas,
                       .theoretical_occupancy = occupancy_of(sm, ctas, kernel.threads_per_cta),
                       .needs = {},
                       .already_allow = {}});
      break;
    }
    default:
      break;
  }
  std::vector<std::int32_t> counts;
  for (const Cliff& cliff : r.cliffs) {
    if (counts.empty() || counts.back() != cliff.ctas) counts.push_back(cliff.ctas);
  }
  for (const std::int32_t ctas : counts) {
    if (r.limits.virtual_resources < ctas) continue;
    if (const Cliff* barriers = find_cliff(r, Limiter::barriers, ctas)) {
      if (barriers->sufficient) {
        steps.push_back({.ctas = ctas,
                         .theoretical_occupancy = occupancy_of(sm, ctas, kernel.threads_per_cta),
                         .needs = {{Limiter::barriers, barriers->at_most, barriers->reduce_by}},
                         .already_allow = {}});
      }
      continue;
    }
    // Fewer threads is a way of its own where it suffices: warps and registers both shrink.
    const Cliff* threads = find_cliff(r, Limiter::warps, ctas);
    const bool by_threads_alone = threads != nullptr && threads->sufficient;
    if (r.limits.warps >= ctas) {
      NextStep step{.ctas = ctas,
                    .theoretical_occupancy = occupancy_of(sm, ctas, kernel.threads_per_cta),
                    .needs = {},
                    .already_allow = {}};
      bool possible = true;
      for (const Limiter resource : {Limiter::shared_memory, Limiter::registers}) {
        const Cliff* cliff = find_cliff(r, resource, ctas);
        if (cliff == nullptr) {
          step.already_allow.push_back(resource);
          continue;
        }
        possible = possible && cliff->at_most >= (resource == Limiter::registers ? 1 : 0);
        Need need{resource, cliff->at_most, cliff->reduce_by};
        if (resource == Limiter::shared_memory && !kernel.shared_opt_in &&
            need.at_most > sm.shared_bytes_per_cta_default) {
          // Without opt-in the default limit comes first.
          need.at_most = sm.shared_bytes_per_cta_default;
          need.reduce_by = r.shared_bytes_requested - need.at_most;
        }
        step.needs.push_back(need);
      }
      if (possible && !step.needs.empty()) steps.push_back(step);
    }
    if (by_threads_alone) {
      steps.push_back({.ctas = ctas,
                       .theoretical_occupancy = occupancy_of(sm, ctas, threads->at_most),
                       .needs = {{Limiter::warps, threads->at_most, threads->reduce_by}},
                       .already_allow = {}});
    }
  }
  // Of several counts that the same change reaches, the largest.
  std::vector<NextStep> distinct;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool superseded =
        std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(i) + 1, steps.end(),
                    [&](const NextStep& later) {
                      return !later.needs.empty() && later.needs == steps[i].needs;
                    });
    if (!superseded) distinct.push_back(steps[i]);
  }
  return distinct;
}

std::string describe(const NextStep& step) {
  std::string text = format_count(step.ctas) + (step.ctas == 1 ? " CTA (" : " CTAs (") +
                     format_percent(step.theoretical_occupancy) + ")";
  if (step.needs.empty()) return text + " with opt-in, nothing else changed";
  text += step.needs.size() == 1 ? " at " : step.ctas == 1 ? " needs both " : " need both ";
  for (std::size_t i = 0; i < step.needs.size(); ++i) {
    text += (i ? ", and " : "") + describe(step.needs[i]);
  }
  if (step.needs.size() == 1 && !step.already_allow.empty()) {
    text += "; " + label(step.already_allow.front()) + " already allow" +
            (step.already_allow.front() == Limiter::shared_memory ? "s " : " ") +
            format_count(step.ctas);
  }
  return text;
}

std::string describe_refusal(const GpuSpec& gpu, const KernelResources& kernel,
                             const Residency& r) {
  const SmSpec& sm = gpu.sm;
  switch (r.verdict) {
    case LaunchVerdict::launches:
      return "";
    case LaunchVerdict::threads_exceed_cta_limit:
      return "does not launch: " + format_count(kernel.threads_per_cta) +
             " threads, a CTA has 1 to " + format_count(sm.max_threads_per_cta);
    case LaunchVerdict::threads_exceed_function_limit:
      return "does not launch: " + format_count(kernel.threads_per_cta) +
             " threads, but the function was compiled for at most " +
             format_count(kernel.function_max_threads_per_cta) +
             " (its launch bounds); launch fewer or compile it for more";
    case LaunchVerdict::registers_exceed_thread_limit:
      return "does not launch: " + format_count(kernel.registers_per_thread) +
             " registers per thread, the most a launch accepts is " +
             format_count(sm.max_registers_per_thread);
    case LaunchVerdict::registers_exceed_cta_limit: {
      const std::int32_t fewer = max_registers_for(sm, kernel.threads_per_cta, 1);
      return "does not launch (\"too many resources requested\"): " +
             format_count(r.warps_per_cta) + " warps x " + format_count(r.registers_per_warp) +
             " = " + format_count(r.registers_per_cta) + " registers, a CTA can have " +
             format_count(sm.registers_per_cta) +
             "; launches with <= " + format_count(r.max_threads_at_these_registers) +
             " threads at these registers, or <= " + format_count(fewer) +
             " registers per thread at these threads";
    }
    case LaunchVerdict::shared_needs_opt_in:
      return "does not launch without opt-in: " + format_bytes(r.shared_bytes_requested) +
             " of shared memory fit, but are more than the default limit of " +
             format_bytes(sm.shared_bytes_per_cta_default) +
             "; set cudaFuncAttributeMaxDynamicSharedMemorySize (up to " +
             format_bytes(sm.shared_bytes_per_cta_optin) + "), or ask for " +
             format_bytes(r.shared_bytes_requested - sm.shared_bytes_per_cta_default) + " less";
    case LaunchVerdict::shared_exceeds_cta_limit: {
      // The request, or what it becomes in allocation units, is over; both against one limit.
      const std::int64_t most = sm.shared_bytes_per_cta_optin;
      const std::int64_t taken = r.shared_bytes_requested > most
                                     ? r.shared_bytes_requested
                                     : r.shared_bytes_allocated - sm.shared_bytes_reserved_per_cta;
      return "does not fit: " + format_bytes(taken) + " of shared memory, " +
             format_bytes(taken - most) + " over the " + format_bytes(most) +
             " one CTA can have on " + architecture_name(gpu.compute_capability) +
             " (on-chip memory, not VRAM)";
    }
    case LaunchVerdict::barriers_exceed_sm_limit:
      return "does not launch: " + format_count(kernel.barriers_per_cta) +
             " barriers in a CTA, an SM has " + format_count(sm.barriers_per_sm) + "; name fewer";
    case LaunchVerdict::virtual_resources_exceed_sm_limit:
      return "does not launch: " + format_count(kernel.virtual_resources_per_cta) +
             " virtual resources in a CTA, an SM has " + format_count(sm.virtual_resources_per_sm) +
             "; use fewer";
    case LaunchVerdict::cluster_exceeds_limit:
      if (!sm.max_cluster_ctas_nonportable) {
        return "does not launch: a cluster of " + format_count(kernel.cluster_ctas) +
               " CTAs, the portable most is " + format_count(sm.max_cluster_ctas_portable) +
               " and more is not known to work on this chip (--set "
               "sm.max_cluster_ctas_nonportable=N if yours does)";
      }
      return "does not launch: a cluster of " + format_count(kernel.cluster_ctas) +
             " CTAs, this chip allows " + format_count(*sm.max_cluster_ctas_nonportable) +
             " with the non-portable attribute and " + format_count(sm.max_cluster_ctas_portable) +
             " without";
  }
  return "";
}

}  // namespace smtwin
