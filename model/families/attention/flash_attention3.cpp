// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/flash_attention3.hpp"

#include <algorithm>
#include <cmath>

#include "model/families/attention/split_rules.hpp"

namespace smtwin {

namespace {

constexpr double kReferenceDim = 128;
constexpr double kPartialBytes = 8;  // FP32 written and read, per element and split
// vLLM sizes its CUDA-graph buffers for 32 splits up to the largest captured batch.
constexpr double kVllmGraphSplits = 32;
constexpr double kVllmLargestGraphBatch = 512;
// The prepare kernel handles at most so many sequences; above, nothing is split.
constexpr double kMaxPreparedBatch = 992;
// SGLang runs a window of 8192 as chunked attention: no window, at most that many tokens.
constexpr double kSglangChunk = 8192;
constexpr double kSglangMixedValueDim = 128;  // of heads that are 192 wide

AttentionShape as_called(AttentionShape s, const AttentionFamily& f) {
  if (f.sglang() && s.window == kSglangChunk) {
    s.kv_tokens = std::min(s.kv_tokens, kSglangChunk);
    s.window = 0;
  }
  return s;
}

double fp8_block(bool vllm, bool one_group, bool local, double d) {
  if (vllm) {
    if (one_group) return d <= 96 ? 128 : 96;
    return d <= 64 ? 128 : d <= 128 ? 192 : d <= 192 ? 96 : local ? 64 : 128;
  }
  if (one_group || d <= 128) return 160;
  return d <= 192 ? (local ? 128 : 160) : (local ? 64 : 128);
}

}  // namespace

FlashAttention3::FlashAttention3(const TimingGpu& gpu, AttentionFamily family)
    : gpu_(gpu), family_(family) {
  const auto time = [](const char* name, const char* meaning, double prior, double low,
                       double high) {
    return ConstantSpec{.name = name,
                        .unit = "s",
                        .meaning = meaning,
                        .prior = prior,
                        .log_sigma = 0.5,
                        .low = low,
                        .high = high,
                        .off = 0};
  };
  const auto factor = [](const char* name, const char* meaning, double prior, double low,
                         double high, double off) {
    return ConstantSpec{.name = name,
                        .unit = "1",
                        .meaning = meaning,
                        .prior = prior,
                        .log_sigma = 0.5,
                        .low = low,
                        .high = high,
                        .off = off};
  };
  dram_ = table_.add(dram_rate_spec(gpu));
  fixed_ = table_.add(fixed_time_spec(8e-6));
  l2_.fixed = typical_l2_rate(gpu);
  first_ = table_.add(time("first_block", "start of a tile with its first KV block, at D = 128",
                           3e-6, 0.1e-6, 15e-6));
  dim_power_ = table_.add(factor("dim_power", "power of D/128 that a block's time grows with",
                                 0.4, 0.01, 2, 0));
  split_sequence_ = table_.add(time("split_sequence",
                                    "per sequence in the split instance: combine's early exits",
                                    15e-9, 0.1e-9, 100e-9));
  combine_start_ = table_.add(time("combine_start", "combining, where any sequence is split", 1.5e-6,
                                   0.01e-6, 10e-6));
  straggle_ = table_.add(time("straggle", "slowest of n busy SMs ends ln(n) times this later", 0.15e-6, 0.005e-6, 2e-6));
  combine_split_ = table_.add(time("combine_split", "combining, per split", 0.06e-6, 0.0005e-6, 1e-6));
  if (family.vllm()) {
    plain_sequence_ = table_.add(time("plain_sequence", "per sequence in the unsplit instance",
                                      6e-9, 0.1e-9, 100e-9));
  } else {
    plain_sequence_ = split_sequence_;
    two_groups_ = table_.add(factor("two_groups", "tile time with two warp groups against one",
                                    1.2, 0.6, 2.5, 1));
    mixed_ = table_.add(time("mixed_dims", "separate K and V writes of 192/128-wide heads", 7e-6,
                             0.1e-6, 15e-6));
  }
  if (!family.vllm()) {
  } else if (family.fp8_kv) {
    wide_ = table_.add(factor("wide_accumulate",
                              "byte cost above D = 128: two-level accumulation of FP8 products", 2,
                              0.5, 8, 1));
    edge_ = table_.add(time("window_edge", "extra masked pass at a window's left edge", 2.4e-6,
                            0.01e-6, 8e-6));
    narrow_edge_ = edge_;
  } else {
    narrow_edge_ = table_.add(time("narrow_window_edge",
                                   "extra masked pass at a window's left edge, D = 64", 2.4e-6,
                                   0.01e-6, 8e-6));
  }
  if (family.fp8_kv) {
    rate_ = table_.add({.name = "cta_rate",
                        .unit = "B/s",
                        .meaning = "KV bytes that one CTA converts and multiplies, at D = 128",
                        .prior = 40e9,
                        .log_sigma = 0.5,
                        .low = 4e9,
                        .high = 300e9,
                        .off = 1e18});
    rate_power_ = table_.add(factor("rate_power", "power of D/128 that cta_rate grows with", 0.4,
                                    0.01, 2, 0));
  } else {
    block_ = table_.add(time("block_time", "each further KV block, at D = 128", 0.6e-6, 0.01e-6,
                             6e-6));
    rate_.fixed = 1e18;
  }
  if (two_groups_.index < 0) two_groups_.fixed = 1;
  if (wide_.index < 0) wide_.fixed = 1;
}

FlashAttention3::Tile FlashAttention3::tile(const AttentionShape& s) const {
  const bool local = s.window > 0;
  const double d = s.head_dim;
  const bool one = !local && s.group() <= 64 && (d == 128 || (d == 64 && family_.vllm()));
  Tile t;
  t.two_warp_groups = !one;
  t.query_rows = one ? 64 : d <= 64 ? 192 : 128;
  if (family_.fp8_kv) {
    t.block_tokens = fp8_block(family_.vllm(), one, local, d);
  } else {
    t.block_tokens = d <= 64 ? (one ? 192 : 160) : d <= 128 ? 128 : d <= 192 ? 96 : local ? 64 : 80;
  }
  return t;
}

double FlashAttention3::split_bound(const AttentionShape& s, const Tile& t) const {
  if (s.batch > kMaxPreparedBatch) return 1;
  if (family_.vllm() && s.batch <= kVllmLargestGraphBatch) return kVllmGraphSplits;
  const double tokens =
      s.window > 0 ? std::min(s.kv_tokens, s.window + t.query_rows) : s.kv_tokens;
  return fa3_split_bound(s.kv_heads * ceil_ratio(s.group(), t.query_rows),
                         ceil_ratio(tokens, t.block_tokens), gpu_.sm_count);
}

double FlashAttention3::token_bytes(const AttentionShape& s) const {
  const double value_dim = family_.sglang() && s.head_dim == 192 ? kSglangMixedValueDim : s.head_dim;
  return (s.head_dim + value_dim) * family_.kv_element_bytes();
}

double FlashAttention3::split_bytes(const AttentionShape& s) const {
  return s.batch * s.q_heads * s.head_dim * kPartialBytes;
}

FlashAttention3::Batch FlashAttention3::batch(std::span<const double> kv_tokens,
                                              const AttentionShape& shape) const {
  AttentionShape s = shape;
  s.batch = static_cast<double>(kv_tokens.size());
  const Tile t = tile(s);
  const double units = s.kv_heads * ceil_ratio(s.group(), t.query_rows);
  Batch b;
  double all_blocks = 0;
  for (const double tokens : kv_tokens) {
    s.kv_tokens = tokens;
    b.bound = std::max(b.bound, split_bound(s, t));
    all_blocks += ceil_ratio(tokens, t.block_tokens) * units;
  }
  for (const double tokens : kv_tokens) {
    const double blocks = ceil_ratio(tokens, t.block_tokens);
    b.splits.push_back(b.bound > 1 ? fa3_splits(b.bound, blocks, all_blocks, gpu_.sm_count) : 1);
  }
  return b;
}

FlashAttention3::Work FlashAttention3::work(const AttentionShape& shape) const {
  const AttentionShape s = as_called(shape, family_);
  const Tile t = tile(s);
  Work w;
  w.batch = s.batch;
  w.units = s.kv_heads * ceil_ratio(s.group(), t.query_rows);
  const double blocks = ceil_ratio(s.kv_tokens, t.block_tokens);
  const double bound = split_bound(s, t);
  w.split_instance = bound > 1;
  w.splits = bound > 1 ? fa3_splits(bound, blocks, s.batch * w.units * blocks, gpu_.sm_count) : 1;
  // The cut ignores the window: every split gets its share of the visible blocks.
  const double skipped = std::floor((s.kv_tokens - s.visible_tokens()) / t.block_tokens);
  w.blocks = ceil_ratio(blocks - skipped, w.splits);
  const double tokens =
      std::min(w.blocks * t.block_tokens, ceil_ratio(s.visible_tokens(), w.splits));
  w.further_bytes = std::max(tokens - t.block_tokens, 0.0) * token_bytes(s);
  w.rounds = ceil_ratio(s.batch * w.units * w.splits, gpu_.sm_count);
  w.log_busy = std::log(std::min(s.batch * w.units * w.splits, gpu_.sm_count));
  w.log_dim = std::log(s.head_dim / kReferenceDim);
  const double io_bytes = s.batch * 2 * (s.q_heads + s.kv_heads) * s.head_dim * 2;
  if (w.splits > 1) w.moved_bytes += w.splits * split_bytes(s);
  w.window_edge = s.window > 0 && s.kv_tokens > s.window;
  w.narrow = s.head_dim == 64;
  w.wide = s.head_dim > kReferenceDim;
  w.two_warp_groups = t.two_warp_groups;
  w.mixed_dims = family_.sglang() && s.head_dim == 192;
  const double cache_bytes = s.batch * s.kv_heads * s.visible_tokens() * token_bytes(s);
  w.traffic = replayed_traffic(cache_bytes + io_bytes, cache_bytes + io_bytes + w.moved_bytes, gpu_);
  return w;
}

double FlashAttention3::overhead_s(const Work& w, std::span<const double> v) const {
  const double sequences = w.batch * (w.split_instance ? split_sequence_(v) : plain_sequence_(v));
  const double combine = w.splits > 1 ? combine_start_(v) + w.splits * combine_split_(v) : 0;
  return fixed_(v) + sequences + combine + w.moved_bytes / dram_(v) +
         (w.mixed_dims ? mixed_(v) : 0);
}

double FlashAttention3::tile_s(const Work& w, double blocks, double further_bytes,
                               std::span<const double> v) const {
  double tile = (first_(v) + std::max(blocks - 1, 0.0) * block_(v)) *
                std::exp(w.log_dim * dim_power_(v));
  if (w.two_warp_groups) tile *= two_groups_(v);
  double bytes = further_bytes / rate_(v) * std::exp(-w.log_dim * rate_power_(v));
  if (w.wide) bytes *= wide_(v);
  if (w.window_edge) tile += w.narrow ? narrow_edge_(v) : edge_(v);
  return tile + bytes;
}

DecodeTime FlashAttention3::time(const Work& w, std::span<const double> v,
                                 CacheState cache) const {
  const double latency = w.rounds * tile_s(w, w.blocks, w.further_bytes, v);
  DecodeTime t = memory_and_latency(w.traffic, l2_(v), dram_(v), {latency, tile_s(w, 1, 0, v)}, cache);
  t.launch_s = overhead_s(w, v) + straggle_(v) * w.log_busy * std::exp(w.log_dim * dim_power_(v));
  t.seconds += t.launch_s;
  return t;
}

}  // namespace smtwin
