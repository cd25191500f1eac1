// SPDX-License-Identifier: Apache-2.0
// How many CTAs of a kernel an SM holds at once, and what limits it. Exact integers, equal to the
// toolkit's occupancy calculator and the driver's answer on every input tested
// (tests/oracle/residency_oracle_test.cpp). MODEL.md section 1 derives each limit.
//
// The limits (CTAs per SM that one resource allows; a CTA gets all of its resources at launch and
// keeps them until it ends):
//   warps       floor(max_warps_per_sm / W),  W = ceil(threads / 32)
//   registers   floor(floor(R / P / r) * P / W),  r = round_up(regs * 32, unit), P partitions
//   shared      floor(carveout / s),  s = round_up(static + dynamic + reserved, unit)
//   CTA slots, barriers, virtual resources: capacity / what one CTA takes
// Resident CTAs = the minimum; limiters = every resource whose limit equals it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "kernels/kernel_resources.hpp"

namespace smtwin {

inline constexpr std::int32_t kUnlimited = std::numeric_limits<std::int32_t>::max();

enum class Limiter : std::uint8_t {
  warps = 1,
  registers = 2,
  shared_memory = 4,
  cta_slots = 8,
  barriers = 16,
  virtual_resources = 32
};
std::string_view to_string(Limiter limiter);

class LimiterSet {
 public:
  constexpr LimiterSet() = default;
  constexpr explicit LimiterSet(std::uint8_t bits) : bits_(bits) {}
  constexpr LimiterSet(Limiter limiter) : bits_(static_cast<std::uint8_t>(limiter)) {}  // NOLINT
  constexpr bool contains(Limiter l) const { return (bits_ & static_cast<std::uint8_t>(l)) != 0; }
  constexpr void insert(Limiter l) { bits_ |= static_cast<std::uint8_t>(l); }
  constexpr std::uint8_t bits() const { return bits_; }
  std::vector<Limiter> members() const;
  friend constexpr bool operator==(LimiterSet, LimiterSet) = default;

 private:
  std::uint8_t bits_ = 0;
};

// Why a launch is refused, apart from "no room": each has its own way out.
enum class LaunchVerdict {
  launches,
  threads_exceed_cta_limit,       // more threads than a CTA may have (or not positive)
  threads_exceed_function_limit,  // more than the function was compiled for (launch bounds)
  registers_exceed_thread_limit,  // more registers than a thread can name
  registers_exceed_cta_limit,     // registers x threads: "too many resources requested for launch"
  shared_needs_opt_in,            // fits, but only after raising the default limit
  shared_exceeds_cta_limit,       // more than any CTA can have on this chip
  barriers_exceed_sm_limit,       // one CTA names more barriers than an SM has
  virtual_resources_exceed_sm_limit,  // likewise
  cluster_exceeds_limit               // more CTAs in a cluster than the chip allows
};
std::string_view to_string(LaunchVerdict verdict);

// True when a launch is refused by something that is no resource of an SM: the function's own
// thread bound, or a cluster larger than the chip allows. resident_ctas() does not look at these.
bool refused_outside_sm(const SmSpec& sm, const KernelResources& kernel);

// The part evaluated tens of millions of times a second: count and limiter set, nothing else.
struct ResidentCtas {
  std::int32_t ctas_per_sm = 0;
  LimiterSet limiters;
};
ResidentCtas resident_ctas(const SmSpec& sm, const KernelResources& kernel);

struct ResidencyLimits {  // kUnlimited where the resource does not apply
  std::int32_t warps = 0;
  std::int32_t registers = 0;
  std::int32_t shared_memory = 0;
  std::int32_t cta_slots = 0;
  std::int32_t barriers = 0;
  std::int32_t virtual_resources = 0;
};
ResidencyLimits residency_limits(const SmSpec& sm, const KernelResources& kernel);

// Shared bytes granted to one CTA: static + dynamic + the system's reserve, in allocation units.
std::int64_t allocated_shared_bytes(const SmSpec& sm, const KernelResources& kernel);
// Most static + dynamic bytes that this launch may ask for: the opt-in limit once it opts in.
std::int64_t shared_limit_per_cta(const SmSpec& sm, const KernelResources& kernel);
// Shared memory of the SM while this kernel runs; 0 when no carveout holds one CTA.
std::int64_t carveout_in_force(const SmSpec& sm, const KernelResources& kernel);

// What one resource must come down to, all others unchanged, for the SM to hold `ctas`.
// at_most = 0 means no positive value of this resource does it.
struct Cliff {
  Limiter resource = Limiter::shared_memory;
  std::int32_t ctas = 0;
  std::int64_t at_most = 0;    // dynamic + static bytes, registers per thread, threads, barriers
  std::int64_t reduce_by = 0;  // from the present value
  bool sufficient = false;     // the other resources already allow `ctas`
};

// Clusters: the SMs of a GPC must hold all CTAs of a cluster at once. Only a bound, because how
// many SMs each GPC of a product has left enabled is not published.
struct ClusterBound {
  bool applies = false;                  // cluster_ctas > 1
  bool portable = true;                  // <= the size every chip of the family accepts
  std::int64_t max_active_clusters = 0;  // upper bound for the whole GPU; 0 when unknown
  std::string reason;                    // why it is only a bound
};

struct Residency {
  LaunchVerdict verdict = LaunchVerdict::launches;
  std::int32_t ctas_per_sm = 0;
  LimiterSet limiters;
  ResidencyLimits limits;

