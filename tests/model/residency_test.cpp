// SPDX-License-Identifier: Apache-2.0
// Properties of residency: what must hold for every kernel on every chip, real or invented.
#include "model/residency.hpp"

#include <algorithm>
#include <random>

#include "arch/gpu_catalog.hpp"
#include "tests/catch.hpp"

namespace smtwin {
namespace {

// An invented chip: one partition, odd granularities, a small reserve. It shares no number with a
// real one, so a formula that has a real chip's constant in it fails here.
GpuSpec odd_chip() {
  GpuSpec gpu;
  gpu.name = "odd-chip";
  gpu.sm_count = 7;
  gpu.sms_per_gpc = 3;
  SmSpec& sm = gpu.sm;
  sm.threads_per_warp = 24;
  sm.max_threads_per_cta = 480;
  sm.max_warps_per_sm = 33;
  sm.max_ctas_per_sm = 9;
  sm.registers_per_sm = 9000;
  sm.registers_per_cta = 6000;
  sm.max_registers_per_thread = 99;
  sm.register_allocation_unit = 70;
  sm.partitions_per_sm = 3;
  sm.register_check_partitions = 3;
  sm.barriers_per_sm = 20;
  sm.virtual_resources_per_sm = 0;
  sm.shared_bytes_per_sm = 10'000;
  sm.shared_bytes_per_cta_default = 3'000;
  sm.shared_bytes_per_cta_optin = 9'900;
  sm.shared_bytes_reserved_per_cta = 100;
  sm.shared_allocation_unit_bytes = 50;
  sm.l1_and_shared_bytes_per_sm = 15'000;
  sm.shared_carveouts_bytes = {0, 2'000, 6'000, 10'000};
  sm.shared_carveout_count = 4;
  sm.max_cluster_ctas_portable = 4;
  return gpu;
}

GpuSpec chip(int index) {
  static const char* const kNames[] = {"rtx-pro-6000-server",
                                       "h200-sxm",
                                       "a100-80gb-sxm",
                                       "rtx-4090",
                                       "t4",
                                       "v100-sxm",
                                       "b200-sxm",
                                       "sm-60",
                                       "sm-52"};
  return index < 0 ? odd_chip() : find_gpu(kNames[index]);
}

KernelResources random_kernel(const SmSpec& sm, std::mt19937& random) {
  const auto pick = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  return {.threads_per_cta = static_cast<std::int32_t>(1 + pick(sm.max_threads_per_cta - 1)),
          .registers_per_thread = static_cast<std::int32_t>(pick(sm.max_registers_per_thread)),
          .static_shared_bytes = pick(3) == 0 ? pick(sm.shared_bytes_per_cta_default) : 0,
          .dynamic_shared_bytes = pick(2) == 0 ? pick(sm.shared_bytes_per_cta_optin) : pick(2000),
          .barriers_per_cta = static_cast<std::int32_t>(pick(30))};
}

}  // namespace

TEST_CASE("resident CTAs fill a resource and one more would not fit", "[property]") {
  const GpuSpec gpu = chip(GENERATE(range(-1, 9)));
  const SmSpec& sm = gpu.sm;
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const KernelResources kernel = random_kernel(sm, random);
    const Residency r = residency(gpu, kernel);
    INFO(gpu.name << " threads " << kernel.threads_per_cta << " regs "
                  << kernel.registers_per_thread << " shared " << kernel.static_shared_bytes << "+"
                  << kernel.dynamic_shared_bytes);
    REQUIRE(r.limiters.bits() != 0);
    if (r.verdict != LaunchVerdict::launches) {
      REQUIRE(r.ctas_per_sm == 0);
      continue;
    }
    REQUIRE(r.ctas_per_sm >= 1);  // whatever is refused has a verdict that says why
    REQUIRE(r.free_warps >= 0);
    REQUIRE(r.free_registers >= 0);
    REQUIRE(r.free_cta_slots >= 0);
    REQUIRE(r.ctas_per_sm * r.shared_bytes_allocated <= r.carveout_bytes);
    const int more = r.ctas_per_sm + 1;
    const bool another_fits = more * r.warps_per_cta <= sm.max_warps_per_sm &&
                              more <= sm.max_ctas_per_sm &&
                              more * r.shared_bytes_allocated <= r.carveout_bytes &&
                              (r.limits.registers == kUnlimited || more <= r.limits.registers) &&
                              (r.limits.barriers == kUnlimited || more <= r.limits.barriers);
    REQUIRE_FALSE(another_fits);
  }
}

TEST_CASE("a heavier kernel never gains resident CTAs", "[property]") {
  const GpuSpec gpu = chip(GENERATE(range(-1, 9)));
  const SmSpec& sm = gpu.sm;
  std::mt19937 random(11);
  for (int i = 0; i < 1000; ++i) {
    const KernelResources kernel = random_kernel(sm, random);
    const int before = resident_ctas(sm, kernel).ctas_per_sm;
    KernelResources heavier = kernel;
    switch (i % 4) {
      case 0:
        heavier.registers_per_thread += 1 + i % 17;
        break;
      case 1:
        heavier.dynamic_shared_bytes += 1 + i % 999;
        break;
      case 2:
        heavier.threads_per_cta += 1 + i % 64;
        break;
      default:
        heavier.static_shared_bytes += 1 + i % 999;
        break;
    }
    INFO(gpu.name << " case " << i);
    REQUIRE(resident_ctas(sm, heavier).ctas_per_sm <= before);
  }
}

TEST_CASE("limiters are exactly the resources whose limit is the minimum", "[property]") {
  const GpuSpec gpu = chip(GENERATE(range(-1, 9)));
  std::mt19937 random(13);
  for (int i = 0; i < 1000; ++i) {
    const KernelResources kernel = random_kernel(gpu.sm, random);
    const ResidencyLimits limits = residency_limits(gpu.sm, kernel);
    const ResidentCtas resident = resident_ctas(gpu.sm, kernel);
    const auto agrees = [&](std::int32_t limit, Limiter limiter) {
      return resident.limiters.contains(limiter) == (limit == resident.ctas_per_sm) &&
             limit >= resident.ctas_per_sm;
    };
    REQUIRE(agrees(limits.warps, Limiter::warps));
    REQUIRE(agrees(limits.registers, Limiter::registers));
    REQUIRE(agrees(limits.shared_memory, Limiter::shared_memory));
    REQUIRE(agrees(limits.cta_slots, Limiter::cta_slots));
    REQUIRE(agrees(limits.barriers, Limiter::barriers));
    REQUIRE(agrees(limits.virtual_resources, Limiter::virtual_resources));
  }
}

TEST_CASE("a cliff is exact: at it the count is reached, one unit above it is not", "[property]") {
  const GpuSpec gpu = chip(GENERATE(range(-1, 9)));
  const SmSpec& sm = gpu.sm;
  std::mt19937 random(17);
  for (int i = 0; i < 2000; ++i) {
    const KernelResources kernel = random_kernel(sm, random);
    for (const Cliff& cliff : residency(gpu, kernel).cliffs) {
      INFO(gpu.name << " case " << i << " " << to_string(cliff.resource) << " for " << cliff.ctas);
      KernelResources at = kernel;
      KernelResources above = kernel;
      if (cliff.resource == Limiter::shared_memory) {
        if (cliff.at_most < 0) continue;
        REQUIRE(cliff.at_most + cliff.reduce_by ==
                kernel.static_shared_bytes + kernel.dynamic_shared_bytes);
        at.static_shared_bytes = above.static_shared_bytes = 0;
        at.dynamic_shared_bytes = cliff.at_most;
        above.dynamic_shared_bytes = cliff.at_most + 1;
        REQUIRE(residency_limits(sm, at).shared_memory >= cliff.ctas);
        REQUIRE(residency_limits(sm, above).shared_memory < cliff.ctas);
      } else if (cliff.resource == Limiter::registers) {
        if (cliff.at_most == 0) continue;
        at.registers_per_thread = static_cast<std::int32_t>(cliff.at_most);
        above.registers_per_thread = at.registers_per_thread + 1;
        REQUIRE(residency_limits(sm, at).registers >= cliff.ctas);
        REQUIRE(residency_limits(sm, above).registers < cliff.ctas);
      } else if (cliff.resource == Limiter::barriers) {
        at.barriers_per_cta = static_cast<std::int32_t>(cliff.at_most);
        above.barriers_per_cta = at.barriers_per_cta + 1;
        REQUIRE(residency_limits(sm, at).barriers >= cliff.ctas);
        REQUIRE(residency_limits(sm, above).barriers < cliff.ctas);
      } else {
        if (cliff.at_most == 0) continue;
        at.threads_per_cta = static_cast<std::int32_t>(cliff.at_most);
      }
      if (cliff.sufficient) REQUIRE(resident_ctas(sm, at).ctas_per_sm >= cliff.ctas);
    }
  }
}

TEST_CASE("cliffs respect a carveout preference", "[property]") {
  const GpuSpec gpu = chip(GENERATE(-1, 0, 1, 4));
  const int percent = GENERATE(0, 10, 25, 50, 75, 100);
  const SmSpec& sm = gpu.sm;
  for (int ctas = 1; ctas <= sm.max_ctas_per_sm; ++ctas) {
    const std::int64_t most = max_shared_bytes_for(sm, ctas, percent);
    INFO(gpu.name << " " << percent << " % " << ctas << " CTAs, " << most << " B");
    std::int64_t largest_seen = -1;
    for (std::int64_t bytes = 0; bytes <= sm.shared_bytes_per_cta_optin; bytes += 25) {
      const KernelResources kernel{.threads_per_cta = sm.threads_per_warp,
                                   .dynamic_shared_bytes = bytes,
                                   .carveout_percent = percent};
      if (residency_limits(sm, kernel).shared_memory >= ctas) largest_seen = bytes;
    }
    // The scan steps by 25 B, so the true maximum lies at most 24 B above what it saw.
    REQUIRE(most >= largest_seen);
    REQUIRE(most < largest_seen + 25);
  }
}

TEST_CASE("refusals are told apart", "[unit]") {
  const GpuSpec gpu = find_gpu("rtx-pro-6000-server");
  const auto verdict = [&](const KernelResources& kernel) {
    return residency(gpu, kernel).verdict;
  };
  CHECK(verdict({.threads_per_cta = 0}) == LaunchVerdict::threads_exceed_cta_limit);
  CHECK(verdict({.threads_per_cta = 1025}) == LaunchVerdict::threads_exceed_cta_limit);
  CHECK(verdict({.threads_per_cta = 384, .function_max_threads_per_cta = 256}) ==
        LaunchVerdict::threads_exceed_function_limit);
  CHECK(verdict({.threads_per_cta = 32, .registers_per_thread = 257}) ==
        LaunchVerdict::registers_exceed_thread_limit);
  CHECK(verdict({.threads_per_cta = 512, .registers_per_thread = 162}) ==
        LaunchVerdict::registers_exceed_cta_limit);
  CHECK(verdict({.threads_per_cta = 128, .dynamic_shared_bytes = 101'377}) ==
        LaunchVerdict::shared_exceeds_cta_limit);
  CHECK(verdict({.threads_per_cta = 128, .dynamic_shared_bytes = 101'376}) ==
        LaunchVerdict::launches);
  // 48 KiB dynamic is allowed without opt-in; one static byte more is not.
  CHECK(verdict({.threads_per_cta = 128, .dynamic_shared_bytes = 49'152, .shared_opt_in = false}) ==
        LaunchVerdict::launches);
  CHECK(verdict({.threads_per_cta = 128,
                 .static_shared_bytes = 1,
                 .dynamic_shared_bytes = 49'152,
                 .shared_opt_in = false}) == LaunchVerdict::shared_needs_opt_in);
  CHECK(verdict({.threads_per_cta = 128, .cluster_ctas = 64}) ==
        LaunchVerdict::cluster_exceeds_limit);
  // Sizes no chip has must not overflow into one that fits.
  CHECK(verdict({.threads_per_cta = 128,
                 .static_shared_bytes = std::numeric_limits<std::int64_t>::max(),
                 .dynamic_shared_bytes = std::numeric_limits<std::int64_t>::max()}) ==
        LaunchVerdict::shared_exceeds_cta_limit);
}

TEST_CASE("barriers limit, and more than an SM has never launch", "[unit]") {
  // sm_120 counts 24 barriers an SM: 8 a CTA leave 3 CTAs, 6 would allow 4, 25 fit nowhere.
  const GpuSpec gpu = find_gpu("rtx-pro-6000-server");
  const Residency eight = residency(gpu, {.threads_per_cta = 128, .barriers_per_cta = 8});
  CHECK(eight.ctas_per_sm == 3);
  CHECK(eight.limiters == LimiterSet(Limiter::barriers));
  REQUIRE_FALSE(eight.cliffs.empty());
  CHECK(eight.cliffs.front().resource == Limiter::barriers);
  CHECK(eight.cliffs.front().ctas == 4);
  CHECK(eight.cliffs.front().at_most == 6);
  CHECK(eight.cliffs.front().reduce_by == 2);
  CHECK(eight.cliffs.front().sufficient);
  const Residency many = residency(gpu, {.threads_per_cta = 128, .barriers_per_cta = 25});
  CHECK(many.verdict == LaunchVerdict::barriers_exceed_sm_limit);
  CHECK(many.ctas_per_sm == 0);
  CHECK(residency(gpu, {.threads_per_cta = 128, .virtual_resources_per_cta = 129}).verdict ==
        LaunchVerdict::virtual_resources_exceed_sm_limit);
}

TEST_CASE("the sparse decode kernel of the field notes", "[unit]") {
  // 61,568 + 1,024 = 62,592 = 489 x 128 B; 102,400 / 62,592 = 1 CTA = 4 of 48 warps, 8.3 %.
  // Two CTAs: floor(102,400 / 2 / 128) x 128 - 1,024 = 50,176 B, 11,392 B less.
  // 255 registers: 8,160 -> 8,192 a warp; 16,384 / 8,192 = 2 warps a partition = 8 warps = 2 CTAs,
  // so the same bytes allow one CTA of 8 warps (256 threads).
  const Residency r = residency(
      find_gpu("rtx-pro-6000-server"),
      {.threads_per_cta = 128, .registers_per_thread = 255, .dynamic_shared_bytes = 61'568});
  CHECK(r.ctas_per_sm == 1);
  CHECK(r.limiters == LimiterSet(Limiter::shared_memory));
  CHECK(r.limits.registers == 2);
  CHECK(r.theoretical_occupancy == Approx(4.0 / 48));
  REQUIRE_FALSE(r.cliffs.empty());
  CHECK(r.cliffs.front().resource == Limiter::shared_memory);
  CHECK(r.cliffs.front().ctas == 2);
  CHECK(r.cliffs.front().at_most == 50'176);
  CHECK(r.cliffs.front().reduce_by == 11'392);
  CHECK(r.cliffs.front().sufficient);
  CHECK(r.max_threads_keeping_ctas == 256);
  CHECK(r.shared_opt_in_required);
  // The one CTA runs under the 100 KiB carveout and leaves 28 KiB of the 128 KiB to the L1.
  CHECK(r.carveout_bytes == 102'400);
  CHECK(r.l1_bytes == 28'672);
}

TEST_CASE("a cluster bound never promises more than the SMs hold", "[property]") {
  const GpuSpec gpu = odd_chip();
  for (int cluster = 2; cluster <= 4; ++cluster) {
    const Residency r = residency(gpu, {.threads_per_cta = 24, .cluster_ctas = cluster});
    INFO("cluster of " << cluster);
    REQUIRE(r.cluster.applies);
    CHECK(r.cluster.max_active_clusters * cluster <= 7 * r.ctas_per_sm);
    CHECK_FALSE(r.cluster.reason.empty());
  }
}

}  // namespace smtwin
