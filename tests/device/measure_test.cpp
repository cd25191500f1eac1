// SPDX-License-Identifier: Apache-2.0
// The measuring half on a real GPU: it knows the GPU, sees residency, and its medians repeat.
#include <cmath>

#include "arch/error.hpp"
#include "tests/catch.hpp"
#include "validate/device/device.hpp"
#include "validate/runs/run_session.hpp"

using namespace smtwin;

namespace {

std::unique_ptr<Measurer> gpu_or_skip() {
  try {
    return open_gpu(0);
  } catch (const NoDeviceError& error) {
    test::skip(error.what());
    return nullptr;
  }
}

}  // namespace

TEST_CASE("a GPU that is not there is no device", "[device]") {
  CHECK_THROWS_AS(query_gpu(1023), NoDeviceError);
  CHECK_THROWS_AS(open_gpu(-1), NoDeviceError);
}

TEST_CASE("the GPU is described, and found in the catalog where it is an H200", "[device]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  const RunGpu facts = gpu->gpu();
  CHECK_FALSE(facts.reported.empty());
  CHECK_FALSE(facts.driver.empty());
  CHECK(facts.sm_count > 0);
  CHECK(facts.memory_bytes > std::int64_t{1} << 30);
  CHECK(facts.l2_bytes > 1 << 20);
  CHECK(facts.sm_clock_max_hz > 5e8);
  if (facts.reported == "NVIDIA H200") CHECK(facts.name == "h200-sxm");
}

TEST_CASE("every variant is right, and as many CTAs meet as the driver says", "[device]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  const SessionOptions options{.effort = Effort::check, .only_kernel = "", .clock = {}};
  const SessionResult result = run_session(*gpu, options, nullptr);
  INFO(describe(result.skipped) << result.stopped);
  CHECK(result.stopped.empty());
  CHECK(result.wrong_results == 0);
  CHECK_FALSE(result.run.functions.empty());
}

TEST_CASE("two medians of one thing agree, a cold one is no faster than a warm one", "[device]") {
  const auto gpu = gpu_or_skip();
  if (!gpu) return;
  for (const MeasurableKernel& kernel : gpu->kernels()) {
    if (!kernel.unavailable.empty() || kernel.peer) continue;
    INFO(kernel.name);
    const Parameters shape = sweep_of(kernel.name, Effort::quick).front();
    const auto problem = gpu->open(kernel.name, shape, 1);
    TimeTask task{.config = kernel.variants.front(), .samples = 15};
    const TimeReading first = problem->time(task);
    const TimeReading second = problem->time(task);
    task.cache = SampleCache::warm;
    const TimeReading warm = problem->time(task);
    REQUIRE(first.samples > 0);
    REQUIRE(second.samples > 0);
    CHECK(std::abs(first.seconds / second.seconds - 1) < 0.05);
    CHECK(warm.seconds < first.seconds * 1.05);
    CHECK(first.sm_clock_hz > 5e8);
    CHECK(first.sm_clock_hz < 1.05 * gpu->gpu().sm_clock_max_hz);
  }
}
