// SPDX-License-Identifier: Apache-2.0
// Hand arithmetic on an invented chip (round_chip.hpp): every bound alone, then all together.
#include "model/kernel_time.hpp"

#include <algorithm>
#include <string>

#include "arch/error.hpp"
#include "tests/catch.hpp"
#include "tests/model/round_chip.hpp"

using namespace smtwin;
using smtwin::test::round_chip;
using smtwin::test::round_kernel;

namespace {

constexpr double kNs = 1e-9;
constexpr double kUs = 1e-6;

double bound_s(const KernelSeconds& s, Bound b) {
  return s.bound_seconds[static_cast<std::size_t>(b)];
}
double bound_s(const GpuSpec& g, const KernelInstance& k, Bound b) {
  return bound_s(kernel_seconds(g, k), b);
}
const BoundTime& explained(const KernelTime& t, Bound b) {
  const auto found = std::find_if(t.bounds.begin(), t.bounds.end(),
                                  [b](const BoundTime& x) { return x.bound == b; });
  REQUIRE(found != t.bounds.end());
  return *found;
}

}  // namespace

TEST_CASE("one load at a time: latency decides", "[unit]") {
  // Three waves. One CTA waits for its first fill and for 10 steps: 11 x 500 ns = 5.5 us a wave.
  // DRAM: a full wave has 10 x 8,000 B = 80 kB in flight, 80 kB / 500 ns = 160 GB/s of 800:
  //   800 kB / 160 GB/s = 5 us, and the tail the same with half of both: 15 us in all.
  // L2: 80 kB / 200 ns = 400 GB/s of 2,000: 2 us a wave, 6 us.
  // Fixed: 1 us gap + 500 ns first read + 200 ns last store = 1.7 us. In all 1.7 + 16.5 us.
  const auto s = kernel_seconds(round_chip(), round_kernel());
  REQUIRE(s.runs);
  CHECK(s.resident.ctas_per_sm == 1);
  CHECK(s.waves.full_waves == 2);
  CHECK(s.waves.tail_ctas == 5);
  CHECK(bound_s(s, Bound::latency) == Approx(16.5 * kUs));
  CHECK(bound_s(s, Bound::dram) == Approx(15 * kUs));
  CHECK(bound_s(s, Bound::l2) == Approx(6 * kUs));
  CHECK(bound_s(s, Bound::launch) == Approx(1.7 * kUs));
  CHECK(s.full.dram_starved);
  CHECK(s.binding == Bound::latency);
  CHECK(s.seconds == Approx(18.2 * kUs));
}

TEST_CASE("five loads at a time: the DRAM reaches its peak", "[unit]") {
  // 40 kB in flight per CTA, 400 kB per full wave: exactly what the peak needs.
  // DRAM 800 kB / 800 GB/s = 1 us a full wave; the tail's 5 CTAs have half the bytes but also half
  // of them in flight: 1 us again. Latency: first fill + 10 / 5 steps = 3 x 500 ns = 1.5 us a wave.
  auto k = round_kernel();
  k.work.loads_in_flight = 5;
  const auto s = kernel_seconds(round_chip(), k);
  CHECK(bound_s(s, Bound::dram) == Approx(3 * kUs));
  CHECK(s.tail.dram_starved);
  CHECK(bound_s(s, Bound::latency) == Approx(4.5 * kUs));
  CHECK(s.seconds == Approx((1.7 + 4.5) * kUs));
  // A CTA of 10 steps cannot have 20 loads under way: as 10 it is.
  k.work.loads_in_flight = 20;
  const auto more = kernel_seconds(round_chip(), k);
  k.work.loads_in_flight = 10;
  CHECK(more.seconds == kernel_seconds(round_chip(), k).seconds);
  CHECK(more.full.bytes_in_flight == Approx(800e3));
}

