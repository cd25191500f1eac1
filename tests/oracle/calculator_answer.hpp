// SPDX-License-Identifier: Apache-2.0
// One answer of the toolkit's occupancy calculator, and what it takes for our model to agree with
// it. Shared by the live comparison (residency_oracle_test.cpp) and the committed answers
// (occupancy_answers_test.cpp).
#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include "model/residency.hpp"

namespace smtwin::oracle {

struct CalculatorAnswer {
  std::int32_t ctas_per_sm = 0;
  std::uint8_t limiting_factors = 0;  // bits as in Limiter
  ResidencyLimits limits;
  std::int64_t registers_per_cta = 0;
  std::int64_t shared_bytes_per_cta = 0;
};

// The calculator adds barriers after it has formed the set of limiting factors: where barriers
// alone are the tightest, it still reports the runners-up of before. Ours is the set whose limit
// equals the minimum, which this derives from the calculator's own limits. `reported` is what the
// calculator itself must then say, so that the difference stays confined to this one rule.
struct LimiterRule {
  std::uint8_t tightest = 0;
  std::uint8_t reported = 0;
};

inline LimiterRule limiter_rule(const ResidencyLimits& limits) {
  const auto at = [&limits](std::int32_t count) {
    const auto bit = [count](std::int32_t limit, Limiter limiter) {
      return limit == count ? static_cast<unsigned>(limiter) : 0U;
    };
    return bit(limits.warps, Limiter::warps) | bit(limits.registers, Limiter::registers) |
           bit(limits.shared_memory, Limiter::shared_memory) |
           bit(limits.cta_slots, Limiter::cta_slots) |
           bit(limits.virtual_resources, Limiter::virtual_resources);
  };
  const std::int32_t without_barriers =
      std::min({limits.warps, limits.registers, limits.shared_memory, limits.cta_slots,
                limits.virtual_resources});
  const std::int32_t least = std::min(without_barriers, limits.barriers);
  const unsigned barriers = limits.barriers == least ? static_cast<unsigned>(Limiter::barriers) : 0;
  return {static_cast<std::uint8_t>(at(least) | barriers),
          static_cast<std::uint8_t>(at(without_barriers) | barriers)};
}

// Empty when the model agrees in every number; else the first one that differs.
inline std::string difference(const SmSpec& sm, const KernelResources& kernel,
                              const CalculatorAnswer& expected) {
  std::string found;
  const auto check = [&found](const char* what, std::int64_t ours, std::int64_t theirs) {
    if (ours == theirs || !found.empty()) return;
    found = std::string(what) + " " + std::to_string(ours) + ", the calculator says " +
            std::to_string(theirs);
  };
  const ResidentCtas resident = resident_ctas(sm, kernel);
  const ResidencyLimits limits = residency_limits(sm, kernel);
  const LimiterRule rule = limiter_rule(expected.limits);
  check("CTAs", resident.ctas_per_sm, expected.ctas_per_sm);
  check("limiter set", resident.limiters.bits(), rule.tightest);
  check("calculator's limiting factors", rule.reported, expected.limiting_factors);
  check("warp limit", limits.warps, expected.limits.warps);
  check("register limit", limits.registers, expected.limits.registers);
  check("shared-memory limit", limits.shared_memory, expected.limits.shared_memory);
  check("CTA-slot limit", limits.cta_slots, expected.limits.cta_slots);
  check("barrier limit", limits.barriers, expected.limits.barriers);
  check("virtual-resource limit", limits.virtual_resources, expected.limits.virtual_resources);
  check("shared bytes per CTA", allocated_shared_bytes(sm, kernel), expected.shared_bytes_per_cta);
  return found;
}

// The numbers that only the full answer has; slower, so asked on a part of the points.
inline std::string difference_in_full(const GpuSpec& gpu, const KernelResources& kernel,
                                      const CalculatorAnswer& expected) {
  const Residency full = residency(gpu, kernel);
  std::ostringstream found;
  if (full.registers_per_cta != expected.registers_per_cta) {
    found << "registers per CTA " << full.registers_per_cta << ", the calculator says "
          << expected.registers_per_cta;
  } else if (full.ctas_per_sm != expected.ctas_per_sm) {
    found << "CTAs of the full answer " << full.ctas_per_sm << " (" << to_string(full.verdict)
          << "), the calculator says " << expected.ctas_per_sm;
  }
  return found.str();
}

inline std::string describe(const GpuSpec& gpu, const KernelResources& k) {
  std::ostringstream text;
  text << gpu.name << ": threads " << k.threads_per_cta << ", registers " << k.registers_per_thread
       << ", static " << k.static_shared_bytes << ", dynamic " << k.dynamic_shared_bytes
       << ", barriers " << k.barriers_per_cta << ", virtual " << k.virtual_resources_per_cta
       << ", carveout " << k.carveout_percent << ", opt-in " << k.shared_opt_in;
  return text.str();
}

}  // namespace smtwin::oracle
