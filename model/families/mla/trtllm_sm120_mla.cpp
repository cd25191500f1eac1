// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/trtllm_sm120_mla.hpp"

#include <algorithm>
#include <cmath>

#include "model/timing/constant_specs.hpp"
#include "model/timing/norms.hpp"

namespace smtwin {

namespace {

constexpr double kUnitHeads = 64;
constexpr double kBlockTokens = 64;
constexpr double kBf16Ctas = 4, kFp8Ctas = 2, kWideCtas = 4;
constexpr double kWideHeads = 128;
// Of an SM's tensor peak that a lone CTA reaches when it computes all scores and its part of the
// values: a prior.
constexpr double kBf16Efficiency = 0.4, kFp8Efficiency = 0.7;
// The FP8 kernel's block of 64 tokens for 128 heads against the other kernel's for 64: the
// prior for kernels alone (SM120's rows give 0.25), held inside modules.
constexpr double kWideBlock = 0.24;

double block_prior_s(double heads, double ctas, double flops_per_s, double sm_count,
                     double efficiency) {
  const double flops =
      2 * heads * kBlockTokens * (kMlaLatentDim + kMlaRopeDim + kMlaLatentDim / ctas);
  return flops * sm_count / (efficiency * flops_per_s);
}

}  // namespace

TrtllmSm120Mla::TrtllmSm120Mla(const TimingGpu& gpu, MlaFamily family, bool in_module,
                               MlaConstants& constants)
    : gpu_(gpu), family_(family), in_module_(in_module) {
  fixed_s_ = start_s_ = wide_start_s_ = MlaConstant(0);
  shared_slowdown_ = MlaConstant(1);
  activation_rate_ = MlaConstant(kNoRate);
  dram_rate_ = constants.dram_rate(gpu);
  const double block = family.fp8_kv ? block_prior_s(kUnitHeads, kFp8Ctas, gpu.bf16_flops_per_s,
                                                     gpu.sm_count, kFp8Efficiency)
                                     : block_prior_s(kUnitHeads, kBf16Ctas, gpu.bf16_flops_per_s,
                                                     gpu.sm_count, kBf16Efficiency);
  block_s_ = constants.time("block_time", "64 tokens for 64 heads in one CTA", block, 0.3);
  cold_slowdown_ =
      constants.factor("cold_slowdown", "extra time of a block whose KV comes from DRAM",
                       family.fp8_kv ? 0.2 : 0.05, 0.6, 0);
  if (!family.fp8_kv) {
    shared_slowdown_ = constants.factor("shared_slowdown",
                                        "CTAs that share an SM against a lone one", 1.45, 0.2, 1);
  }
  wide_ratio_ = MlaConstant(kWideBlock);
  if (in_module) return;
  fixed_s_ =
      constants.time("fixed_time", "launch gap, prologue and epilogue of the kernels", 4.5e-6);
  activation_rate_ = constants.rate("activation_rate", "B/s", "queries in and outputs out",
                                    2 * gpu.dram_bytes_per_s);
  if (family.fp8_kv) {
    start_s_ = constants.time("start_time", "start of a CTA before its first block", 0.3 * block);
    wide_start_s_ =
        constants.time("wide_start_time", "the same of the 128-head FP8 kernel", 2 * block);
    wide_ratio_ = constants.factor("wide_block", "128-head FP8 kernel's block against block_time",
                                   kWideBlock, 0.3, 0);
  }
}

TrtllmSm120Mla::Work TrtllmSm120Mla::work(const MlaShape& shape, double other_bytes) const {
  Work w;
  w.wide = family_.fp8_kv && shape.heads == kWideHeads;
  const double units = shape.batch * (w.wide ? 1 : std::ceil(shape.heads / kUnitHeads));
  w.ctas = units * (w.wide ? kWideCtas : family_.fp8_kv ? kFp8Ctas : kBf16Ctas);
  w.rounds = std::ceil((family_.fp8_kv ? w.ctas : units) / gpu_.sm_count);
  w.blocks = std::ceil(shape.kv_tokens / kBlockTokens);
  w.kv_bytes = shape.kv_bytes(family_.fp8_kv ? 1 : 2);
  w.query_bytes = shape.query_and_output_bytes();
  w.cold = replayed_cold_share(w.kv_bytes + other_bytes, gpu_);
  // Inside a module the activations' own term holds the queries.
  if (!in_module_) w.query_cold = replayed_cold_share(w.kv_bytes + w.query_bytes, gpu_);
  return w;
}

MlaTime TrtllmSm120Mla::time(const Work& w, std::span<const double> values,
                             CacheState cache) const {
  const double cold = cache == CacheState::cold ? 1 : w.cold;
  const double start = (w.wide ? wide_start_s_ : start_s_)(values);
  const double block = block_s_(values) * (w.wide ? wide_ratio_(values) : 1);
  const double shared = w.ctas > gpu_.sm_count ? shared_slowdown_(values) : 1;
  MlaTime t;
  t.latency_s =
      w.rounds * (start + w.blocks * block * (1 + cold_slowdown_(values) * cold)) * shared;
  const double dram = dram_rate_(values);
  t.dram_s = w.kv_bytes * cold / dram;
  t.l2_s = w.query_bytes * ((1 - w.query_cold) / activation_rate_(values) + w.query_cold / dram);
  t.launch_s = fixed_s_(values);
  t.seconds = t.launch_s + norm4(t.dram_s, t.latency_s) + t.l2_s;
  return t;
}

}  // namespace smtwin
