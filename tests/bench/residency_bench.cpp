// SPDX-License-Identifier: Apache-2.0
// Residency evaluations per second on one core: CTA count and limiter set of 2^20 kernels drawn
// over eight compute capabilities, in random order, so that neither branches nor tables can be
// learnt. Where the toolkit's header is installed its calculator answers the same array, in its own
// input structs, which are filled beforehand. A checksum ties the two together.
//   build/bin/smtwin_residency_bench --benchmark_repetitions=5
#include <benchmark/benchmark.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "arch/gpu_catalog.hpp"
#include "model/residency.hpp"
#include "tests/oracle/sample_inputs.hpp"
#ifdef SMTWIN_HAVE_CUDA_OCCUPANCY
#include "tests/oracle/toolkit_calculator.hpp"
#endif

namespace smtwin {
namespace {

constexpr std::size_t kInputs = std::size_t{1} << 20;

struct Input {
  std::size_t gpu = 0;
  KernelResources kernel;
};

const std::vector<GpuSpec>& gpus() {
  static const std::vector<GpuSpec> all = [] {
    std::vector<GpuSpec> found;
    for (const char* name :
         {"sm-70", "sm-75", "sm-80", "sm-86", "sm-89", "sm-90", "sm-100", "sm-120"}) {
      found.push_back(find_gpu(name));
    }
    return found;
  }();
  return all;
}

const std::vector<Input>& inputs() {
  static const std::vector<Input> all = [] {
    std::vector<std::vector<std::int64_t>> thresholds;
    for (const GpuSpec& gpu : gpus()) thresholds.push_back(oracle::shared_thresholds(gpu.sm));
    oracle::Random random(1);
    std::vector<Input> drawn(kInputs);
    for (Input& input : drawn) {
      input.gpu = random.next() % gpus().size();
      input.kernel = oracle::draw_kernel(random, gpus()[input.gpu].sm, thresholds[input.gpu]);
      // One barrier and no virtual resources: what the runtime reports for an ordinary kernel.
      input.kernel.barriers_per_cta = 1;
      input.kernel.virtual_resources_per_cta = 0;
    }
    return drawn;
  }();
  return all;
}

std::uint64_t mix(std::int32_t ctas, unsigned limiters) {
  return static_cast<std::uint64_t>(ctas) * 64 + limiters;
}

std::uint64_t our_checksum() {
  const std::vector<GpuSpec>& chips = gpus();
  std::uint64_t sum = 0;
  for (const Input& input : inputs()) {
    const ResidentCtas got = resident_ctas(chips[input.gpu].sm, input.kernel);
    sum += mix(got.ctas_per_sm, got.limiters.bits());
  }
  return sum;
}

void resident_ctas_shuffled(benchmark::State& state) {
  inputs();
  for (auto _ : state) benchmark::DoNotOptimize(our_checksum());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kInputs));
}
BENCHMARK(resident_ctas_shuffled)->Unit(benchmark::kMillisecond);

#ifdef SMTWIN_HAVE_CUDA_OCCUPANCY
struct HeaderInput {
  const cudaOccDeviceProp* device = nullptr;
  cudaOccFuncAttributes function;
  cudaOccDeviceState device_state;
  int threads = 0;
  std::size_t dynamic_shared_bytes = 0;
};

std::uint64_t header_checksum(const std::vector<HeaderInput>& asked) {
  std::uint64_t sum = 0;
  for (const HeaderInput& input : asked) {
    cudaOccResult result;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, input.device, &input.function,
                                                &input.device_state, input.threads,
                                                input.dynamic_shared_bytes) != CUDA_OCC_SUCCESS) {
      throw std::runtime_error("the toolkit's calculator refuses a drawn kernel");
    }
    sum += mix(result.activeBlocksPerMultiprocessor, result.limitingFactors);
  }
  return sum;
}

void cuda_occupancy_header_shuffled(benchmark::State& state) {
  std::vector<cudaOccDeviceProp> devices;
  for (const GpuSpec& gpu : gpus()) devices.push_back(oracle::device_properties(gpu));
  std::vector<HeaderInput> asked;
  asked.reserve(kInputs);
  for (const Input& input : inputs()) {
    HeaderInput converted;
    converted.device = &devices[input.gpu];
    converted.function = oracle::function_attributes(input.kernel);
    converted.device_state.carveoutConfig = input.kernel.carveout_percent;
    converted.threads = input.kernel.threads_per_cta;
    converted.dynamic_shared_bytes = static_cast<std::size_t>(input.kernel.dynamic_shared_bytes);
    asked.push_back(converted);
  }
  if (header_checksum(asked) != our_checksum()) {
    state.SkipWithError("the two disagree on this array");
    return;
  }
  for (auto _ : state) benchmark::DoNotOptimize(header_checksum(asked));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kInputs));
}
BENCHMARK(cuda_occupancy_header_shuffled)->Unit(benchmark::kMillisecond);
#endif

}  // namespace
}  // namespace smtwin

int main(int argc, char** argv) {
  setenv("SMTWIN_DATA", SMTWIN_BENCH_DATA, 0);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
