// SPDX-License-Identifier: Apache-2.0
// Deterministic kernels to ask about: uniform draws mixed with sizes next to every threshold of the
// chip, where rounding rules differ. No library distribution is used, because their sequences vary
// between standard libraries.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "kernels/kernel_resources.hpp"

namespace smtwin::oracle {

// Every compute capability that the toolkit's calculator (CUDA 13.0) tells apart.
inline const std::vector<const char*>& compute_capabilities() {
  static const std::vector<const char*> names{
      "sm-35",  "sm-37",  "sm-50",  "sm-52",  "sm-53",  "sm-60", "sm-61", "sm-62",
      "sm-70",  "sm-72",  "sm-75",  "sm-80",  "sm-86",  "sm-87", "sm-89", "sm-90",
      "sm-100", "sm-101", "sm-103", "sm-110", "sm-120", "sm-121"};
  return names;
}

// splitmix64, after Steele, Lea and Flood (2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }

 private:
  std::uint64_t state_;
};

// Static + dynamic sizes at and one byte or one unit beside each threshold: the two limits per
// CTA, each carveout size, and the sizes at which one CTA more or fewer fits into a carveout.
inline std::vector<std::int64_t> shared_thresholds(const SmSpec& sm) {
  std::vector<std::int64_t> sizes{0, 1};
  const auto add_around = [&](std::int64_t size) {
    const std::int64_t unit = sm.shared_allocation_unit_bytes;
    for (const std::int64_t offset :
         {-unit - 1, -unit, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, unit, unit + 1}) {
      if (size + offset >= 0) sizes.push_back(size + offset);
    }
  };
  add_around(sm.shared_bytes_per_cta_default);
  add_around(sm.shared_bytes_per_cta_optin);
  for (int i = 0; i < sm.shared_carveout_count; ++i) {
    const std::int64_t carveout = sm.shared_carveouts_bytes[static_cast<std::size_t>(i)];
    for (const std::int64_t ctas : {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 32}) {
      add_around(carveout / ctas);
      add_around(carveout / ctas - sm.shared_bytes_reserved_per_cta);
    }
  }
  return sizes;
}

inline KernelResources draw_kernel(Random& random, const SmSpec& sm,
                                   const std::vector<std::int64_t>& thresholds) {
  KernelResources k;
  k.threads_per_cta = random.between(0, 3) == 0 ? 32 * random.between(1, 33)
                                                : random.between(1, sm.max_threads_per_cta + 40);
  k.registers_per_thread = random.between(0, 258);
  const std::int64_t shared =
      random.between(0, 1) == 0
          ? random.between(0, static_cast<std::int32_t>(sm.shared_bytes_per_cta_optin) + 4096)
          : thresholds[static_cast<std::size_t>(random.next() % thresholds.size())];
  // All dynamic, all static, or split at a random byte.
  const std::int32_t split = random.between(0, 3);
  k.static_shared_bytes = split == 0   ? shared
                          : split == 1 ? random.between(0, static_cast<std::int32_t>(shared))
                                       : 0;
  k.dynamic_shared_bytes = shared - k.static_shared_bytes;
  k.barriers_per_cta = random.between(0, 1) == 0 ? 1 : random.between(0, 16);
  k.virtual_resources_per_cta = random.between(0, 1) == 0 ? 0 : random.between(0, 130);
  k.carveout_percent = random.between(0, 1) == 0 ? kCarveoutDefault : random.between(0, 100);
  k.shared_opt_in = random.between(0, 3) != 0;
  return k;
}

}  // namespace smtwin::oracle
