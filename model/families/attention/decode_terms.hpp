// SPDX-License-Identifier: Apache-2.0
// What all decode-attention equations share: constants that a variant may lack, the share of a
// replayed working set that the L2 still holds, and the meeting of memory and latency.
//
//   T       = fixed + start + (memory^3 + (latency - start)^3)^(1/3) + ramp + extra
//   memory  = bytes * ((1 - cold)/l2_rate + cold/dram_rate)
//   latency = rounds of CTAs * time of one CTA
//   start   = prologue and epilogue of one CTA: the first one on each SM hides behind nothing
//   ramp    = min(DRAM time / 10, 4 us) on SM120, min(0.3 DRAM time, 4 us) on Hopper: until a
//             stream from DRAM runs at the full rate
//
// The norm says how well the two hide each other; exponents from 2 to 4 fit the rows as well. Left
// out: DRAM refresh, page tables, clocks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/families/attention/attention_shape.hpp"
#include "model/timing/constant_specs.hpp"
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
  const std::vector<ConstantSpec>& specs() const { return specs_; }

 private:
  std::vector<ConstantSpec> specs_;
};

// Bounds wide around a prior that is right within a factor of two or so.
ConstantSpec time_spec(std::string name, std::string meaning, double prior_s);
ConstantSpec rate_spec(std::string name, std::string meaning, double prior_bytes_per_s);
// `off`: the value without the effect.
ConstantSpec factor_spec(std::string name, std::string meaning, double prior, double off);

ConstantSpec l2_rate_spec(const TimingGpu& gpu);
ConstantSpec fixed_time_spec(double prior_s);
ConstantSpec activation_rate_spec(const TimingGpu& gpu);
// What all SMs together draw from the L2: 24 B a cycle and SM. Stands for l2_rate in the libraries
// whose CTAs never ask for as much.
double typical_l2_rate(const TimingGpu& gpu);

// One prediction taken apart; the parts are what each would take alone.
struct DecodeTime {
  double seconds = 0;    // of the kernels, no instrument
  double launch_s = 0;   // fixed costs, combining, per-sequence scans, activations
  double latency_s = 0;  // rounds of CTAs
  double l2_s = 0;
  double dram_s = 0;
};

struct DecodeTraffic {
  double bytes = 0;
  double cold = 1;        // share that comes from DRAM in the replayed benchmark
  double dram_reads = 1;  // times that DRAM delivers a byte
  double ramp_share = 0;  // of the DRAM time, lost until the stream runs at the full rate
  double cold_share(CacheState cache) const { return cache == CacheState::cold ? 1 : cold; }
};

// `bytes` of traffic in a replay that touches `footprint_bytes`: all from the L2 while the
// footprint fits, all from DRAM from a little above on. Cyclic replay is the worst case of a
// least-recently-used set: one line too many costs the whole set.
DecodeTraffic replayed_traffic(double bytes, double footprint_bytes, const TimingGpu& gpu);

// Queries read, outputs, new keys and new values written, BF16.
double activation_bytes(const AttentionShape& shape);

struct CtaRounds {
  double latency_s = 0;  // all rounds
  double start_s = 0;    // prologue and epilogue of one CTA, part of its latency
};

// Everything but the launch part.
DecodeTime memory_and_latency(const DecodeTraffic& traffic, double l2_rate, double dram_rate,
                              const CtaRounds& ctas, CacheState cache);

}  // namespace smtwin
