// SPDX-License-Identifier: Apache-2.0
// The full residency answer around the limits of residency.cpp: why a launch is refused, what is
// left over, which change reaches the next CTA count, what clusters add.
#include <algorithm>

#include "arch/units.hpp"
#include "model/residency.hpp"

namespace smtwin {
namespace {

// SASS names a register with 8 bits and 255 is the zero register, so no compiler uses more.
constexpr std::int32_t kMostNamableRegisters = 255;
constexpr std::int32_t kCliffCounts = 3;  // how many larger CTA counts are looked at

std::int64_t registers_per_warp(const SmSpec& sm, std::int32_t registers_per_thread) {
  return round_up<std::int64_t>(
      std::int64_t{std::max(registers_per_thread, 0)} * sm.threads_per_warp,
      sm.register_allocation_unit);
}

// Largest CTA, in threads, that `accepts` allows, searching down from `most_warps` whole warps.
template <typename Accepts>
std::int32_t largest_cta(const SmSpec& sm, KernelResources kernel, std::int32_t most_warps,
                         Accepts accepts) {
  for (std::int32_t warps = most_warps; warps >= 1; --warps) {
    kernel.threads_per_cta = warps * sm.threads_per_warp;
    if (accepts(kernel)) return kernel.threads_per_cta;
  }
  return 0;
}

bool exceeds_function_bound(const KernelResources& kernel) {
  return kernel.function_max_threads_per_cta > 0 &&
         kernel.threads_per_cta > kernel.function_max_threads_per_cta;
}

bool exceeds_cluster_limit(const SmSpec& sm, const KernelResources& kernel) {
  return kernel.cluster_ctas >
         sm.max_cluster_ctas_nonportable.value_or(sm.max_cluster_ctas_portable);
}

LaunchVerdict verdict_of(const SmSpec& sm, const KernelResources& kernel,
                         const ResidencyLimits& limits) {
  const std::int64_t requested =
      saturating_add(kernel.static_shared_bytes, kernel.dynamic_shared_bytes);
  if (kernel.threads_per_cta <= 0 || kernel.threads_per_cta > sm.max_threads_per_cta) {
    return LaunchVerdict::threads_exceed_cta_limit;
  }
  if (exceeds_function_bound(kernel)) {
    return LaunchVerdict::threads_exceed_function_limit;
  }
  if (kernel.registers_per_thread > sm.max_registers_per_thread) {
    return LaunchVerdict::registers_exceed_thread_limit;
  }
  if (limits.registers == 0) return LaunchVerdict::registers_exceed_cta_limit;
  if (requested > sm.shared_bytes_per_cta_optin) return LaunchVerdict::shared_exceeds_cta_limit;
  if (requested > sm.shared_bytes_per_cta_default && !kernel.shared_opt_in) {
    return LaunchVerdict::shared_needs_opt_in;
  }
  if (limits.shared_memory == 0) return LaunchVerdict::shared_exceeds_cta_limit;
  if (limits.barriers == 0) return LaunchVerdict::barriers_exceed_sm_limit;
  if (limits.virtual_resources == 0) return LaunchVerdict::virtual_resources_exceed_sm_limit;
  if (exceeds_cluster_limit(sm, kernel)) {
    return LaunchVerdict::cluster_exceeds_limit;
  }
  return LaunchVerdict::launches;
}

void add_cliffs(const SmSpec& sm, const KernelResources& kernel, Residency& r) {
  const std::int32_t last = std::min(r.ctas_per_sm + kCliffCounts, sm.max_ctas_per_sm);
  for (std::int32_t ctas = r.ctas_per_sm + 1; ctas <= last; ++ctas) {
    const auto reaches = [&](const KernelResources& changed) {
      return resident_ctas(sm, changed).ctas_per_sm >= ctas;
    };
    if (r.limits.shared_memory < ctas) {
      const std::int64_t at_most = max_shared_bytes_for(sm, ctas, kernel.carveout_percent);
      KernelResources changed = kernel;
      // The static part is compiled in; only when it alone is too large must it shrink as well.
      changed.static_shared_bytes =
          std::min(kernel.static_shared_bytes, std::max<std::int64_t>(at_most, 0));
      changed.dynamic_shared_bytes =
          std::max<std::int64_t>(at_most, 0) - changed.static_shared_bytes;
      changed.shared_opt_in = true;
      r.cliffs.push_back({Limiter::shared_memory, ctas, at_most, r.shared_bytes_requested - at_most,
                          at_most >= 0 && reaches(changed)});
    }
    if (r.limits.registers < ctas) {
      const std::int32_t at_most = max_registers_for(sm, kernel.threads_per_cta, ctas);
      KernelResources changed = kernel;
      changed.registers_per_thread = at_most;
      r.cliffs.push_back({Limiter::registers, ctas, at_most, kernel.registers_per_thread - at_most,
                          at_most > 0 && reaches(changed)});
    }
    if (r.limits.barriers < ctas) {
      KernelResources changed = kernel;
      changed.barriers_per_cta = sm.barriers_per_sm / ctas;
      r.cliffs.push_back({Limiter::barriers, ctas, changed.barriers_per_cta,
                          kernel.barriers_per_cta - changed.barriers_per_cta,
                          changed.barriers_per_cta > 0 && reaches(changed)});
    }
    if (r.limits.warps < ctas || r.limits.registers < ctas) {
      const std::int32_t at_most = largest_cta(
          sm, kernel, std::min(r.warps_per_cta, sm.max_threads_per_cta / sm.threads_per_warp),
          reaches);
      r.cliffs.push_back(
          {Limiter::warps, ctas, at_most, kernel.threads_per_cta - at_most, at_most > 0});
    }
  }
}

ClusterBound cluster_bound(const GpuSpec& gpu, const KernelResources& kernel,
                           std::int32_t ctas_per_sm) {
  ClusterBound bound;
  if (kernel.cluster_ctas <= 1) return bound;
  bound.applies = true;
  bound.portable = kernel.cluster_ctas <= gpu.sm.max_cluster_ctas_portable;
  if (!gpu.sm_count) {
    bound.reason = "the number of SMs is not known for this GPU";
    return bound;
  }
  const std::int64_t slots = std::int64_t{*gpu.sm_count} * ctas_per_sm;
  bound.max_active_clusters = slots / kernel.cluster_ctas;
  bound.reason =
      "a cluster must fit in one GPC, and how many SMs each GPC of this product has enabled is "
      "not published: the driver's answer can be lower";
  if (gpu.sms_per_gpc && *gpu.sms_per_gpc > 0) {
    const std::int64_t gpcs = ceil_div(*gpu.sm_count, *gpu.sms_per_gpc);
    const std::int64_t per_gpc = std::int64_t{*gpu.sms_per_gpc} * ctas_per_sm / kernel.cluster_ctas;
    bound.max_active_clusters = std::min(bound.max_active_clusters, gpcs * per_gpc);
  }
  return bound;
}

}  // namespace

bool refused_outside_sm(const SmSpec& sm, const KernelResources& kernel) {
  return exceeds_function_bound(kernel) || exceeds_cluster_limit(sm, kernel);
}

std::int64_t max_shared_bytes_for(const SmSpec& sm, std::int32_t ctas,
                                  std::int32_t carveout_percent) {
  if (ctas <= 0) return -1;
  // Which carveout is in force depends on what one CTA takes, so each is tried for the sizes that
  // select it: those up to it for the preferred one, those above the step before for the others.
  const KernelResources empty{.carveout_percent = carveout_percent};
  const std::int64_t preferred = carveout_in_force(sm, empty);
  std::int64_t best = -1;
  std::int64_t step_before = 0;
  for (int i = 0; i < sm.shared_carveout_count; ++i) {
    const std::int64_t carveout = sm.shared_carveouts_bytes[static_cast<std::size_t>(i)];
    const std::int64_t above = carveout <= preferred ? -1 : step_before;
    step_before = carveout;
    if (carveout < preferred) continue;
    const std::int64_t unit = sm.shared_allocation_unit_bytes;
    const std::int64_t allocated = std::min(carveout / ctas, sm.shared_bytes_per_cta_optin +
                                                                 sm.shared_bytes_reserved_per_cta) /
                                   unit * unit;
    if (allocated > above) best = std::max(best, allocated - sm.shared_bytes_reserved_per_cta);
  }
  return best;
}

std::int32_t max_registers_for(const SmSpec& sm, std::int32_t threads, std::int32_t ctas) {
  if (threads <= 0 || ctas <= 0) return 0;
  const KernelResources empty{.threads_per_cta = threads};
  for (std::int32_t registers = std::min(kMostNamableRegisters, sm.max_registers_per_thread);
       registers > 0; --registers) {
    KernelResources kernel = empty;
    kernel.registers_per_thread = registers;
    if (residency_limits(sm, kernel).registers >= ctas) return registers;
  }
  return 0;
}

Residency residency(const GpuSpec& gpu, const KernelResources& kernel) {
  const SmSpec& sm = gpu.sm;
  Residency r;
  r.limits = residency_limits(sm, kernel);
  r.verdict = verdict_of(sm, kernel, r.limits);
  const ResidentCtas resident = resident_ctas(sm, kernel);
  r.limiters = resident.limiters;
  r.ctas_per_sm = r.verdict == LaunchVerdict::launches ? resident.ctas_per_sm : 0;

  r.warps_per_cta = ceil_div(std::max(kernel.threads_per_cta, 1), sm.threads_per_warp);
  const std::int64_t per_warp = registers_per_warp(sm, kernel.registers_per_thread);
  r.registers_per_warp = static_cast<std::int32_t>(per_warp);
  r.registers_per_cta = per_warp * r.warps_per_cta;
  r.shared_bytes_requested =
      saturating_add(kernel.static_shared_bytes, kernel.dynamic_shared_bytes);
  r.shared_bytes_allocated = allocated_shared_bytes(sm, kernel);
  r.shared_opt_in_required = r.shared_bytes_requested > sm.shared_bytes_per_cta_default;
  const std::int64_t limit =
      kernel.shared_opt_in ? sm.shared_bytes_per_cta_optin : sm.shared_bytes_per_cta_default;
  r.shared_bytes_over_limit = std::max<std::int64_t>(0, r.shared_bytes_requested - limit);

  r.resident_warps = r.ctas_per_sm * r.warps_per_cta;
  r.theoretical_occupancy = static_cast<double>(r.resident_warps) / sm.max_warps_per_sm;
  r.warps_per_partition_busiest = ceil_div(r.resident_warps, sm.partitions_per_sm);
  r.warps_per_partition_idlest = r.resident_warps / sm.partitions_per_sm;
  r.carveout_bytes = carveout_in_force(sm, kernel);
  if (sm.l1_and_shared_bytes_per_sm > 0) {
    r.l1_bytes = std::max<std::int64_t>(0, sm.l1_and_shared_bytes_per_sm - r.carveout_bytes);
  }
  const std::int64_t shared_in_use = saturating_mul(r.ctas_per_sm, r.shared_bytes_allocated);
  r.carveout_smallest_bytes = r.carveout_bytes;
  for (int i = sm.shared_carveout_count - 1; i >= 0; --i) {
    const std::int64_t carveout = sm.shared_carveouts_bytes[static_cast<std::size_t>(i)];
    if (carveout >= shared_in_use) r.carveout_smallest_bytes = carveout;
  }
  r.free_warps = sm.max_warps_per_sm - r.resident_warps;
  r.free_registers = sm.registers_per_sm - r.ctas_per_sm * r.registers_per_cta;
  r.free_shared_bytes = std::max<std::int64_t>(0, r.carveout_bytes - shared_in_use);
  r.free_cta_slots = sm.max_ctas_per_sm - r.ctas_per_sm;

  const std::int32_t most_warps = sm.max_threads_per_cta / sm.threads_per_warp;
  r.max_threads_at_these_registers =
      largest_cta(sm, kernel, most_warps,
                  [&](const KernelResources& k) { return residency_limits(sm, k).registers > 0; });
  if (r.ctas_per_sm > 0) {
    r.max_threads_keeping_ctas = std::max(
        kernel.threads_per_cta, largest_cta(sm, kernel, most_warps, [&](const KernelResources& k) {
          return resident_ctas(sm, k).ctas_per_sm >= r.ctas_per_sm;
        }));
  }
  add_cliffs(sm, kernel, r);
  r.cluster = cluster_bound(gpu, kernel, r.ctas_per_sm);
  return r;
}

}  // namespace smtwin
