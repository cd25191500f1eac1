// SPDX-License-Identifier: Apache-2.0
#include "kernels/launch_residency.hpp"

#include <algorithm>
#include <limits>

#include "arch/units.hpp"

namespace smtwin {

std::int64_t launch_ctas_per_sm(const KernelResources& kernel, const SmSpec& sm) {
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int32_t>::max();
  const auto limit = [](std::int64_t capacity, std::int64_t use) {
    return capacity > 0 ? capacity / use : kNoLimit;
  };
  const std::int64_t lanes = std::max(sm.threads_per_warp, 1);
  const std::int64_t warps =
      std::max<std::int64_t>(ceil_div<std::int64_t>(kernel.threads_per_cta, lanes), 1);
  const std::int64_t shared = round_up(
      kernel.static_shared_bytes + kernel.dynamic_shared_bytes + sm.shared_bytes_reserved_per_cta,
      std::max<std::int64_t>(sm.shared_allocation_unit_bytes, 1));
  std::int64_t by_registers = kNoLimit;
  if (sm.registers_per_sm > 0 && sm.partitions_per_sm > 0 && kernel.registers_per_thread > 0) {
    const std::int64_t per_warp =
        round_up<std::int64_t>(kernel.registers_per_thread * lanes,
                               std::max<std::int64_t>(sm.register_allocation_unit, 1));
    by_registers =
        sm.registers_per_sm / sm.partitions_per_sm / per_warp * sm.partitions_per_sm / warps;
  }
  const std::int64_t least =
      std::min({limit(sm.shared_bytes_per_sm, std::max<std::int64_t>(shared, 1)), by_registers,
                limit(sm.max_warps_per_sm, warps), limit(sm.max_ctas_per_sm, 1)});
  return least == kNoLimit ? 1 : least;
}

}  // namespace smtwin
