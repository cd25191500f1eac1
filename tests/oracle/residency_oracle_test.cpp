// SPDX-License-Identifier: Apache-2.0
// The model against the toolkit's occupancy calculator, point by point: CTAs, limiter set, every
// limit, allocated registers and shared bytes. Zero differences. Where the toolkit's header is not
// installed this is skipped, and occupancy_answers_test.cpp compares its committed answers.
#include "arch/gpu_catalog.hpp"
#include "tests/catch.hpp"
#include "tests/oracle/sample_inputs.hpp"

#ifdef SMTWIN_HAVE_CUDA_OCCUPANCY

#include "tests/oracle/toolkit_calculator.hpp"

namespace smtwin::oracle {
namespace {

// Compares point after point; keeps the count and the first differences in words.
class Comparison {
 public:
  explicit Comparison(const GpuSpec& gpu) : gpu_(gpu), device_(device_properties(gpu)) {}

  void operator()(const KernelResources& kernel) {
    ++points_;
    const auto expected = ask(device_, kernel);
    std::string found = expected ? difference(gpu_.sm, kernel, *expected)
                                 : std::string("the calculator refuses the input");
    if (found.empty() && points_ % kFullAnswerEvery == 0) {
      found = difference_in_full(gpu_, kernel, *expected);
    }
    if (found.empty()) return;
    if (++differences_ <= 5) report_ += describe(gpu_, kernel) + ": " + found + '\n';
  }

  std::int64_t points() const { return points_; }
  std::int64_t differences() const { return differences_; }
  const std::string& report() const { return report_; }

 private:
  static constexpr std::int64_t kFullAnswerEvery = 101;
  const GpuSpec& gpu_;
  cudaOccDeviceProp device_;
  std::int64_t points_ = 0;
  std::int64_t differences_ = 0;
  std::string report_;
};

std::uint64_t seed_of(const GpuSpec& gpu) {
  return static_cast<std::uint64_t>(gpu.compute_capability.major * 100 +
                                    gpu.compute_capability.minor);
}

void draw(Comparison& compare, const GpuSpec& gpu, int points) {
  Random random(seed_of(gpu));
  const auto thresholds = shared_thresholds(gpu.sm);
  for (int i = 0; i < points; ++i) compare(draw_kernel(random, gpu.sm, thresholds));
}

}  // namespace

TEST_CASE("residency equals the toolkit's calculator on every compute capability", "[oracle]") {
  std::int64_t points = 0;
  for (const char* name : compute_capabilities()) {
    const GpuSpec gpu = find_gpu(name);
    Comparison compare(gpu);

    // Threads x registers, every value of both.
    for (int threads = 1; threads <= gpu.sm.max_threads_per_cta + 1; ++threads) {
      for (int registers = 0; registers <= 257; ++registers) {
        compare({.threads_per_cta = threads, .registers_per_thread = registers});
      }
    }
    // Shared bytes at every threshold x every carveout preference, dynamic or static, with and
    // without opt-in.
    for (const std::int64_t bytes : shared_thresholds(gpu.sm)) {
      for (int carveout = -1; carveout <= 100; ++carveout) {
        compare(
            {.threads_per_cta = 32, .dynamic_shared_bytes = bytes, .carveout_percent = carveout});
        compare({.threads_per_cta = 48,
                 .static_shared_bytes = bytes,
                 .carveout_percent = carveout,
                 .shared_opt_in = false});
      }
    }
    // Barriers x virtual resources.
    for (int barriers = 0; barriers <= 16; ++barriers) {
      for (int virtual_resources = 0; virtual_resources <= 130; ++virtual_resources) {
        compare({.threads_per_cta = 32,
                 .registers_per_thread = 16,
                 .barriers_per_cta = barriers,
                 .virtual_resources_per_cta = virtual_resources});
      }
    }
    draw(compare, gpu, 200'000);  // everything at once

    INFO(name << ": " << compare.points() << " points\n" << compare.report());
    CHECK(compare.differences() == 0);
    points += compare.points();
  }
  std::cout << points << " points compared on " << compute_capabilities().size()
            << " compute capabilities\n";
  CHECK(points >= 2'000'000);
}

TEST_CASE("every GPU that ships agrees with the toolkit's calculator", "[oracle]") {
  for (const std::string& name : gpu_names()) {
    const GpuSpec gpu = find_gpu(name);
    Comparison compare(gpu);
    draw(compare, gpu, 20'000);
    INFO(name << '\n' << compare.report());
    CHECK(compare.differences() == 0);
  }
}

// The comparison itself must be able to fail: one unit off in the data has to be noticed.
TEST_CASE("a wrong number in a GPU's data shows as a difference", "[oracle]") {
  GpuSpec gpu = find_gpu("sm-90");
  SECTION("allocation unit of shared memory") { gpu.sm.shared_allocation_unit_bytes = 256; }
  SECTION("partitions of the register file") { gpu.sm.partitions_per_sm = 2; }
  SECTION("CTA slots") { gpu.sm.max_ctas_per_sm = 31; }
  SECTION("a missing carveout step") {
    gpu.sm.shared_carveouts_bytes[1] = gpu.sm.shared_carveouts_bytes[2];
  }
  Comparison compare(gpu);
  draw(compare, gpu, 20'000);
  CHECK(compare.differences() > 0);
}

}  // namespace smtwin::oracle

#else

TEST_CASE("residency equals the toolkit's calculator on every compute capability", "[oracle]") {
  smtwin::test::skip(
      "the CUDA toolkit's cuda_occupancy.h is not installed; its committed answers are compared in "
      "occupancy_answers_test");
}

#endif
