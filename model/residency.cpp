// SPDX-License-Identifier: Apache-2.0
// The limits of residency and their minimum. Each function below answers for one resource; the
// order of its checks is that of the hardware's launch check. Source: CUDA occupancy calculator
// (toolkit header) read as a specification and compared point by point in tests/oracle.
//
// Searches evaluate this tens of millions of times a second on inputs in no order, where a
// mispredicted branch costs more than the arithmetic. Hence the form: conditions choose operands
// instead of paths, and units that are powers of two (all of them, on every chip so far) divide by
// shift and mask. tests/bench/residency_bench.cpp measures it.
#include "model/residency.hpp"

#include <algorithm>
#include <bit>

#include "arch/units.hpp"

namespace smtwin {
namespace {

template <typename Unsigned>
constexpr bool is_power_of_two(Unsigned unit) {
  return (unit & (unit - 1)) == 0;
}

std::uint32_t divide_by_unit(std::uint32_t x, std::uint32_t unit) {
  return is_power_of_two(unit) ? x >> std::countr_zero(unit) : x / unit;
}

template <typename Unsigned>
Unsigned round_up_to_unit(Unsigned x, Unsigned unit) {
  return is_power_of_two(unit) ? (x + unit - 1) & ~(unit - 1) : round_up(x, unit);
}

// How often `share` fits into `capacity`, or kUnlimited when the resource does not count.
std::int32_t shares(bool counts, std::uint32_t capacity, std::uint32_t share) {
  const std::uint32_t of = counts ? capacity : static_cast<std::uint32_t>(kUnlimited);
  return static_cast<std::int32_t>(of / (counts ? share : 1));
}

std::uint32_t warps_of(const SmSpec& sm, const KernelResources& kernel) {
  const auto threads = static_cast<std::uint32_t>(std::max(kernel.threads_per_cta, 1));
  const auto per_warp = static_cast<std::uint32_t>(sm.threads_per_warp);
  return divide_by_unit(threads + per_warp - 1, per_warp);
}

std::int32_t limit_by_warps(const SmSpec& sm, const KernelResources& kernel, std::uint32_t warps) {
  const bool launches =
      (kernel.threads_per_cta > 0) & (kernel.threads_per_cta <= sm.max_threads_per_cta);
  return shares(true, static_cast<std::uint32_t>(launches ? sm.max_warps_per_sm : 0), warps);
}

// The register file is split into partitions and granted to whole warps in fixed units; a warp
// cannot borrow from a neighbouring partition. The launch check assumes that every partition gets
// the same number of warps, so it rounds the CTA's warps up to the partitions.
std::int32_t limit_by_registers(const SmSpec& sm, const KernelResources& kernel,
                                std::uint32_t warps) {
  const std::int32_t named =
      std::clamp(kernel.registers_per_thread, 1, sm.max_registers_per_thread);
  const std::uint32_t per_warp =
      round_up_to_unit(static_cast<std::uint32_t>(named * sm.threads_per_warp),
                       static_cast<std::uint32_t>(sm.register_allocation_unit));
  const std::uint64_t checked =
      std::uint64_t{per_warp} *
      round_up_to_unit(warps, static_cast<std::uint32_t>(sm.register_check_partitions));
  const bool launches = (kernel.registers_per_thread <= sm.max_registers_per_thread) &
                        (checked <= static_cast<std::uint64_t>(sm.registers_per_cta));
  const auto partitions = static_cast<std::uint32_t>(sm.partitions_per_sm);
  const std::uint32_t per_partition =
      divide_by_unit(static_cast<std::uint32_t>(sm.registers_per_sm), partitions);
  const std::uint32_t warps_with_registers = per_partition / per_warp * partitions;
  return shares(kernel.registers_per_thread > 0, launches ? warps_with_registers : 0, warps);
}

// Smallest carveout that holds `bytes`, or 0 when none does (then nothing is resident). They
// ascend and the unused ones are 0, so the last one seen from above is the smallest.
std::int64_t carveout_for(const SmSpec& sm, std::int64_t bytes) {
  std::int64_t smallest = 0;
  for (std::size_t i = sm.shared_carveouts_bytes.size(); i-- > 0;) {
    const std::int64_t carveout = sm.shared_carveouts_bytes[i];
    smallest = carveout >= bytes ? carveout : smallest;
  }
  return smallest;
}

std::int64_t granted_shared_bytes(const SmSpec& sm, const KernelResources& kernel) {
  const std::int64_t requested =
      saturating_add(kernel.static_shared_bytes, kernel.dynamic_shared_bytes);
  // Far beyond any chip, rounding up would overflow; such a size fits nowhere as it is.
  if (requested > (std::int64_t{1} << 60)) return requested;
  return static_cast<std::int64_t>(
      round_up_to_unit(static_cast<std::uint64_t>(requested + sm.shared_bytes_reserved_per_cta),
                       static_cast<std::uint64_t>(sm.shared_allocation_unit_bytes)));
}

// A preference is raised to what one CTA needs and rounded up to a size the chip has.
std::int64_t carveout_with(const SmSpec& sm, const KernelResources& kernel,
                           std::int64_t allocated) {
  const std::int64_t percent = kernel.carveout_percent < 0 ? 100 : kernel.carveout_percent;
  return carveout_for(sm, std::max(percent * sm.shared_bytes_per_sm / 100, allocated));
}

std::int32_t limit_by_shared(const SmSpec& sm, const KernelResources& kernel) {
  const std::int64_t allocated = granted_shared_bytes(sm, kernel);
  const std::int64_t carveout = carveout_with(sm, kernel, allocated);
  const bool launches =
      allocated <= shared_limit_per_cta(sm, kernel) + sm.shared_bytes_reserved_per_cta;
  const std::int64_t capacity = allocated == 0 ? kUnlimited : launches ? carveout : 0;
  const std::int64_t count = capacity / std::max<std::int64_t>(allocated, 1);
  return static_cast<std::int32_t>(std::min<std::int64_t>(count, kUnlimited));
}

// A capacity of 0 in the data means that this chip does not count the resource.
std::int32_t limit_by_count(std::int32_t capacity, std::int32_t used) {
  return shares((capacity > 0) & (used > 0), static_cast<std::uint32_t>(capacity),
                static_cast<std::uint32_t>(used));
}

inline ResidencyLimits limits_of(const SmSpec& sm, const KernelResources& kernel) {
  const std::uint32_t warps = warps_of(sm, kernel);
  return {.warps = limit_by_warps(sm, kernel, warps),
          .registers = limit_by_registers(sm, kernel, warps),
          .shared_memory = limit_by_shared(sm, kernel),
          .cta_slots = sm.max_ctas_per_sm,
          .barriers = limit_by_count(sm.barriers_per_sm, kernel.barriers_per_cta),
          .virtual_resources =
              limit_by_count(sm.virtual_resources_per_sm, kernel.virtual_resources_per_cta)};
}

}  // namespace

std::int64_t allocated_shared_bytes(const SmSpec& sm, const KernelResources& kernel) {
  return granted_shared_bytes(sm, kernel);
}

std::int64_t shared_limit_per_cta(const SmSpec& sm, const KernelResources& kernel) {
  return kernel.shared_opt_in ? sm.shared_bytes_per_cta_optin : sm.shared_bytes_per_cta_default;
}

std::int64_t carveout_in_force(const SmSpec& sm, const KernelResources& kernel) {
  return carveout_with(sm, kernel, granted_shared_bytes(sm, kernel));
}

ResidencyLimits residency_limits(const SmSpec& sm, const KernelResources& kernel) {
  return limits_of(sm, kernel);
}

ResidentCtas resident_ctas(const SmSpec& sm, const KernelResources& kernel) {
  const ResidencyLimits limits = limits_of(sm, kernel);
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
    case LaunchVerdict::barriers_exceed_sm_limit:
      return "barriers_exceed_sm_limit";
    case LaunchVerdict::virtual_resources_exceed_sm_limit:
      return "virtual_resources_exceed_sm_limit";
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
