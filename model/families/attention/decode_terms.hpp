// SPDX-License-Identifier: Apache-2.0
// What all decode-attention equations share: constants that a variant may lack, the share of KV
// bytes that a replayed benchmark finds in the L2, and the meeting of memory and latency.
//
//   T = fixed + start + hypot(memory, latency - start) + extra
//   memory  = bytes * ((1 - cold)/l2_rate + cold/dram_rate)
//   latency = rounds of CTAs * time of one CTA
//   start   = prologue and epilogue of one CTA: the first one on each SM hides behind nothing
#pragma once

#include <span>
#include <vector>

#include "model/families/attention/attention_shape.hpp"
#include "model/timing/time_problem.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

// A constant of a family, or the number that stands for it where a variant has no such effect.
struct AttentionConstant {
  int index = -1;
  double fixed = 0;
  double operator()(std::span<const double> values) const {
    return index < 0 ? fixed : values[static_cast<std::size_t>(index)];
  }
};

class AttentionConstants {
 public:
  AttentionConstant add(ConstantSpec spec);
  static AttentionConstant none(double fixed = 0) { return {.index = -1, .fixed = fixed}; }
  const std::vector<ConstantSpec>& specs() const { return specs_; }

 private:
  std::vector<ConstantSpec> specs_;
};

// One prediction taken apart; the parts are what each would take alone.
struct DecodeTime {
  double seconds = 0;    // of the kernels, no instrument
  double launch_s = 0;   // fixed costs, combine's launch, per-sequence scans
  double latency_s = 0;  // rounds of CTAs
  double l2_s = 0;
  double dram_s = 0;
};

struct MemoryTraffic {
  double bytes = 0;
  double cold = 1;  // share that comes from DRAM in the replayed benchmark
  double dram_reads = 1;  // times that DRAM delivers a byte
};

struct CtaRounds {
  double latency_s = 0;  // all rounds
  double start_s = 0;    // prologue and epilogue of one CTA, part of its latency
};

// Share of a replayed working set that the L2 no longer holds: x^s / (1 + x^s) with
// x = bytes / (capacity share * L2).
double cold_share(double bytes, double capacity_bytes, int sharpness);
// `bytes` of traffic in a replay that touches `footprint_bytes`.
MemoryTraffic replayed_traffic(double bytes, double footprint_bytes, const TimingGpu& gpu);

// Constants that every family has, with the same priors everywhere.
ConstantSpec dram_rate_spec(const TimingGpu& gpu);
// What all SMs together draw from the L2: 24 B a cycle and SM.
double typical_l2_rate(const TimingGpu& gpu);
ConstantSpec l2_rate_spec(const TimingGpu& gpu);
ConstantSpec fixed_time_spec(double prior_s);
ConstantSpec activation_rate_spec(const TimingGpu& gpu);

// Time of the bytes and of the CTAs' rounds together.
DecodeTime memory_and_latency(const MemoryTraffic& traffic, double l2_rate, double dram_rate,
                              const CtaRounds& ctas, CacheState cache);

}  // namespace smtwin
