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
constexpr double kHopperNearShare = 0.40, kNearShare = 0.45;
constexpr int kNearSharpness = 6;

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
  const auto rate = [](std::string name, const char* meaning, double prior) {
    return ConstantSpec{.name = std::move(name),
                        .unit = "B/s",
                        .meaning = meaning,
                        .prior = prior,
                        .log_sigma = 0.6,
                        .low = prior / 30,
                        .high = prior * 30,
                        .off = 1e18};
  };
  const auto per_sm = [](std::string name, const char* meaning) {
    return ConstantSpec{.name = std::move(name),
                        .unit = "1",
                        .meaning = meaning,
                        .prior = 4,
                        .log_sigma = 0.5,
                        .low = 0.4,
                        .high = 16};
  };
  dram_ = table_.add(dram_rate_spec(gpu));
  fixed_ = table_.add(fixed_time_spec(3e-6));
  l2_ = table_.add(l2_rate_spec(gpu));
  activation_ = table_.add(activation_rate_spec(gpu));
  overlap_ = table_.add(overlap_spec());
  launch_ = table_.add(time("cta_launch", "per CTA of the grid", 1e-9, 0.05e-9, 30e-9));
  far_.fixed = 0;
  if (!gpu.hopper()) {
    far_ = table_.add({.name = "far_l2",
                       .unit = "1",
                       .meaning = "more time per token beyond the near part of the L2",
                       .prior = 0.25,
                       .log_sigma = 0.6,
                       .low = 0.005,
                       .high = 2,
                       .off = 0});
  }
  grouped_.start = table_.add(time("start", "a grouped CTA without its KV", 4e-6, 0.05e-6, 30e-6));
  grouped_.rate = table_.add(rate("rate", "KV bytes that a grouped CTA takes in", 20e9));
  if (!gpu.hopper()) {
    grouped_.token = table_.add(time("token", "per token of a grouped CTA", 8e-9, 0.05e-9, 60e-9));
  }
  grouped_.per_sm = table_.add(per_sm("per_sm", "grouped CTAs that share an SM"));
  single_ = grouped_;
  padded_.fixed = 1;
  if (family.sglang()) {
    if (gpu.sm120()) {
      padded_ = table_.add({.name = "padded_dim",
                          .unit = "1",
                          .meaning = "time of a 192-wide CTA, computed 256 wide",
                          .prior = 1.5,
                          .log_sigma = 0.4,
                          .low = 0.5,
                          .high = 6,
                          .off = 1});
    }
    single_.start = table_.add(time("single_start", "a CTA of one query head without its KV", 5e-6,
                                    0.05e-6, 30e-6));
    single_.rate = table_.add(rate("single_rate", "KV bytes that a CTA of one query head takes in", 12e9));
    single_.token = {};
    single_.per_sm = table_.add(per_sm("single_per_sm", "CTAs of one query head that share an SM"));
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
  } else {
    w.splits = segmented ? std::min(kVllmSegments, ceil_ratio(visible, kBlockTokens)) : 1;
    w.launched = units * (segmented ? kVllmSegments : 1);
  }
  w.ctas = units * w.splits;
  w.tokens = ceil_ratio(ceil_ratio(visible, w.splits), kBlockTokens) * kBlockTokens;
  const bool mixed = sglang && s.head_dim == 192;
  w.token_bytes = (s.head_dim + (mixed ? kSglangMixedValueDim : s.head_dim)) * family_.kv_element_bytes();
  w.padded = mixed;
  const double width = s.batch * s.head_dim;
  w.moved_bytes = width * 2 * (s.q_heads + s.kv_heads) * 2;
  if (w.splits > 1) w.moved_bytes += width * s.q_heads * w.splits * 4;
  const double cache_bytes = s.batch * s.kv_heads * visible * w.token_bytes;
  w.traffic = replayed_traffic(cache_bytes, cache_bytes + w.moved_bytes, gpu_);
  w.far = cold_share(w.traffic.bytes, (gpu_.hopper() ? kHopperNearShare : kNearShare) * gpu_.l2_bytes,
                     kNearSharpness);
  return w;
}

DecodeTime TritonDecode::time(const Work& w, std::span<const double> v, CacheState cache) const {
  const KernelConstants& k = w.single_head ? single_ : grouped_;
  const double far = cache == CacheState::cold ? 1 : w.far;
  double cta = k.start(v) +
               w.tokens * (k.token(v) + w.token_bytes / k.rate(v)) * (1 + far_(v) * far);
  if (w.padded) cta *= padded_(v);
  const double rounds = half_rounds(w.ctas / gpu_.sm_count / k.per_sm(v));
  DecodeTime t = memory_and_latency(w.traffic, l2_(v), dram_(v), rounds * cta + w.launched * launch_(v),
                                    k.start(v), overlap_(v), cache);
  t.launch_s = fixed_(v) + (w.splits > 1 ? combine_(v) : 0) + w.moved_bytes / activation_(v);
  t.seconds += t.launch_s;
  return t;
}

}  // namespace smtwin