TEST_CASE("each pipe counts the CTAs of the busiest SM", "[unit]") {
  // The busiest SM works through 3 CTAs, one a wave: 3 x work / (rate x 1 GHz).
  const auto g = round_chip();
  auto k = round_kernel();
  k.work.math_flops = 2e6;          // 2e6 / 1000 = 2 us a CTA
  k.work.fp32_flops = 2e5;          // 2e5 / 200 = 1 us
  k.work.sfu_ops = 5e3;             // 5e3 / 10 = 0.5 us
  k.work.shared_bytes = 3e5;        // 3e5 / 100 = 3 us
  k.work.warp_instructions = 16e3;  // 16e3 / 4 = 4 us
  CHECK(bound_s(g, k, Bound::tensor) == Approx(6 * kUs));
  CHECK(bound_s(g, k, Bound::fp32) == Approx(3 * kUs));
  CHECK(bound_s(g, k, Bound::sfu) == Approx(1.5 * kUs));
  CHECK(bound_s(g, k, Bound::shared_memory) == Approx(9 * kUs));
  CHECK(bound_s(g, k, Bound::issue) == Approx(12 * kUs));

  SECTION("two resident CTAs share their SM: 25 CTAs in 20 slots still make 3 on one SM") {
    k.resources.dynamic_shared_bytes = 40000;
    const auto s = kernel_seconds(g, k);
    CHECK(s.full.ctas_on_busiest_sm == 2);
    CHECK(s.tail.ctas_on_busiest_sm == 1);
    CHECK(bound_s(s, Bound::tensor) == Approx(6 * kUs));
    // ... while the waits happen side by side: two waves of 5.5 us instead of three.
    CHECK(bound_s(s, Bound::latency) == Approx(11 * kUs));
  }
  SECTION("two warps leave two of four partitions idle, but not the shared-memory path") {
    k.resources.threads_per_cta = 64;
    CHECK(bound_s(g, k, Bound::tensor) == Approx(12 * kUs));
    CHECK(bound_s(g, k, Bound::issue) == Approx(24 * kUs));
    CHECK(bound_s(g, k, Bound::shared_memory) == Approx(9 * kUs));
  }
  SECTION("multiply-adds on the ordinary pipe queue behind the other FP32 work") {
    k.pipe = MathPipe::fp32;
    // (2e6 + 2e5) / 200 = 11 us a CTA
    CHECK(bound_s(g, k, Bound::fp32) == Approx(33 * kUs));
    CHECK(bound_s(g, k, Bound::tensor) == 0);
  }
}

TEST_CASE("a wave is as slow as its slowest bound, whichever that is", "[unit]") {
  // Two CTAs per SM, 25 CTAs: a full wave of 20 and a tail of 5. Tensor work of 4 us a CTA:
  // full wave max(2 x 4, latency 5.5) = 8 us, tail max(4, 5.5) = 5.5 us.
  // The largest bound over the kernel is tensor (12 us), yet the waves take 13.5 us.
  auto k = round_kernel();
  k.resources.dynamic_shared_bytes = 40000;
  k.work.math_flops = 4e6;
  const auto s = kernel_seconds(round_chip(), k);
  CHECK(s.full.seconds == Approx(8 * kUs));
  CHECK(s.tail.seconds == Approx(5.5 * kUs));
  CHECK(s.binding == Bound::tensor);
  CHECK(bound_s(s, Bound::tensor) == Approx(12 * kUs));
  CHECK(s.seconds == Approx((1.7 + 13.5) * kUs));
}

TEST_CASE("without a second stage a CTA waits, then computes", "[unit]") {
  // 5.5 us of waiting + 2 us of tensor work, one after the other, in each of three waves.
  auto k = round_kernel();
  k.work.math_flops = 2e6;
  CHECK(bound_s(round_chip(), k, Bound::latency) == Approx(16.5 * kUs));
  k.work.loads_in_flight = 0;
  CHECK(bound_s(round_chip(), k, Bound::latency) == Approx(22.5 * kUs));
}

TEST_CASE("a kernel whose loads are not counted has 16 B per lane in flight", "[unit]") {
  // 4 warps x 32 lanes x 16 B = 2,048 B per CTA.
  auto k = round_kernel();
  k.work.step_read_bytes = 0;
  const auto s = kernel_seconds(round_chip(), k);
  CHECK(s.cta_bytes_in_flight == Approx(2048));
  CHECK(s.full.bytes_in_flight == Approx(20480));
}

TEST_CASE("cold: every byte comes from DRAM once, repeats from the L2", "[unit]") {
  const auto g = round_chip();
  auto k = round_kernel();
  k.work.global_write_bytes = 4000;  // 100 kB in all, each written once
  k.unique_write_bytes = 100e3;
  SECTION("0.6 MB of unique bytes fit the 1 MB L2: 1.5 MB of repeats never reach the DRAM") {
    k.unique_read_bytes = 500e3;
    const auto t = memory_traffic(g, k, {});
    CHECK(t.read_bytes == Approx(2e6));
    CHECK(t.dram_read_bytes == Approx(500e3));
    CHECK(t.dram_write_bytes == Approx(100e3));
  }
  SECTION("neither do they when the 1.6 + 0.1 MB of the whole set exceed it") {
    k.unique_read_bytes = 1.6e6;
    const auto t = memory_traffic(g, k, {});
    CHECK(t.unique_bytes == Approx(1.7e6));
    CHECK(t.dram_read_bytes == Approx(1.6e6));
  }
  SECTION("a descriptor without unique bytes shares nothing") {
    k.unique_read_bytes = 0;
    CHECK(memory_traffic(g, k, {}).dram_read_bytes == Approx(2e6));
  }
}

