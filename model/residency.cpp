// SPDX-License-Identifier: Apache-2.0
// The limits of residency and their minimum. Each function below answers for one resource; the
// order of its checks is that of the hardware's launch check. Source: CUDA occupancy calculator
// (toolkit header) read as a specification and compared point by point in tests/oracle.
#include "model/residency.hpp"

#include <algorithm>

#include "arch/units.hpp"

namespace smtwin {
namespace {

std::int32_t warps_of(const SmSpec& sm, const KernelResources& kernel) {
  return std::max(1, ceil_div(std::max(kernel.threads_per_cta, 1), sm.threads_per_warp));
}

std::int32_t limit_by_warps(const SmSpec& sm, const KernelResources& kernel, std::int32_t warps) {
  if (kernel.threads_per_cta <= 0 || kernel.threads_per_cta > sm.max_threads_per_cta) return 0;
  return sm.max_warps_per_sm / warps;
}

// The register file is split into partitions and granted to whole warps in fixed units; a warp
// cannot borrow from a neighbouring partition. The launch check assumes that every partition gets
// the same number of warps, so it rounds the CTA's warps up to the partitions.
std::int32_t limit_by_registers(const SmSpec& sm, const KernelResources& kernel,
                                std::int32_t warps) {
  if (kernel.registers_per_thread > sm.max_registers_per_thread) return 0;
  if (kernel.registers_per_thread <= 0) return kUnlimited;
  const std::int64_t per_warp = round_up<std::int64_t>(
      std::int64_t{kernel.registers_per_thread} * sm.threads_per_warp, sm.register_allocation_unit);
  for (const std::int32_t partitions : {sm.partitions_per_sm, sm.register_check_partitions}) {
    if (per_warp * round_up(warps, partitions) > sm.registers_per_cta) return 0;
  }
  const auto warps_with = [&](std::int32_t partitions) {
    return static_cast<std::int32_t>(sm.registers_per_sm / partitions / per_warp) * partitions;
  };
  if (sm.register_check_partitions != sm.partitions_per_sm &&
      warps_with(sm.register_check_partitions) < warps) {
    return 0;
  }
  return warps_with(sm.partitions_per_sm) / warps;
}

// Smallest carveout that holds `bytes`, or 0 when none does (then nothing is resident).
std::int64_t carveout_for(const SmSpec& sm, std::int64_t bytes) {
  for (int i = 0; i < sm.shared_carveout_count; ++i) {
    if (sm.shared_carveouts_bytes[static_cast<std::size_t>(i)] >= bytes) {
      return sm.shared_carveouts_bytes[static_cast<std::size_t>(i)];
    }
  }
  return 0;
}

std::int32_t limit_by_shared(const SmSpec& sm, const KernelResources& kernel) {
  const std::int64_t allocated = allocated_shared_bytes(sm, kernel);
  if (allocated > shared_limit_per_cta(sm, kernel) + sm.shared_bytes_reserved_per_cta) return 0;
  if (allocated == 0) return kUnlimited;
  const std::int64_t count = carveout_in_force(sm, kernel) / allocated;
  return static_cast<std::int32_t>(std::min<std::int64_t>(count, kUnlimited));
}

// A capacity of 0 in the data means that this chip does not count the resource.
std::int32_t limit_by_count(std::int32_t capacity, std::int32_t used) {
  return capacity <= 0 || used <= 0 ? kUnlimited : capacity / used;
}

}  // namespace

std::int64_t allocated_shared_bytes(const SmSpec& sm, const KernelResources& kernel) {
  const std::int64_t requested =
      saturating_add(kernel.static_shared_bytes, kernel.dynamic_shared_bytes);
  // Far beyond any chip, rounding up would overflow; such a size fits nowhere as it is.
  if (requested > (std::int64_t{1} << 60)) return requested;
  return round_up(requested + sm.shared_bytes_reserved_per_cta, sm.shared_allocation_unit_bytes);
}

std::int64_t shared_limit_per_cta(const SmSpec& sm, const KernelResources& kernel) {
  const std::int64_t with_reserve =
      saturating_add(saturating_add(kernel.static_shared_bytes, kernel.dynamic_shared_bytes),
                     sm.shared_bytes_reserved_per_cta);
  return kernel.shared_opt_in && with_reserve > sm.shared_bytes_per_cta_default
             ? sm.shared_bytes_per_cta_optin
             : sm.shared_bytes_per_cta_default;
}

// A preference is rounded up to a size the chip has, and raised to what one CTA needs.
std::int64_t carveout_in_force(const SmSpec& sm, const KernelResources& kernel) {
  const std::int64_t preferred =
      kernel.carveout_percent < 0
          ? sm.shared_bytes_per_sm
          : std::int64_t{kernel.carveout_percent} * sm.shared_bytes_per_sm / 100;
  const std::int64_t allocated = allocated_shared_bytes(sm, kernel);
  const std::int64_t step = carveout_for(sm, preferred);
  return step >= allocated ? step : carveout_for(sm, allocated);
}

ResidencyLimits residency_limits(const SmSpec& sm, const KernelResources& kernel) {
  const std::int32_t warps = warps_of(sm, kernel);
  return {.warps = limit_by_warps(sm, kernel, warps),
          .registers = limit_by_registers(sm, kernel, warps),
          .shared_memory = limit_by_shared(sm, kernel),
          .cta_slots = sm.max_ctas_per_sm,
          .barriers = limit_by_count(sm.barriers_per_sm, kernel.barriers_per_cta),
          .virtual_resources =
              limit_by_count(sm.virtual_resources_per_sm, kernel.virtual_resources_per_cta)};
}

ResidentCtas resident_ctas(const SmSpec& sm, const KernelResources& kernel) {
  const ResidencyLimits limits = residency_limits(sm, kernel);
  const std::int32_t least =
      std::min({limits.warps, limits.registers, limits.shared_memory, limits.cta_slots,
                limits.barriers, limits.virtual_resources});
  const auto bit = [least](std::int32_t limit, Limiter limiter) {
    return static_cast<std::uint8_t>(limit == least ? static_cast<std::uint8_t>(limiter) : 0);
  };
  return {least,
          LimiterSet(static_cast<std::uint8_t>(
              bit(limits.warps, Limiter::warps) | bit(limits.registers, Limiter::registers) |
              bit(limits.shared_memory, Limiter::shared_memory) |
              bit(limits.cta_slots, Limiter::cta_slots) | bit(limits.barriers, Limiter::barriers) |
              bit(limits.virtual_resources, Limiter::virtual_resources)))};
}

std::string_view to_string(Limiter limiter) {
  switch (limiter) {
    case Limiter::warps:
      return "warps";
    case Limiter::registers:
      return "registers";
    case Limiter::shared_memory:
      return "shared_memory";
    case Limiter::cta_slots:
      return "cta_slots";
    case Limiter::barriers:
      return "barriers";
    case Limiter::virtual_resources:
      return "virtual_resources";
  }
  return "unknown";
}

std::string_view to_string(LaunchVerdict verdict) {
  switch (verdict) {
    case LaunchVerdict::launches:
      return "launches";
    case LaunchVerdict::threads_exceed_cta_limit:
      return "threads_exceed_cta_limit";
    case LaunchVerdict::threads_exceed_function_limit:
      return "threads_exceed_function_limit";
    case LaunchVerdict::registers_exceed_thread_limit:
      return "registers_exceed_thread_limit";
    case LaunchVerdict::registers_exceed_cta_limit:
      return "registers_exceed_cta_limit";
    case LaunchVerdict::shared_needs_opt_in:
      return "shared_needs_opt_in";
    case LaunchVerdict::shared_exceeds_cta_limit:
      return "shared_exceeds_cta_limit";
    case LaunchVerdict::cluster_exceeds_limit:
      return "cluster_exceeds_limit";
  }
  return "unknown";
}

std::vector<Limiter> LimiterSet::members() const {
  std::vector<Limiter> found;
  for (const Limiter l : {Limiter::shared_memory, Limiter::registers, Limiter::warps,
                          Limiter::cta_slots, Limiter::barriers, Limiter::virtual_resources}) {
    if (contains(l)) found.push_back(l);
  }
  return found;
}

}  // namespace smtwin
