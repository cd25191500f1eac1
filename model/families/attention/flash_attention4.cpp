// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/flash_attention4.hpp"

#include <algorithm>

#include "model/families/attention/split_rules.hpp"

namespace smtwin {

namespace {

constexpr double kMaxSplits = 32;
constexpr double kLargestSplitBatch = 512;
constexpr double kHeadsPerCombineCta = 8;

}  // namespace

FlashAttention4::FlashAttention4(const TimingGpu& gpu, AttentionFamily) : gpu_(gpu) {
  dram_ = table_.add(dram_rate_spec(gpu));
  fixed_ = table_.add(fixed_time_spec(8e-6));
  rate_ = table_.add(rate_spec("cta_rate", "KV bytes that one CTA takes in", 25e9));
  combine_ = table_.add(time_spec("combine_cta", "per CTA of the combine grid", 1.5e-6));
  combine_scan_ = table_.add(
      time_spec("combine_scan", "per pair of combine CTAs: search of its sequence", 3e-9));
  sequence_scan_ =
      table_.add(time_spec("sequence_scan", "per pair of sequences of an unsplit batch", 0.1e-9));
}

FlashAttention4::Work FlashAttention4::work(const AttentionShape& s) const {
  Work w;
  const double n = s.batch * s.kv_heads;
  const bool split = s.batch <= kLargestSplitBatch;
  w.splits = split ? std::clamp(gpu_.sm_count / n, 1.0, kMaxSplits) : 1;
  w.combine_ctas = split ? s.batch * ceil_ratio(s.q_heads, kHeadsPerCombineCta) : 0;
  w.scanned = split ? 0 : s.batch;
  const double bytes = n * s.kv_tokens * s.head_dim * 2;
  w.cta_bytes = bytes / n / w.splits;
  w.traffic = {.bytes = bytes, .cold = 1};
  return w;
}

DecodeTime FlashAttention4::time(const Work& w, std::span<const double> v, CacheState cache) const {
  DecodeTime t = memory_and_latency(w.traffic, typical_l2_rate(gpu_), dram_(v),
                                    {.latency_s = w.cta_bytes / rate_(v), .start_s = 0}, cache);
  t.launch_s = fixed_(v) + w.combine_ctas * (combine_(v) + w.combine_ctas * combine_scan_(v)) +
               w.scanned * w.scanned * sequence_scan_(v);
  t.seconds += t.launch_s;
  return t;
}

}  // namespace smtwin
