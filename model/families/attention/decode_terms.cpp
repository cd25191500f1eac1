// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/decode_terms.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace smtwin {

namespace {

// Footprint / L2 size up to which a replay is warm, and from which on it is cold. Hopper's L2 is
// two halves that each cache for their own SMs: reads fall off between 32 and 48 of its 60 MiB.
// SM120's holds what its size says. Seen in the rows of all decode kernels of each GPU.
constexpr double kHopperWarm = 0.533, kHopperCold = 0.80;
constexpr double kWarm = 1.0, kCold = 1.12;

// A stream from DRAM runs below the full rate until it has lost 4 us: a tenth below on SM120, 30 %
// on Hopper, which has three times as many bytes to keep in flight. Fitted by family the loss comes
// out at 3 to 6 us on both GPUs, except for Triton's shallow pipelines.
constexpr double kRampShare = 0.1, kHopperRampShare = 0.3;
constexpr double kRampLimit_s = 4e-6;

}  // namespace

AttentionConstant AttentionConstants::add(ConstantSpec spec) {
  specs_.push_back(std::move(spec));
  return {.index = static_cast<int>(specs_.size()) - 1, .fixed = 0};
}

ConstantSpec time_spec(std::string name, std::string meaning, double prior_s) {
  return {.name = std::move(name),
          .unit = "s",
          .meaning = std::move(meaning),
          .prior = prior_s,
          .log_sigma = 0.5,
          .low = prior_s / 50,
          .high = prior_s * 10,
          .off = 0};
}

ConstantSpec rate_spec(std::string name, std::string meaning, double prior_bytes_per_s) {
  return {.name = std::move(name),
          .unit = "B/s",
          .meaning = std::move(meaning),
          .prior = prior_bytes_per_s,
          .log_sigma = 0.5,
          .low = prior_bytes_per_s / 20,
          .high = prior_bytes_per_s * 20,
          .off = kNoRate};
}

ConstantSpec factor_spec(std::string name, std::string meaning, double prior, double off) {
  return {.name = std::move(name),
          .unit = "1",
          .meaning = std::move(meaning),
          .prior = prior,
          .log_sigma = 0.5,
          .low = prior / 30,
          .high = prior * 8,
          .off = off};
}

double typical_l2_rate(const TimingGpu& gpu) {
  constexpr double kBytesPerCycleAndSm = 24;
  return kBytesPerCycleAndSm * gpu.sm_count * gpu.clock_hz;
}

ConstantSpec l2_rate_spec(const TimingGpu& gpu) {
  ConstantSpec s = rate_spec("l2_rate", "rate of bytes that the L2 still holds, all SMs together",
                             typical_l2_rate(gpu));
  // Below the DRAM rate a warm replay would be slower than a cold one.
  s.low = 1.05 * gpu.dram_bytes_per_s;
  return s;
}

ConstantSpec fixed_time_spec(double prior_s) {
  ConstantSpec s = time_spec("fixed_time", "launch gaps and small kernels of the step", prior_s);
  s.off.reset();
  return s;
}

ConstantSpec activation_rate_spec(const TimingGpu& gpu) {
  ConstantSpec s = rate_spec("activation_rate",
                             "queries, outputs and partial results outside the KV "
                             "stream",
                             gpu.dram_bytes_per_s);
  return s;
}

DecodeTraffic replayed_traffic(double bytes, double footprint_bytes, const TimingGpu& gpu) {
  const double warm = gpu.hopper() ? kHopperWarm : kWarm;
  const double cold = gpu.hopper() ? kHopperCold : kCold;
  const double share = footprint_bytes / gpu.l2_bytes;
  return {.bytes = bytes,
          .cold = std::clamp((share - warm) / (cold - warm), 0.0, 1.0),
          .ramp_share = gpu.hopper() ? kHopperRampShare : kRampShare};
}

double activation_bytes(const AttentionShape& s) {
  return s.batch * 2 * (s.q_heads + s.kv_heads) * s.head_dim * 2;
}

DecodeTime memory_and_latency(const DecodeTraffic& traffic, double l2_rate, double dram_rate,
                              const CtaRounds& ctas, CacheState cache) {
  const double cold = traffic.cold_share(cache);
  DecodeTime t;
  t.l2_s = traffic.bytes * (1 - cold) / l2_rate;
  t.dram_s = traffic.bytes * cold * traffic.dram_reads / dram_rate;
  t.latency_s = ctas.latency_s;
  const double rest = ctas.latency_s - ctas.start_s, memory = t.l2_s + t.dram_s;
  const double ramp = std::min(t.dram_s * traffic.ramp_share, kRampLimit_s);
  t.seconds = ctas.start_s + ramp + std::cbrt(rest * rest * rest + memory * memory * memory);
  t.dram_s += ramp;
  return t;
}

}  // namespace smtwin
