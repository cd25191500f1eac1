// SPDX-License-Identifier: Apache-2.0
#include "model/families/gemm/quant_scale_time.hpp"

#include <algorithm>
#include <cmath>

#include "model/families/gemm/gemm_shape.hpp"
#include "model/families/gemm/l2_residency.hpp"
#include "model/timing/constant_specs.hpp"
#include "model/timing/norms.hpp"

namespace smtwin {
namespace {

constexpr double kElementBytes = 2;     // activations
constexpr double kThroughBytes = 3;     // read as 16 bits, written as 8
constexpr double kThreadsPerRow = 256;  // of vLLM's kernel, fewer for narrow rows
constexpr double kElementsPerThread = 16;
constexpr double kThreadsPerWarp = 32;
constexpr double kGridThreads = 1024.0 * 1024.0;  // of TensorRT-LLM's kernel
// Resident warps and CTAs of an SM (CUDA programming guide, compute capabilities 9.0 and 12.0).
constexpr double kHopperWarpsPerSm = 64, kHopperCtasPerSm = 32;
constexpr double kSm120WarpsPerSm = 48, kSm120CtasPerSm = 24;

ConstantSpec spec(std::string name, std::string unit, std::string meaning, double prior,
                  double log_sigma, double low, double high) {
  ConstantSpec s;
  s.name = std::move(name);
  s.unit = std::move(unit);
  s.meaning = std::move(meaning);
  s.prior = prior;
  s.log_sigma = log_sigma;
  s.low = low;
  s.high = high;
  return s;
}

ConstantSpec time_constant(std::string name, std::string meaning, double prior) {
  ConstantSpec s =
      spec(std::move(name), "s", std::move(meaning), prior, 0.5, prior / 30, prior * 30);
  s.off = 0;
  return s;
}

ConstantSpec rate_constant(std::string name, std::string meaning, double prior) {
  return spec(std::move(name), "B/s", std::move(meaning), prior, 0.5, prior / 10, prior * 10);
}

double hit_share(const TimingGpu& gpu, double bytes, double resident_share) {
  return l2_residency(gpu).hit(bytes / resident_share);
}

// Order of the values.
enum RowConstant { dram, first, wave, step, row_l2, overlap, row_resident };
enum TensorConstant { launch, contention, tensor_l2, stream, tensor_resident };

std::vector<ConstantSpec> row_constants(const TimingGpu& gpu) {
  return {dram_rate_spec(gpu),
          time_constant("first_wave_time", "second pass of the first wave of rows", 0.55e-6),
          time_constant("wave_time", "second pass of each further wave of 256-thread CTAs", 0.9e-6),
          time_constant("step_time", "a further step of 4096 elements of a row", 0.5e-6),
          rate_constant("l2_rate", "second read, L2 to all SMs", 16 * gpu.sm_count * gpu.clock_hz),
          spec("stream_overlap", "1", "share of the second pass hidden behind a DRAM stream", 0.6,
               0.5, 0.05, 0.995),
          spec("resident_share", "1", "rows in flight that the L2 holds, against weights", 1.3, 0.3,
               0.3, 5)};
}

std::vector<ConstantSpec> tensor_constants(const TimingGpu& gpu) {
  return {time_constant("launch_time", "memset, kernel and gaps of an empty matrix", 6.9e-6),
          time_constant("contention_time", "CTAs with data meeting at one atomic", 2.5e-6),
          rate_constant("l2_rate", "2-byte loads from the L2", 12 * gpu.sm_count * gpu.clock_hz),
          rate_constant("stream_rate", "2-byte loads from DRAM", 1.5e12),
          spec("resident_share", "1", "of the replayed matrix that the L2 holds, against weights",
               1.8, 0.3, 0.3, 5)};
}

}  // namespace

QuantScaleTimeModel::QuantScaleTimeModel(Granularity granularity, const TimingGpu& gpu)
    : granularity_(granularity),
      gpu_(gpu),
      specs_(granularity == Granularity::row ? row_constants(gpu) : tensor_constants(gpu)) {}

QuantScaleTimeModel::QuantScaleTimeModel(ServingFramework framework, const TimingGpu& gpu)
    : QuantScaleTimeModel(
          framework == ServingFramework::trtllm ? Granularity::tensor : Granularity::row, gpu) {}

TimeParts QuantScaleTimeModel::row_time(double rows, double columns,
                                        std::span<const double> v) const {
  const double warps =
      std::min(kThreadsPerRow / kThreadsPerWarp, ceil_div(columns, kThreadsPerWarp));
  const double threads = warps * kThreadsPerWarp;
  const double ctas_per_sm = gpu_.hopper()
                                 ? std::min(kHopperCtasPerSm, std::floor(kHopperWarpsPerSm / warps))
                                 : std::min(kSm120CtasPerSm, std::floor(kSm120WarpsPerSm / warps));
  const double in_flight = ctas_per_sm * gpu_.sm_count;
  const double waves = ceil_div(rows, in_flight);
  const double steps = ceil_div(columns, threads * kElementsPerThread);
  const double bytes = rows * columns * kElementBytes;

  TimeParts t;
  t[Regime::launch] = v[first];
  t[Regime::latency] = (waves - 1) * v[wave] * threads / kThreadsPerRow + (steps - 1) * v[step];
  t[Regime::l2] = bytes / v[row_l2];
  const double pass = norm2(t[Regime::launch] + t[Regime::latency], t[Regime::l2]);
  const double streamed = 1 - hit_share(gpu_, rows * columns * kThroughBytes, 1);
  const double again =
      1 - hit_share(gpu_, std::min(rows, in_flight) * columns * kElementBytes, v[row_resident]);
  t[Regime::dram] = again * bytes / v[dram];
  t.seconds = norm2(pass * (1 - v[overlap] * streamed), t[Regime::dram]);
  return t;
}

TimeParts QuantScaleTimeModel::tensor_time(double rows, double columns,
                                           std::span<const double> v) const {
  const double elements = rows * columns;
  const double share = elements / kGridThreads;
  const double hit = hit_share(gpu_, elements * kThroughBytes, v[tensor_resident]);
  TimeParts t;
  t[Regime::launch] = v[launch];
  t[Regime::latency] = v[contention] * share / (1 + share);
  t[Regime::l2] = hit * elements * kElementBytes / v[tensor_l2];
  t[Regime::dram] = (1 - hit) * elements * kElementBytes / v[stream];
  t.seconds = t[Regime::launch] + norm3(t[Regime::latency], t[Regime::l2] + t[Regime::dram]);
  return t;
}

TimeParts QuantScaleTimeModel::parts(double rows, double columns,
                                     std::span<const double> values) const {
  return granularity_ == Granularity::row ? row_time(rows, columns, values)
                                          : tensor_time(rows, columns, values);
}

double QuantScaleTimeModel::seconds(double rows, double columns,
                                    std::span<const double> values) const {
  return parts(rows, columns, values).seconds;
}

}  // namespace smtwin
