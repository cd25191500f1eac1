// SPDX-License-Identifier: Apache-2.0
// "Why do more warps not help?" and its relatives, answered in one sentence.
#include "model/time_comparison.hpp"

#include "tests/catch.hpp"
#include "tests/model/round_chip.hpp"

using namespace smtwin;
using smtwin::test::round_chip;
using smtwin::test::round_kernel;

TEST_CASE("more warps that repeat the work lose although they wait less", "[unit]") {
  // 4 warps, one load in flight: waiting 3 x 11 x 500 ns = 16.5 us; shared memory
  // 3 x 450 kB / (100 B/ns) = 13.5 us. Time 1.7 + 16.5 = 18.2 us.
  // 8 warps with two loads in flight: waiting 3 x 6 x 500 ns = 9 us, but each warp pair reads the
  // same operands again: 27 us of shared memory. Time 28.7 us = 1.58 times slower.
  const auto g = round_chip();
  auto w4 = round_kernel();
  w4.work.shared_bytes = 450e3;
  auto w8 = w4;
  w8.resources.threads_per_cta = 256;
  w8.work.loads_in_flight = 2;
  w8.work.shared_bytes = 900e3;
  const auto c = compare(kernel_time(g, w4), kernel_time(g, w8));
  REQUIRE(c.comparable);
  CHECK(c.time_ratio == Approx(28.7 / 18.2));
  CHECK(c.binding_before == Bound::latency);
  CHECK(c.binding_after == Bound::shared_memory);
  CHECK(c.sentence ==
        "1.58 times slower: shared memory binds (13.5 us -> 27.0 us) instead of waiting for loads; "
        "waiting for loads falls (16.5 us -> 9.00 us) but does not decide; "
        "resident warps 4 -> 8; bytes in flight 80.0 kB -> 160 kB");
  REQUIRE(c.bounds.size() >= 2);
  CHECK(c.bounds[0].bound == Bound::shared_memory);
}

TEST_CASE("when only the last wave changes, the sentence says so", "[unit]") {
  // Two CTAs per SM: a full wave of 20 and a tail of 5. DRAM 800 kB a CTA: 20 + 5 us. Waiting
  // 5.5 us a wave. Shared memory 4 -> 8 us a CTA: 8 -> 16 us in the full wave, hidden both times,
  // 4 -> 8 us in the tail, where it becomes the slowest: 1.7 + 20 + 5.5 = 27.2 us -> 29.7 us.
  const auto g = round_chip();
  auto before = round_kernel();
  before.resources.dynamic_shared_bytes = 40000;
  before.work.global_read_bytes = 800e3;
  before.work.step_read_bytes = 80e3;
  before.unique_read_bytes = 25 * 800e3;
  before.work.shared_bytes = 400e3;
  auto after = before;
  after.work.shared_bytes = 800e3;
  CHECK(compare(kernel_time(g, before), kernel_time(g, after)).sentence ==
        "1.09 times slower: DRAM traffic binds before and after (25.0 us -> 25.0 us); "
        "the last wave takes 5.50 us -> 8.00 us, bound by shared memory");
}

TEST_CASE("waves of another size are not compared one by one", "[unit]") {
  // As above, but the change halves the CTA's bytes as well: 20 + 5 CTAs become one wave of 25.
  const auto g = round_chip();
  auto before = round_kernel();
  before.resources.dynamic_shared_bytes = 40000;
  before.work.global_read_bytes = 800e3;
  before.work.step_read_bytes = 80e3;
  before.unique_read_bytes = 25 * 800e3;
  before.work.shared_bytes = 400e3;
  auto after = before;
  after.resources.dynamic_shared_bytes = 20000;
  const auto c = compare(kernel_time(g, before), kernel_time(g, after));
  INFO(c.sentence);
  CHECK_FALSE(c.time_ratio == Approx(1).epsilon(0.005));
  CHECK(c.sentence.find("wave takes") == std::string::npos);
  CHECK(c.sentence.find("waves 1.25 -> ") != std::string::npos);
}

TEST_CASE("a smaller tile that fits twice halves the waves", "[unit]") {
  const auto g = round_chip();
  auto before = round_kernel();
  before.grid.x = 40;
  before.unique_read_bytes = 3.2e6;
  auto after = before;
  after.resources.dynamic_shared_bytes = 40000;
  // 4 waves x 5.5 us + 1.7 = 23.7 us; 2 waves x 5.5 + 1.7 = 12.7 us.
  const auto c = compare(kernel_time(g, before), kernel_time(g, after));
  CHECK(c.sentence ==
        "1.87 times faster: waiting for loads binds before and after (22.0 us -> 11.0 us); "
        "resident CTAs per SM 1 -> 2; resident warps 4 -> 8; waves 4 -> 2; "
        "bytes in flight 80.0 kB -> 160 kB");
}

TEST_CASE("equal kernels compare as equal", "[unit]") {
  const auto t = kernel_time(round_chip(), round_kernel());
  const auto c = compare(t, t);
  CHECK(c.time_ratio == 1);
  CHECK(c.bounds.empty());
  CHECK(c.sentence ==
        "the same time: waiting for loads binds before and after (16.5 us -> 16.5 us)");
}

TEST_CASE("what does not run cannot be compared", "[unit]") {
  const auto t = kernel_time(round_chip(), round_kernel());
  CHECK(compare(t, {}).sentence == "only the first of the two runs");
  CHECK(compare({}, t).sentence == "only the second of the two runs");
  CHECK(compare({}, {}).sentence == "neither of the two runs");
  CHECK_FALSE(compare(t, {}).comparable);
}
