// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/decode_terms.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace smtwin {

namespace {

// Part of the L2 that a cyclically replayed KV cache can use. Hopper's L2 is two halves that each
// cache for their own SMs; SM120's is one. Fitted once for all decode families of each GPU.
constexpr double kHopperWarmShare = 0.533, kHopperColdShare = 0.80;
constexpr double kWarmShare = 1.0, kColdShare = 1.12;

}  // namespace

AttentionConstant AttentionConstants::add(ConstantSpec spec) {
  specs_.push_back(std::move(spec));
  return {.index = static_cast<int>(specs_.size()) - 1, .fixed = 0};
}

double cold_share(double bytes, double capacity_bytes, int sharpness) {
  double x = 1;
  for (int i = 0; i < sharpness; ++i) x *= bytes / capacity_bytes;
  return std::isfinite(x) ? x / (1 + x) : 1;
}

MemoryTraffic replayed_traffic(double bytes, double footprint_bytes, const TimingGpu& gpu) {
  const double full = gpu.hopper() ? kHopperWarmShare : kWarmShare;
  const double gone = gpu.hopper() ? kHopperColdShare : kColdShare;
  return {.bytes = bytes,
          .cold = std::clamp((footprint_bytes / gpu.l2_bytes - full) / (gone - full), 0.0, 1.0)};
}

ConstantSpec dram_rate_spec(const TimingGpu& gpu) {
  return {.name = "dram_rate",
          .unit = "B/s",
          .meaning = "DRAM read rate of a full grid",
          .prior = gpu.dram_read_bytes_per_s,
          .log_sigma = 0.05,
          .low = 0.7 * gpu.dram_bytes_per_s,
          .high = 1.05 * gpu.dram_bytes_per_s,
          .of_gpu = true};
}

double typical_l2_rate(const TimingGpu& gpu) {
  constexpr double kBytesPerCycleAndSm = 24;
  return kBytesPerCycleAndSm * gpu.sm_count * gpu.clock_hz;
}

ConstantSpec l2_rate_spec(const TimingGpu& gpu) {
  return {.name = "l2_rate",
          .unit = "B/s",
          .meaning = "rate of KV bytes that the L2 still holds",
          .prior = typical_l2_rate(gpu),
          .log_sigma = 0.3,
          .low = 1.0 * gpu.dram_bytes_per_s,
                .high = 128 * gpu.sm_count * gpu.clock_hz,
          .off = 1e18};
}

ConstantSpec fixed_time_spec(double prior_s) {
  return {.name = "fixed_time",
          .unit = "s",
          .meaning = "launch gap, prologue and epilogue of the step's kernels",
          .prior = prior_s,
          .log_sigma = 0.5,
          .low = 0.2e-6,
          .high = 30e-6};
}

ConstantSpec activation_rate_spec(const TimingGpu& gpu) {
  return {.name = "activation_rate",
          .unit = "B/s",
          .meaning = "rate of queries, outputs and partial results through the L2",
          .prior = gpu.dram_bytes_per_s,
          .log_sigma = 0.6,
          .low = 0.1 * gpu.dram_bytes_per_s,
          .high = 10 * gpu.dram_bytes_per_s,
          .off = 1e18};
}

DecodeTime memory_and_latency(const MemoryTraffic& traffic, double l2_rate, double dram_rate,
                              const CtaRounds& ctas, CacheState cache) {
  const double cold = cache == CacheState::cold ? 1 : traffic.cold;
  DecodeTime t;
  t.l2_s = traffic.bytes * (1 - cold) / l2_rate;
  t.dram_s = traffic.bytes * cold * traffic.dram_reads / dram_rate;
  t.latency_s = ctas.latency_s;
    t.seconds = ctas.start_s + std::hypot(t.l2_s + t.dram_s, ctas.latency_s - ctas.start_s);
  return t;
}

}  // namespace smtwin