TEST_CASE("warm: a replay finds what still fits", "[unit]") {
  const auto g = round_chip();
  auto k = round_kernel();
  const KernelTimeOptions warm{.l2 = L2State::warm};
  // A working set of half the L2: hit = 1 / (1 + 0.5^8) = 256 / 257. Of twice the L2: 1 / 257.
  k.unique_read_bytes = 500e3;
  CHECK(memory_traffic(g, k, warm).first_touch_hit == Approx(256.0 / 257));
  CHECK(memory_traffic(g, k, warm).dram_read_bytes == Approx(500e3 / 257));
  k.unique_read_bytes = 2e6;
  CHECK(memory_traffic(g, k, warm).first_touch_hit == Approx(1.0 / 257));
  // A step waits for the mixture: 200 ns hit, 500 ns miss. At exactly the L2 size half of each.
  k.unique_read_bytes = 1e6;
  const auto s = kernel_seconds(g, k, warm);
  CHECK(s.read_latency_s == Approx(350 * kNs));
  CHECK(bound_s(s, Bound::latency) == Approx(3 * 11 * 350 * kNs));
}

TEST_CASE("the launch mode decides the gap", "[unit]") {
  const auto g = round_chip();
  const auto k = round_kernel();
  const auto graph = kernel_seconds(g, k, {.launch = LaunchMode::graph});
  const auto stream = kernel_seconds(g, k, {.launch = LaunchMode::stream});
  CHECK(stream.seconds - graph.seconds == Approx(3 * kUs));
}

TEST_CASE("what cannot run has no seconds and says why", "[unit]") {
  const auto g = round_chip();
  auto k = round_kernel();
  SECTION("too much shared memory") {
    k.resources.dynamic_shared_bytes = 101377;
    const auto t = kernel_time(g, k);
    CHECK_FALSE(t.runs);
    CHECK(t.seconds == 0);
    CHECK(t.residency.verdict == LaunchVerdict::shared_exceeds_cta_limit);
    CHECK(t.residency.shared_bytes_over_limit == 1);
  }
  SECTION("a pipe this chip lacks, named by the descriptor") {
    k.pipe = MathPipe::nvfp4;
    k.work.math_flops = 1;
    k.impossible = "round-chip has no block-scaled FP4";
    CHECK_FALSE(kernel_time(g, k).runs);
  }
  SECTION("an empty grid") {
    k.grid.x = 0;
    CHECK_FALSE(kernel_time(g, k).runs);
  }
  SECTION("a cluster larger than the chip allows") {
    k.resources.cluster_ctas = 16;
    CHECK_FALSE(kernel_seconds(g, k).runs);
    CHECK(kernel_time(g, k).residency.verdict == LaunchVerdict::cluster_exceeds_limit);
  }
  SECTION("more threads than the kernel was compiled for") {
    k.resources.function_max_threads_per_cta = 96;
    CHECK_FALSE(kernel_seconds(g, k).runs);
    CHECK(kernel_time(g, k).residency.verdict == LaunchVerdict::threads_exceed_function_limit);
  }
}

TEST_CASE("a rate that nobody knows is refused by name, only when it is needed", "[unit]") {
  auto g = round_chip();
  auto k = round_kernel();
  k.pipe = MathPipe::nvfp4;
  CHECK(kernel_time(g, k).runs);  // no multiply-adds
  k.work.math_flops = 1e6;
  CHECK_THROWS_WITH(kernel_time(g, k),
                    "round-chip: rates.tensor_nvfp4_flops_per_cycle is not known for this GPU; "
                    "give it with --set rates.tensor_nvfp4_flops_per_cycle=VALUE");
  CHECK_THROWS_AS(kernel_seconds(g, k), DataError);
  k.pipe = MathPipe::bf16;
  g.dram_latency_cycles.reset();
  CHECK_THROWS_WITH(kernel_seconds(g, k),
                    "round-chip: dram_latency_cycles is not known for this GPU; give it with "
                    "--set dram_latency_cycles=VALUE");
  // A cold kernel without repeats never asks how large the L2 is.
  g = round_chip();
  g.l2_bytes.reset();
  CHECK(kernel_seconds(g, k).runs);
  CHECK_THROWS_AS(kernel_seconds(g, k, {.l2 = L2State::warm}), DataError);
}

