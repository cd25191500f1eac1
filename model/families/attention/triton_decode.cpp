// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/triton_decode.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/families/attention/split_rules.hpp"

namespace smtwin {

namespace {

constexpr double kBlockTokens = 32;
constexpr double kQueryRows = 16;
constexpr double kSglangMaxSplits = 8;
constexpr double kVllmSegments = 16;
constexpr double kVllmMaxPlainGrid = 128;  // B*Hk up to which vLLM cuts segments
constexpr double kSglangChunk = 8192;      // a label of chunked attention; the full range is read
constexpr double kSglangMixedValueDim = 128;
constexpr double kSglangCtasPerSm = 4, kVllmCtasPerSm = 3;  // inferred from rows
constexpr double kReferenceDim = 128, kReferenceBytes = 512;

double half_rounds(double waves) {
  return waves > 1 ? 0.5 * waves + 0.5 * std::ceil(waves) : 1;
}

}  // namespace

TritonDecode::TritonDecode(const TimingGpu& gpu, AttentionFamily family)
    : gpu_(gpu), family_(family) {
  const auto time = [](std::string name, const char* meaning, double prior, double low,
                       double high) {
    return ConstantSpec{.name = std::move(name),
                        .unit = "s",
                        .meaning = meaning,
                        .prior = prior,
                        .log_sigma = 0.6,
                        .low = low,
                        .high = high,
                        .off = 0};
  };
  const auto number = [](std::string name, const char* meaning, double prior, double low, double high, double off) {
    return ConstantSpec{.name = std::move(name),
                        .unit = "1",
                        .meaning = meaning,
                        .prior = prior,
                        .log_sigma = 0.6,
                        .low = low,
                        .high = high,
                        .off = off};
  };
  dram_ = table_.add(dram_rate_spec(gpu));
  fixed_ = table_.add(fixed_time_spec(3e-6));
  l2_ = table_.add(l2_rate_spec(gpu));
  activation_ = table_.add(activation_rate_spec(gpu));
  launch_ = table_.add(time("cta_launch", "per CTA of the grid", 1e-9, 0.05e-9, 30e-9));
  far_ = table_.add(number("dram_latency", "more time of a token whose KV comes from DRAM", 0.7, 0.02, 3, 0));
  grouped_.start = table_.add(time("start", "a CTA without its KV", 3.5e-6, 0.05e-6, 30e-6));
  growth_.fixed = 0.025;
  token_power_.fixed = 0.65;
  if (family.sglang()) growth_ = table_.add(number("dim_growth", "share that a CTA's start grows by with (D/128)^2", 0.04, 0.001, 1, 0));
  grouped_.token = table_.add(time("token", "a token of 512 bytes in a grouped CTA", 40e-9, 1e-9, 400e-9));
  if (family.sglang()) token_power_ = table_.add(number("token_power", "power of a token's bytes that its time grows with", 0.7, 0.05, 1.5, 0));
  single_ = grouped_;
  odd_.fixed = 1;
  if (family.sglang()) {
    single_.start = table_.add(time("single_start", "a CTA of one query head without its KV", 4e-6,
                                    0.05e-6, 30e-6));
    single_.token = table_.add(time("single_token", "a token of 512 bytes in a CTA of one query head", 40e-9, 1e-9, 400e-9));
    if (gpu.sm120()) {
      mixed_ = table_.add(time("mixed_dims", "separate K and V writes of 192/128-wide heads", 6e-6, 0.1e-6, 15e-6));
      odd_ = table_.add(number("single_192", "time of a token of 192-wide heads in a CTA of one query head", 1.5, 0.5, 5, 1));
    }
  } else {
    combine_ = table_.add(time("combine", "launch of the kernel that combines segments", 2e-6, 0.005e-6,
                               10e-6));
  }
}

TritonDecode::Work TritonDecode::work(const AttentionShape& shape) const {
  AttentionShape s = shape;
  const bool sglang = family_.sglang();
  if (sglang && s.window == kSglangChunk) s.window = 0;
  const double visible = s.visible_tokens();
  Work w;
  w.single_head = sglang && s.group() == 1;
  const double units =
      w.single_head ? s.batch * s.q_heads
                    : s.batch * s.kv_heads * ceil_ratio(s.group(), kQueryRows);
  const bool segmented = s.batch * s.kv_heads <= kVllmMaxPlainGrid;
  if (sglang) {
    w.splits = sglang_triton_splits(units, visible, gpu_.sm_count, kSglangMaxSplits);
    w.launched = units * std::max(w.splits, kSglangMaxSplits);
    w.tokens = ceil_ratio(ceil_ratio(visible, w.splits), kBlockTokens) * kBlockTokens;
  } else {
    // Segments divide the whole context; those outside the window leave at once.
    const double tiles = ceil_ratio(s.kv_tokens, kBlockTokens);
    const double first = std::floor((s.kv_tokens - visible) / kBlockTokens);
    const double per_segment = segmented ? ceil_ratio(tiles, kVllmSegments) : tiles;
    w.splits = std::floor((tiles - 1) / per_segment) - std::floor(first / per_segment) + 1;
    w.launched = units * (segmented ? kVllmSegments : 1);
    w.tokens = std::min(per_segment, tiles - first) * kBlockTokens;
    w.combine = segmented;
  }
  w.ctas = units * w.splits;
  w.mixed_dims = sglang && s.head_dim == 192;
  const double token_bytes = (s.head_dim + (w.mixed_dims ? kSglangMixedValueDim : s.head_dim)) * family_.kv_element_bytes();
  w.log_bytes = std::log(token_bytes / kReferenceBytes);
  w.dim2 = s.head_dim * s.head_dim / (kReferenceDim * kReferenceDim);
  const double width = s.batch * s.head_dim;
  w.moved_bytes = width * 2 * (s.q_heads + s.kv_heads) * 2;
  if (w.splits > 1) w.moved_bytes += width * s.q_heads * w.splits * 4;
  const double cache_bytes = s.batch * s.kv_heads * visible * token_bytes;
  w.traffic = replayed_traffic(cache_bytes, cache_bytes + w.moved_bytes, gpu_);
  return w;
}

DecodeTime TritonDecode::time(const Work& w, std::span<const double> v, CacheState cache) const {
  const KernelConstants& k = w.single_head ? single_ : grouped_;
  const double cold = cache == CacheState::cold ? 1 : w.traffic.cold;
  const double start = k.start(v) * (1 + growth_(v) * w.dim2);
  double token = k.token(v) * std::exp(w.log_bytes * token_power_(v)) * (1 + far_(v) * cold);
  if (w.single_head && w.mixed_dims) token *= odd_(v);
  const double ctas_per_sm = family_.sglang() ? kSglangCtasPerSm : kVllmCtasPerSm;
  const double rounds = half_rounds(w.ctas / (gpu_.sm_count * ctas_per_sm));
  DecodeTime t = memory_and_latency(w.traffic, l2_(v), dram_(v),
                                    {rounds * (start + w.tokens * token) + w.launched * launch_(v), start}, cache);
  t.launch_s = fixed_(v) + (w.combine ? combine_(v) : 0) + (w.mixed_dims ? mixed_(v) : 0) + w.moved_bytes / activation_(v);
  t.seconds += t.launch_s;
  return t;
}

}  // namespace smtwin
