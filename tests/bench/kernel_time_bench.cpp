// SPDX-License-Identifier: Apache-2.0
// Kernel predictions per second on one core: the time alone of instances made beforehand, a shape
// taken from its parameters to its time with a fixed configuration, and the best of a whole
// configuration space for each shape.
//   build/bin/smtwin_kernel_time_bench --benchmark_repetitions=5
#include <benchmark/benchmark.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "arch/gpu_catalog.hpp"
#include "kernels/descriptor.hpp"
#include "model/kernel_time.hpp"
#include "tests/oracle/sample_inputs.hpp"

namespace smtwin {
namespace {

constexpr std::size_t kShapes = 4096;

const GpuSpec& gpu() {
  static const GpuSpec found = find_gpu("rtx-pro-6000-server");
  return found;
}

const KernelDescriptor& gemm() { return find_kernel("triton_gemm"); }

// GEMM shapes from decode to prefill, in random order.
const std::vector<Parameters>& shapes() {
  static const std::vector<Parameters> all = [] {
    oracle::Random random(1);
    std::vector<Parameters> drawn;
    for (std::size_t i = 0; i < kShapes; ++i) {
      drawn.push_back(complete_parameters(gemm(), {{"m", 1 << random.between(0, 13)},
                                                   {"n", 128 * random.between(4, 128)},
                                                   {"k", 128 * random.between(4, 128)}}));
    }
    return drawn;
  }();
  return all;
}

double seconds_of(const KernelInstance& instance) {
  const KernelSeconds time = kernel_seconds(gpu(), instance);
  return time.runs ? time.seconds : std::numeric_limits<double>::infinity();
}

void count_predictions(benchmark::State& state, std::size_t a_round) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(a_round));
}

void time_of_instances(benchmark::State& state) {
  std::vector<KernelInstance> instances;
  for (const Parameters& shape : shapes()) instances.push_back(gemm().instantiate(shape, gpu()));
  for (auto _ : state) {
    double sum = 0;
    for (const KernelInstance& instance : instances) sum += seconds_of(instance);
    benchmark::DoNotOptimize(sum);
  }
  count_predictions(state, instances.size());
}
BENCHMARK(time_of_instances)->Unit(benchmark::kMillisecond);

void fixed_config_from_parameters(benchmark::State& state) {
  for (auto _ : state) {
    double sum = 0;
    for (const Parameters& shape : shapes()) sum += seconds_of(gemm().instantiate(shape, gpu()));
    benchmark::DoNotOptimize(sum);
  }
  count_predictions(state, shapes().size());
}
BENCHMARK(fixed_config_from_parameters)->Unit(benchmark::kMillisecond);

// One item is one shape: every configuration of the space is priced for it.
void best_of_config_space(benchmark::State& state) {
  constexpr std::size_t kSearched = 16;
  std::size_t configs = 0;
  for (auto _ : state) {
    double sum = 0;
    for (std::size_t i = 0; i < kSearched; ++i) {
      double best = std::numeric_limits<double>::infinity();
      const std::vector<Parameters> space = config_space(gemm(), shapes()[i]);
      configs = space.size();
      for (const Parameters& config : space) {
        best = std::min(best, seconds_of(gemm().instantiate(config, gpu())));
      }
      sum += best;
    }
    benchmark::DoNotOptimize(sum);
  }
  count_predictions(state, kSearched);
  state.counters["configs"] = static_cast<double>(configs);
}
BENCHMARK(best_of_config_space)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace smtwin

int main(int argc, char** argv) {
  setenv("SMTWIN_DATA", SMTWIN_BENCH_DATA, 0);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
