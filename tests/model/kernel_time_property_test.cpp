// SPDX-License-Identifier: Apache-2.0
// What must hold for any kernel on any chip, tried on a few hundred of each.
#include <algorithm>
#include <cmath>
#include <random>

#include "model/kernel_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/round_chip.hpp"

using namespace smtwin;
using smtwin::test::round_chip;
using smtwin::test::round_kernel;

namespace {

constexpr int kKernels = 400;

// Rounding may move the last bits of a sum.
bool no_more(double a, double b) { return a <= b * (1 + 1e-12); }

struct Random {
  std::mt19937 engine{20260801};
  double log_between(double low, double high) {
    return std::exp(std::uniform_real_distribution<>(std::log(low), std::log(high))(engine));
  }
  int between(int low, int high) { return std::uniform_int_distribution<>(low, high)(engine); }
};

// Kernels of every kind: starved and fed, sharing and not, of one warp and of 32.
KernelInstance random_kernel(Random& r) {
  auto k = round_kernel();
  k.resources.threads_per_cta = 32 * r.between(1, 32);
  k.resources.registers_per_thread = r.between(0, 64);
  k.resources.dynamic_shared_bytes = r.between(0, 100000);
  k.grid.x = r.between(1, 400);
  const auto ctas = static_cast<double>(k.grid.x);
  CtaWork& w = k.work;
  w.steps = r.between(1, 64);
  w.global_read_bytes = r.log_between(1e2, 1e6);
  w.step_read_bytes = r.between(0, 3) == 0 ? 0 : w.global_read_bytes / w.steps;
  w.loads_in_flight = r.between(0, 6);
  w.global_write_bytes = r.log_between(1, 1e5);
  w.shared_bytes = r.log_between(1, 1e7);
  w.math_flops = r.log_between(1, 1e9);
  w.fp32_flops = r.log_between(1, 1e7);
  w.sfu_ops = r.log_between(1, 1e6);
  w.warp_instructions = r.log_between(1, 1e6);
  k.unique_read_bytes = ctas * w.global_read_bytes / r.log_between(1, 50);
  k.unique_write_bytes = ctas * w.global_write_bytes / r.log_between(1, 2);
  return k;
}

// Calls check(kernel, options) for every random kernel in each L2 state.
template <typename Check>
void for_random_kernels(Check check) {
  Random r;
  for (int i = 0; i < kKernels; ++i) {
    const KernelInstance k = random_kernel(r);
    for (const L2State l2 : {L2State::cold, L2State::warm}) {
      INFO("kernel " << i << (l2 == L2State::cold ? " cold" : " warm"));
      check(k, KernelTimeOptions{.l2 = l2});
    }
  }
}

// A change of the chip that may only help.
template <typename Change>
void faster_chip_is_no_slower(Change change) {
  const GpuSpec base = round_chip();
  GpuSpec better = base;
  change(better);
  for_random_kernels([&](const KernelInstance& k, const KernelTimeOptions& o) {
    REQUIRE(no_more(kernel_seconds(better, k, o).seconds, kernel_seconds(base, k, o).seconds));
  });
}

// A change of the kernel that may only cost.
template <typename Change>
void heavier_kernel_is_no_faster(Change change) {
  const GpuSpec g = round_chip();
  for_random_kernels([&](const KernelInstance& k, const KernelTimeOptions& o) {
    KernelInstance heavier = k;
    change(heavier);
    REQUIRE(no_more(kernel_seconds(g, k, o).seconds, kernel_seconds(g, heavier, o).seconds));
  });
}

}  // namespace

TEST_CASE("time does not rise with a faster chip", "[property]") {
  const double factor = GENERATE(1.01, 1.5, 8.0);
  SECTION("DRAM bandwidth") {
    faster_chip_is_no_slower([=](GpuSpec& g) { *g.dram_bytes_per_s *= factor; });
  }
  SECTION("L2 bandwidth") {
    faster_chip_is_no_slower([=](GpuSpec& g) { *g.l2_bytes_per_s *= factor; });
  }
  SECTION("L2 capacity") {
    faster_chip_is_no_slower([=](GpuSpec& g) { *g.l2_bytes *= factor; });
  }
  SECTION("clock") {
    faster_chip_is_no_slower([=](GpuSpec& g) { *g.sm_clock_hz *= factor; });
  }
  SECTION("DRAM latency") {
    faster_chip_is_no_slower([=](GpuSpec& g) { *g.dram_latency_cycles /= std::min(factor, 2.5); });
  }
  SECTION("tensor rate") {
    faster_chip_is_no_slower([=](GpuSpec& g) { *g.rates.tensor_bf16_flops_per_cycle *= factor; });
  }
}

TEST_CASE("time does not rise when the SMs double or triple", "[property]") {
  // Any number of SMs would be too strong a claim: a fuller last wave can beat an emptier one.
  const int factor = GENERATE(2, 3);
  faster_chip_is_no_slower([=](GpuSpec& g) { *g.sm_count *= factor; });
}

