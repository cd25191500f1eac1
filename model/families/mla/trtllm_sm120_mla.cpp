// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/trtllm_sm120_mla.hpp"

#include <algorithm>
#include <cmath>

namespace smtwin {

namespace {

constexpr double kUnitHeads = 64;
constexpr double kBlockTokens = 64;
constexpr double kBf16Ctas = 4, kFp8Ctas = 2, kWideCtas = 4;
constexpr double kWideHeads = 128;
constexpr double kNoRate = 1e30;
// Of an SM's tensor peak that a lone CTA reaches when it computes all scores and its part of the
// values: a prior.
constexpr double kBf16Efficiency = 0.4, kFp8Efficiency = 0.6, kWideEfficiency = 1.0;

double block_prior_s(double heads, double ctas, double flops_per_s, double sm_count,
                     double efficiency) {
  const double flops =
      2 * heads * kBlockTokens * (kMlaLatentDim + kMlaRopeDim + kMlaLatentDim / ctas);
  return flops * sm_count / (efficiency * flops_per_s);
}

}  // namespace

TrtllmSm120Mla::TrtllmSm120Mla(const TimingGpu& gpu, MlaFamily family, bool in_module,
                               AttentionConstants& constants)
    : gpu_(gpu), family_(family) {
  constexpr auto none = AttentionConstants::none;
  fixed_s_ = start_s_ = wide_start_s_ = wide_block_s_ = none(0);
  shared_slowdown_ = none(1);
  activation_rate_ = none(kNoRate);
  dram_rate_ = constants.add(dram_rate_spec(gpu));
  const double block = family.fp8_kv ? block_prior_s(kUnitHeads, kFp8Ctas, gpu.bf16_flops_per_s,
                                                     gpu.sm_count, kFp8Efficiency)
                                     : block_prior_s(kUnitHeads, kBf16Ctas, gpu.bf16_flops_per_s,
                                                     gpu.sm_count, kBf16Efficiency);
  block_s_ =
      constants.add(time_spec("block_time", "s", "64 tokens for 64 heads in one CTA", block, 0.3));
  cold_slowdown_ = constants.add({.name = "cold_slowdown",
                                  .unit = "1",
                                  .meaning = "extra time of a block whose KV comes from DRAM",
                                  .prior = family.fp8_kv ? 0.2 : 0.05,
                                  .log_sigma = 0.6,
                                  .low = 0.002,
                                  .high = 1,
                                  .off = 0});
  if (family.fp8_kv) {
    const double wide =
        block_prior_s(kWideHeads, kWideCtas, gpu.fp8_flops_per_s, gpu.sm_count, kWideEfficiency);
    wide_block_s_ = constants.add(time_spec(
        "wide_block_time", "s", "64 tokens for 128 heads in one CTA of the FP8 kernel", wide));
  } else {
    shared_slowdown_ = constants.add({.name = "shared_slowdown",
                                      .unit = "1",
                                      .meaning = "CTAs that share an SM against a lone one",
                                      .prior = 1.45,
                                      .log_sigma = 0.2,
                                      .low = 1,
                                      .high = 4,
                                      .off = 1});
  }
  if (in_module) return;
  fixed_s_ = constants.add(
      time_spec("fixed_time", "s", "launch gap, prologue and epilogue of the kernels", 4.5e-6));
  start_s_ = constants.add(
      time_spec("start_time", "s", "start of a CTA before its first block", 0.3 * block));
  if (family.fp8_kv) {
    wide_start_s_ = constants.add(
        time_spec("wide_start_time", "s", "the same of the 128-head FP8 kernel", 2 * block));
  }
  activation_rate_ = constants.add(
      rate_spec("activation_rate", "B/s", "queries in and outputs out", 2 * gpu.dram_bytes_per_s));
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
  return w;
}

MlaTime TrtllmSm120Mla::time(const Work& w, std::span<const double> values,
                             CacheState cache) const {
  const double cold = cache == CacheState::cold ? 1 : w.cold;
  const double start = (w.wide ? wide_start_s_ : start_s_)(values);
  const double block = (w.wide ? wide_block_s_ : block_s_)(values);
  const double shared = w.ctas > gpu_.sm_count ? shared_slowdown_(values) : 1;
  MlaTime t;
  t.latency_s =
      w.rounds * (start + w.blocks * block * (1 + cold_slowdown_(values) * cold)) * shared;
  t.dram_s = w.kv_bytes * cold / dram_rate_(values);
  t.l2_s = w.query_bytes / activation_rate_(values);
  t.launch_s = fixed_s_(values);
  t.seconds = t.launch_s + norm4(t.dram_s, t.latency_s) + t.l2_s;
  return t;
}

}  // namespace smtwin