TEST_CASE("the equations carry their numbers", "[unit]") {
  auto k = round_kernel();
  k.work.math_flops = 2e6;
  k.work.global_write_bytes = 4000;
  k.unique_write_bytes = 100e3;
  auto t = kernel_time(round_chip(), k);
  CHECK(t.bounds.front().bound == Bound::latency);
  CHECK(explained(t, Bound::latency).equation ==
        "3 waves x (1 first fill + 10 steps / 1 in flight) x 500 ns = 16.5 us");
  CHECK(
      explained(t, Bound::tensor).equation ==
      "(2 x 1 + 1) CTAs on the busiest SM x 2.00 Mflop / (1,000 flop/cycle x 1.00 GHz) = 6.00 us");
  CHECK(explained(t, Bound::dram).equation ==
        "2 x 800 kB read x 500 ns / 80.0 kB in flight + 400 kB read x 500 ns / 40.0 kB in flight "
        "(the peak needs 400 kB in flight) = 15.0 us");
  CHECK(explained(t, Bound::launch).equation ==
        "1.00 us graph node gap + 500 ns first read + 200 ns last store = 1.70 us");

  k.work.loads_in_flight = 10;
  k.work.global_write_bytes = 8000;
  k.unique_write_bytes = 200e3;
  t = kernel_time(round_chip(), k);
  CHECK(explained(t, Bound::dram).equation ==
        "(2.00 MB read + 200 kB written) / (1.00 TB/s x 0.8) = 2.75 us");

  k.resources.threads_per_cta = 32;
  t = kernel_time(round_chip(), k);
  CHECK(explained(t, Bound::tensor).equation ==
        "(2 x 1 / 0.25 + 1 / 0.25) CTAs on the busiest SM x 2.00 Mflop / "
        "(1,000 flop/cycle x 1.00 GHz) = 24.0 us");
}

TEST_CASE("a bound is as trustworthy as its weakest input", "[unit]") {
  auto g = round_chip();
  auto k = round_kernel();
  k.shared_provenance = Provenance::compiled;
  k.registers_provenance = Provenance::assumed;  // not a limiter here
  for (const char* path : {"dram_latency_cycles", "l2_latency_cycles", "graph_node_gap_s"}) {
    g.sources[path] = {Provenance::measured, "test", ""};
  }
  for (const char* path : {"sm_clock_hz", "sm_count", "dram_bytes_per_s", "l2_bytes_per_s"}) {
    g.sources[path] = {Provenance::datasheet, "test", ""};
  }
  g.sources["dram_read_efficiency"] = {Provenance::fitted, "test", ""};
  auto t = kernel_time(g, k);
  CHECK(explained(t, Bound::latency).provenance == Provenance::measured);
  CHECK(explained(t, Bound::dram).provenance == Provenance::fitted);
  CHECK(t.provenance == Provenance::assumed);  // the equations are, whatever the inputs
  // A guessed L2 state weakens what it changes; extrapolated bytes that limit weaken everything.
  t = kernel_time(g, k, {.l2 = L2State::warm});
  CHECK(explained(t, Bound::latency).provenance == Provenance::assumed);
  k.shared_provenance = Provenance::extrapolated;
  t = kernel_time(g, k);
  CHECK(explained(t, Bound::latency).provenance == Provenance::extrapolated);
  // A field without a source is unknown.
  g.sources.erase("dram_latency_cycles");
  CHECK(kernel_time(g, k).provenance == Provenance::unknown);
}

TEST_CASE("assumptions are stated when they were used, and only then", "[unit]") {
  const auto states = [](const KernelTime& t, const std::string& part) {
    return std::any_of(t.assumptions.begin(), t.assumptions.end(),
                       [&](const std::string& a) { return a.find(part) != std::string::npos; });
  };
  auto k = round_kernel();
  k.work.warp_instructions = 100;
  auto t = kernel_time(round_chip(), k);
  CHECK(t.assumptions.size() == 1);
  CHECK(states(t, "not calibrated"));
  k.work.warp_instructions = 0;
  k.work.step_read_bytes = 0;
  k.work.loads_in_flight = 0;
  k.resources.threads_per_cta = 64;
  t = kernel_time(round_chip(), k, {.l2 = L2State::warm});
  CHECK(states(t, "issue slots are not counted"));
  CHECK(states(t, "16 B per lane"));
  CHECK(states(t, "only after its own load"));
  CHECK(states(t, "a partition without a warp idles"));
  CHECK(states(t, "^8) of its bytes in the L2"));
  CHECK_FALSE(states(t, "run side by side"));
  k.unique_read_bytes = 1.9e6;  // of the 2 MB asked for: more than the 1 MB of L2
  CHECK(states(kernel_time(round_chip(), k), "run side by side"));
}