  // What one CTA takes after rounding.
  std::int32_t warps_per_cta = 0;
  std::int32_t registers_per_warp = 0;
  std::int64_t registers_per_cta = 0;
  std::int64_t shared_bytes_requested = 0;  // static + dynamic
  std::int64_t shared_bytes_allocated = 0;  // with the reserve, rounded up

  // What is resident.
  std::int32_t resident_warps = 0;
  double theoretical_occupancy = 0;              // resident warps / max warps, 0..1
  std::int32_t warps_per_partition_busiest = 0;  // warps are dealt to partitions in turn
  std::int32_t warps_per_partition_idlest = 0;

  // Left over with ctas_per_sm resident.
  std::int32_t free_warps = 0;
  std::int64_t free_registers = 0;
  std::int64_t free_shared_bytes = 0;  // of the carveout in force
  std::int32_t free_cta_slots = 0;

  bool shared_opt_in_required = false;              // static + dynamic > the default limit
  std::int64_t shared_bytes_over_limit = 0;         // by how much a CTA exceeds the limit in force
  std::int32_t max_threads_at_these_registers = 0;  // largest CTA the register check accepts
  // Largest CTA that leaves the count as it is, registers per thread and bytes unchanged: the
  // other way to more resident warps. At least threads_per_cta; 0 when nothing is resident.
  std::int32_t max_threads_keeping_ctas = 0;

  // The carveout the count above assumes, and what it leaves to the L1 (0 where they are separate).
  // With no preference the driver may pick any size that fits; the count assumes the largest, and
  // carveout_smallest_bytes is the least that still holds the same CTAs.
  std::int64_t carveout_bytes = 0;
  std::int64_t l1_bytes = 0;
  std::int64_t carveout_smallest_bytes = 0;
  std::vector<Cliff> cliffs;  // next larger CTA counts, per resource, nearest first
  ClusterBound cluster;
};

// The full answer. Never throws for a kernel that does not fit; the verdict says so.
Residency residency(const GpuSpec& gpu, const KernelResources& kernel);

// Most static + dynamic shared bytes a CTA may use for `ctas` to be resident by shared memory, with
// opt-in and under a carveout preference (-1 when not even 0 bytes do it).
std::int64_t max_shared_bytes_for(const SmSpec& sm, std::int32_t ctas,
                                  std::int32_t carveout_percent = kCarveoutDefault);

// Most registers a thread may use for `ctas` CTAs of `threads` to be resident (0 when impossible).
std::int32_t max_registers_for(const SmSpec& sm, std::int32_t threads, std::int32_t ctas);

}  // namespace smtwin
