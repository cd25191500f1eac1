// SPDX-License-Identifier: Apache-2.0
// Residency by hand: each case can be redone on paper and differs from what a quick division says.
// Those on h200-sxm were also answered by its driver, the ones marked so counted on the chip.
//   sm_90  65,536 registers in 4 partitions of 16,384, 64 warps, 32 CTA slots, 233,472 B shared,
//          units of 128 B, 1,024 B reserved per CTA, carveouts 0, 8, 16, 32, 64, 100, 132, 164,
//          196 and 228 KiB
//   sm_120 the same register file, 48 warps, 24 CTA slots and barriers, 102,400 B shared
#include "arch/gpu_catalog.hpp"
#include "model/residency.hpp"
#include "tests/catch.hpp"

namespace smtwin {
namespace {

LimiterSet both(Limiter a, Limiter b) {
  LimiterSet set(a);
  set.insert(b);
  return set;
}

const GpuSpec& h200() {
  static const GpuSpec gpu = find_gpu("h200-sxm");
  return gpu;
}

const GpuSpec& sm_120() {
  static const GpuSpec gpu = find_gpu("rtx-pro-6000-server");
  return gpu;
}

}  // namespace

TEST_CASE("registers are counted per partition, not per SM") {
  // 136 x 32 = 4,352 = 17 units of 256 per warp; 16,384 / 4,352 = 3.76, so 3 warps a partition and
  // 12 an SM; 3 warps a CTA: 4 CTAs. 65,536 / (136 x 96) would say 5. Counted on the chip.
  const Residency got = residency(h200(), {.threads_per_cta = 96, .registers_per_thread = 136});
  CHECK(got.ctas_per_sm == 4);
  CHECK(got.limiters == LimiterSet(Limiter::registers));
  CHECK(got.registers_per_cta == 13'056);
}

TEST_CASE("the launch check rounds the warps up to the partitions") {
  // 188 x 32 = 6,016 -> 6,144 per warp. 10 warps are checked as 12: 73,728 > 65,536, refused,
  // although 188 x 320 = 60,160 registers are fewer than the SM has. 8 warps pass: 49,152.
  const Residency refused =
      residency(h200(), {.threads_per_cta = 320, .registers_per_thread = 188});
  CHECK(refused.ctas_per_sm == 0);
  CHECK(refused.verdict == LaunchVerdict::registers_exceed_cta_limit);
  CHECK(refused.max_threads_at_these_registers == 256);
  CHECK(residency(h200(), {.threads_per_cta = 256, .registers_per_thread = 188}).ctas_per_sm == 1);
}

TEST_CASE("a warp is paid for in full") {
  // 48 threads take 2 warps: 48 / 2 = 24 CTAs on sm_120, which has 24 slots as well and 24
  // barriers, one a CTA: three limiters at once. 48 x 32 / 48 threads would say 32.
  const Residency got = residency(sm_120(), {.threads_per_cta = 48});
  CHECK(got.ctas_per_sm == 24);
  LimiterSet expected = both(Limiter::warps, Limiter::cta_slots);
  expected.insert(Limiter::barriers);
  CHECK(got.limiters == expected);
}

TEST_CASE("two resources can limit at once") {
  // 32 x 32 = 1,024 per warp: 16 warps a partition, 64 an SM, as many as there are warp slots:
  // 64 / 32 = 2 by either.
  const ResidentCtas got =
      resident_ctas(h200().sm, {.threads_per_cta = 1024, .registers_per_thread = 32});
  CHECK(got.ctas_per_sm == 2);
  CHECK(got.limiters == both(Limiter::warps, Limiter::registers));
}

TEST_CASE("half of the SM is the last size for two CTAs") {
  // 115,712 + 1,024 = 116,736 = half of 233,472: 2. One KiB more: 117,760, 1 (counted on the chip).
  const KernelResources half{
      .threads_per_cta = 128, .registers_per_thread = 14, .dynamic_shared_bytes = 115'712};
  KernelResources more = half;
  more.dynamic_shared_bytes = 116'736;
  CHECK(residency(h200(), half).ctas_per_sm == 2);
  const Residency one = residency(h200(), more);
  CHECK(one.ctas_per_sm == 1);
  CHECK(one.limiters == LimiterSet(Limiter::shared_memory));
  REQUIRE_FALSE(one.cliffs.empty());
  CHECK(one.cliffs.front().at_most == 115'712);
  CHECK(one.cliffs.front().reduce_by == 1'024);
}

TEST_CASE("the largest CTA uses the carveout to the last byte") {
  // 232,448 + 1,024 = 233,472. A byte more rounds to 233,600 and is refused.
  CHECK(residency(h200(), {.threads_per_cta = 256, .dynamic_shared_bytes = 232'448}).ctas_per_sm ==
        1);
  const Residency refused =
      residency(h200(), {.threads_per_cta = 256, .dynamic_shared_bytes = 232'449});
  CHECK(refused.verdict == LaunchVerdict::shared_exceeds_cta_limit);
  CHECK(refused.shared_bytes_over_limit == 1);
}

TEST_CASE("a carveout preference is rounded up to a size that exists") {
  // 50 % of 233,472 = 116,736 -> 132 KiB = 135,168. A CTA takes 8,192 + 1,024 = 9,216:
  // 135,168 / 9,216 = 14.67 -> 14. Without the rounding 116,736 / 9,216 would say 12.
  const Residency got = residency(h200(), {.threads_per_cta = 32,
                                           .registers_per_thread = 24,
                                           .dynamic_shared_bytes = 8'192,
                                           .carveout_percent = 50});
  CHECK(got.ctas_per_sm == 14);
  CHECK(got.carveout_bytes == 135'168);
  CHECK(got.l1_bytes == 256 * 1024 - 135'168);
}

TEST_CASE("a carveout preference costs CTAs") {
  // 25 % = 58,368 -> 64 KiB. 20,000 + 1,024 = 21,024 -> 21,120: 65,536 / 21,120 = 3.1 -> 3.
  // At 100 % shared memory would allow 233,472 / 21,120 = 11 and the warps allow 64 / 8 = 8. Both
  // counted on the chip.
  KernelResources kernel{.threads_per_cta = 256,
                         .registers_per_thread = 32,
                         .dynamic_shared_bytes = 20'000,
                         .carveout_percent = 25};
  CHECK(residency(h200(), kernel).ctas_per_sm == 3);
  kernel.carveout_percent = 100;
  CHECK(residency(h200(), kernel).ctas_per_sm == 8);
}

TEST_CASE("a preference below one CTA is raised to the smallest size that holds one") {
  // 0 %: 5,000 + 1,024 = 6,024 -> 6,144; the smallest carveout that holds it is 8 KiB: 1 CTA.
  CHECK(residency(h200(), {.threads_per_cta = 32,
                           .registers_per_thread = 40,
                           .dynamic_shared_bytes = 5'000,
                           .carveout_percent = 0})
            .ctas_per_sm == 1);
}

TEST_CASE("a kernel without shared memory still pays the reserve") {
  // 0 %: each CTA takes the reserved 1,024 B, the smallest carveout that holds it is 8 KiB: 8 CTAs,
  // limited by shared memory that the kernel does not use.
  const ResidentCtas got = resident_ctas(
      h200().sm, {.threads_per_cta = 32, .registers_per_thread = 40, .carveout_percent = 0});
  CHECK(got.ctas_per_sm == 8);
  CHECK(got.limiters == LimiterSet(Limiter::shared_memory));
}

TEST_CASE("CTA slots limit small CTAs") {
  // 14 x 32 = 448 -> 512 per warp: 32 warps a partition, 128 an SM; 64 warp slots; 32 CTA slots.
  const Residency got = residency(h200(), {.threads_per_cta = 32, .registers_per_thread = 14});
  CHECK(got.ctas_per_sm == 32);
  CHECK(got.limits.registers == 128);
  CHECK(got.limits.warps == 64);
  CHECK(got.limiters == LimiterSet(Limiter::cta_slots));
  CHECK(got.theoretical_occupancy == Approx(0.5));
}

TEST_CASE("one decode CTA fills an SM of sm_120") {
  // 61,568 + 1,024 = 62,592; two are 125,184 > 102,400. Two fit from 102,400 / 2 - 1,024 = 50,176 B
  // down, 11,392 B less. 255 x 32 = 8,160 -> 8,192: 2 warps a partition, 8 an SM, 2 CTAs of 4.
  const Residency got = residency(
      sm_120(),
      {.threads_per_cta = 128, .registers_per_thread = 255, .dynamic_shared_bytes = 61'568});
  CHECK(got.ctas_per_sm == 1);
  CHECK(got.limits.registers == 2);
  CHECK(got.theoretical_occupancy == Approx(4.0 / 48.0));
  REQUIRE_FALSE(got.cliffs.empty());
  CHECK(got.cliffs.front().resource == Limiter::shared_memory);
  CHECK(got.cliffs.front().at_most == 50'176);
  CHECK(got.cliffs.front().reduce_by == 11'392);
  CHECK(got.cliffs.front().sufficient);
}

TEST_CASE("the opt-in counts static bytes too") {
  // 49,152 B of dynamic memory need no opt-in; with one static byte the sum is 49,153.
  KernelResources kernel{
      .threads_per_cta = 128, .dynamic_shared_bytes = 49'152, .shared_opt_in = false};
  CHECK(residency(sm_120(), kernel).verdict == LaunchVerdict::launches);
  kernel.static_shared_bytes = 1;
  CHECK(residency(sm_120(), kernel).verdict == LaunchVerdict::shared_needs_opt_in);
  kernel.shared_opt_in = true;
  CHECK(residency(sm_120(), kernel).ctas_per_sm == 2);  // 50,177 -> 50,304; 102,400 / 50,304 = 2
}

TEST_CASE("several barriers a CTA count where they are few") {
  // sm_120 has 24: 24 / 5 = 4 CTAs. sm_90 has 64: 12.
  const KernelResources kernel{.threads_per_cta = 64, .barriers_per_cta = 5};
  CHECK(resident_ctas(sm_120().sm, kernel).ctas_per_sm == 4);
  CHECK(resident_ctas(sm_120().sm, kernel).limiters == LimiterSet(Limiter::barriers));
  CHECK(resident_ctas(h200().sm, kernel).ctas_per_sm == 12);
}

TEST_CASE("units need not be powers of two") {
  // An invented chip: warps of 24 threads, 3 partitions of 3,000 registers in units of 100, shared
  // memory in units of 96 B without a reserve.
  SmSpec sm;
  sm.threads_per_warp = 24;
  sm.max_threads_per_cta = 480;
  sm.max_warps_per_sm = 30;
  sm.max_ctas_per_sm = 20;
  sm.registers_per_sm = 9'000;
  sm.registers_per_cta = 9'000;
  sm.max_registers_per_thread = 100;
  sm.register_allocation_unit = 100;
  sm.partitions_per_sm = 3;
  sm.register_check_partitions = 3;
  sm.shared_bytes_per_sm = 10'000;
  sm.shared_bytes_per_cta_default = 10'000;
  sm.shared_bytes_per_cta_optin = 10'000;
  sm.shared_allocation_unit_bytes = 96;
  sm.shared_carveouts_bytes[0] = 10'000;
  sm.shared_carveout_count = 1;
  // 50 threads = 3 warps: 30 / 3 = 10. 17 x 24 = 408 -> 500 a warp: 6 a partition, 18 / 3 = 6.
  // 1,000 B -> 1,056: 10,000 / 1,056 = 9.
  const KernelResources kernel{
      .threads_per_cta = 50, .registers_per_thread = 17, .dynamic_shared_bytes = 1'000};
  const ResidencyLimits limits = residency_limits(sm, kernel);
  CHECK(limits.warps == 10);
  CHECK(limits.registers == 6);
  CHECK(limits.shared_memory == 9);
  CHECK(resident_ctas(sm, kernel).ctas_per_sm == 6);
}

}  // namespace smtwin
