// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/triton_decode.hpp"

#include <algorithm>
#include <cmath>

#include "model/families/attention/split_rules.hpp"

namespace smtwin {

namespace {

constexpr double kReferenceDim = 128, kReferenceBytes = 512;
constexpr double kBlockTokens = 32;
constexpr double kQueryRows = 16;
constexpr double kSglangMaxSplits = 8;
constexpr double kVllmSegments = 16;
constexpr double kVllmMaxPlainGrid = 128;  // B*Hk up to which vLLM cuts segments
constexpr double kSglangChunk = 8192;      // a label of chunked attention; the full range is read
constexpr double kSglangMixedDim = 192, kSglangMixedValueDim = 128;
// Inferred from rows of SM120.
constexpr double kSglangCtasPerSm = 4, kVllmCtasPerSm = 3;
constexpr double kWidthGrowth = 1.0 / 40;
// vLLM's rows have one head size and hardly any KV beyond the L2: SGLang's values stand in.
constexpr double kTokenPower = 0.65, kDramLatency = 0.5;

double half_rounds(double waves) { return waves > 1 ? 0.5 * waves + 0.5 * std::ceil(waves) : 1; }

}  // namespace

TritonDecode::TritonDecode(const TimingGpu& gpu, AttentionFamily family)
    : gpu_(gpu), family_(family) {
  dram_ = table_.add(dram_rate_spec(gpu));
  // SGLang casts new FP8 keys and values in a kernel of the step.
  fixed_ =
      table_.add(fixed_time_spec(family.sglang() ? (family.fp8_kv ? 3.6e-6 : 1.9e-6) : 2.8e-6));
  l2_.fixed = typical_l2_rate(gpu);
  launch_ = table_.add(time_spec("cta_launch", "per CTA of the grid", 1e-9));
  start_ = table_.add(time_spec("start", "a CTA without its KV", 2.7e-6));
  token_ = table_.add(time_spec("token", "a token of 512 bytes in a grouped CTA", 45e-9));
  activation_.fixed = dram_rate_spec(gpu).prior;
  far_.fixed = kDramLatency;
  token_power_.fixed = kTokenPower;
  single_192_.fixed = 1;
  if (!family.sglang()) {
    l2_ = table_.add(l2_rate_spec(gpu));
    combine_ =
        table_.add(time_spec("combine", "launch of the kernel that combines segments", 1.5e-6));
    return;
  }
  activation_ = table_.add(activation_rate_spec(gpu));
  far_ = table_.add(
      factor_spec("dram_latency", "more time of a token whose KV comes from DRAM", 0.5, 0));
  token_power_ = table_.add(
      factor_spec("token_power", "power of a token's bytes that its time grows with", 0.65, 0));
  single_start_ =
      table_.add(time_spec("single_start", "a CTA of one query head without its KV", 4e-6));
  single_token_ = table_.add(
      time_spec("single_token", "a token of 512 bytes in a CTA of one query head", 48e-9));
  if (gpu.sm120()) {  // elsewhere 192-wide heads take another library
    single_192_ = table_.add(factor_spec(
        "single_192", "time of a token of 192-wide heads in a CTA of one query head", 1.5, 1));
    mixed_ = table_.add(
        time_spec("mixed_dims", "separate K and V writes of 192/128-wide heads", 5.5e-6));
  }
}

void TritonDecode::cut_sglang(const AttentionShape& s, Work& w) const {
  w.single_head = s.group() == 1;
  const double units = w.single_head ? s.batch * s.q_heads
                                     : s.batch * s.kv_heads * ceil_ratio(s.group(), kQueryRows);
  const double visible = s.visible_tokens();
  w.splits = sglang_triton_splits(units, visible, gpu_.sm_count, kSglangMaxSplits);
  w.launched = units * kSglangMaxSplits;
  w.tokens = ceil_ratio(ceil_ratio(visible, w.splits), kBlockTokens) * kBlockTokens;
  w.rounds = half_rounds(units * w.splits / (gpu_.sm_count * kSglangCtasPerSm));
  w.mixed_dims = s.head_dim == kSglangMixedDim;
}

// Segments divide the whole context; those outside the window leave at once.
void TritonDecode::cut_vllm(const AttentionShape& s, Work& w) const {
  const double units = s.batch * s.kv_heads * ceil_ratio(s.group(), kQueryRows);
  const bool segmented = s.batch * s.kv_heads <= kVllmMaxPlainGrid;
  w.combined = segmented;
  const double tiles = ceil_ratio(s.kv_tokens, kBlockTokens);
  const double first = std::floor((s.kv_tokens - s.visible_tokens()) / kBlockTokens);
  const double per_segment = segmented ? ceil_ratio(tiles, kVllmSegments) : tiles;
  w.splits = std::floor((tiles - 1) / per_segment) - std::floor(first / per_segment) + 1;
  w.launched = units * (segmented ? kVllmSegments : 1);
  w.tokens = std::min(per_segment, tiles - first) * kBlockTokens;
  w.rounds = half_rounds(units * w.splits / (gpu_.sm_count * kVllmCtasPerSm));
}

TritonDecode::Work TritonDecode::work(const AttentionShape& shape) const {
  AttentionShape s = shape;
  Work w;
  if (family_.sglang()) {
    if (s.window == kSglangChunk) s.window = 0;
    cut_sglang(s, w);
  } else {
    cut_vllm(s, w);
  }
  const double value_dim = w.mixed_dims ? kSglangMixedValueDim : s.head_dim;
  const double token_bytes = (s.head_dim + value_dim) * family_.kv_element_bytes();
  w.log_bytes = std::log(token_bytes / kReferenceBytes);
  w.width = 1 + kWidthGrowth * s.head_dim * s.head_dim / (kReferenceDim * kReferenceDim);
  w.moved_bytes = activation_bytes(s);
  // SGLang's second stage runs even over a single split.
  if (w.splits > 1 || family_.sglang()) {
    w.moved_bytes += s.batch * s.q_heads * s.head_dim * w.splits * 4;
  }
  const double cache_bytes = s.batch * s.kv_heads * s.visible_tokens() * token_bytes;
  w.traffic = replayed_traffic(cache_bytes, cache_bytes + w.moved_bytes, gpu_);
  return w;
}

DecodeTime TritonDecode::time(const Work& w, std::span<const double> v, CacheState cache) const {
  const double start = (w.single_head ? single_start_(v) : start_(v)) * w.width;
  double token = (w.single_head ? single_token_(v) : token_(v)) *
                 std::exp(w.log_bytes * token_power_(v)) *
                 (1 + far_(v) * w.traffic.cold_share(cache));
  if (w.single_head && w.mixed_dims) token *= single_192_(v);
  const double latency = w.rounds * (start + w.tokens * token) + w.launched * launch_(v);
  DecodeTime t = memory_and_latency(w.traffic, l2_(v), dram_(v),
                                    {.latency_s = latency, .start_s = start}, cache);
  t.launch_s = fixed_(v) + w.moved_bytes / activation_(v) + (w.mixed_dims ? mixed_(v) : 0) +
               (w.combined ? combine_(v) : 0);
  t.seconds += t.launch_s;
  return t;
}

}  // namespace smtwin