TEST_CASE("time does not fall when a CTA does more", "[property]") {
  const double factor = GENERATE(1.01, 2.0, 30.0);
  SECTION("bytes asked for") {
    heavier_kernel_is_no_faster([=](KernelInstance& k) { k.work.global_read_bytes *= factor; });
  }
  SECTION("unique bytes") {
    heavier_kernel_is_no_faster([=](KernelInstance& k) { k.unique_read_bytes *= factor; });
  }
  SECTION("bytes written") {
    heavier_kernel_is_no_faster([=](KernelInstance& k) { k.work.global_write_bytes *= factor; });
  }
  SECTION("shared-memory bytes") {
    heavier_kernel_is_no_faster([=](KernelInstance& k) { k.work.shared_bytes *= factor; });
  }
  SECTION("instructions") {
    heavier_kernel_is_no_faster([=](KernelInstance& k) { k.work.warp_instructions *= factor; });
  }
  SECTION("multiply-adds") {
    heavier_kernel_is_no_faster([=](KernelInstance& k) { k.work.math_flops *= factor; });
  }
}

TEST_CASE("a warm L2 is no slower than a cold one, a deeper pipeline no slower than none",
          "[property]") {
  const GpuSpec g = round_chip();
  for_random_kernels([&](const KernelInstance& k, const KernelTimeOptions& o) {
    const double seconds = kernel_seconds(g, k, o).seconds;
    REQUIRE(no_more(kernel_seconds(g, k, {.l2 = L2State::warm}).seconds, seconds));
    KernelInstance deeper = k;
    deeper.work.loads_in_flight += 1;
    REQUIRE(no_more(kernel_seconds(g, deeper, o).seconds, seconds));
  });
}

TEST_CASE("the total lies between its largest bound and the sum of all", "[property]") {
  const GpuSpec g = round_chip();
  for_random_kernels([&](const KernelInstance& k, const KernelTimeOptions& o) {
    const auto s = kernel_seconds(g, k, o);
    if (!s.runs) return;
    double sum = 0;
    double largest = 0;
    for (const double b : s.bound_seconds) {
      sum += b;
      largest = std::max(largest, b);
    }
    REQUIRE(s.seconds >= largest);
    REQUIRE(no_more(s.seconds, sum));
    REQUIRE(s.bound_seconds[static_cast<std::size_t>(s.binding)] == largest);
  });
}

TEST_CASE("the explained time is the plain one", "[property]") {
  const GpuSpec g = round_chip();
  for_random_kernels([&](const KernelInstance& k, const KernelTimeOptions& o) {
    const auto s = kernel_seconds(g, k, o);
    const auto t = kernel_time(g, k, o);
    REQUIRE(t.runs == s.runs);
    REQUIRE(t.runs ==
            (t.residency.verdict == LaunchVerdict::launches && t.residency.ctas_per_sm > 0));
    REQUIRE(t.seconds == s.seconds);
    REQUIRE(t.binding == s.binding);
    REQUIRE(t.residency.ctas_per_sm == s.resident.ctas_per_sm);
    REQUIRE(std::is_sorted(
        t.bounds.begin(), t.bounds.end(),
        [](const BoundTime& a, const BoundTime& b) { return a.seconds > b.seconds; }));
    if (!t.runs) return;
    REQUIRE(t.bounds.front().bound == t.binding);
    REQUIRE(t.bounds.front().provenance == t.provenance);
  });
}

TEST_CASE("a read stream speeds up with its resident CTAs until the DRAM's peak, then not at all",
          "[property]") {
  // Two 16 B loads per lane, 256 threads: 8,192 B per CTA, 81,920 B for each resident CTA of 10
  // SMs. The peak needs 400 kB: 1, 2 and 4 CTAs per SM are in proportion, 163.84 GB/s each; 8 would
  // give 1,311 GB/s and get the 800 GB/s there are.
  const GpuSpec g = round_chip();
  const KernelTimeOptions two_loads{.constants = {.fallback_bytes_in_flight_per_lane = 32}};
  auto k = round_kernel();
  k.resources = {.threads_per_cta = 256, .registers_per_thread = 32};
  k.work = {.global_read_bytes = 1e6};
  for (const int resident : {1, 2, 4, 8}) {
    INFO(resident << " CTAs per SM");
    k.grid.x = 10 * resident;
    k.unique_read_bytes = 1e7 * resident;
    const auto s = kernel_seconds(g, k, two_loads);
    const double rate =
        k.unique_read_bytes / s.bound_seconds[static_cast<std::size_t>(Bound::dram)];
    CHECK(rate == Approx(resident < 8 ? resident * 163.84e9 : 800e9));
    CHECK(s.tail.dram_starved + s.full.dram_starved == (resident < 8 ? 1 : 0));
  }
}
