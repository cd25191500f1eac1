// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/flash_attention3.hpp"

#include <algorithm>
#include <cmath>

#include "model/families/attention/split_rules.hpp"

namespace smtwin {

namespace {

constexpr double kReferenceDim = 128;
constexpr double kPartialBytes = 8;  // FP32 written and read, per element and split
// Splits that double the time of the combine kernel; inferred from rows.
constexpr double kCombineSplits = 24;
// vLLM sizes its CUDA-graph buffers for 32 splits up to the largest captured batch.
constexpr double kVllmGraphSplits = 32;
constexpr double kVllmLargestGraphBatch = 512;
// The prepare kernel handles at most so many sequences; above, nothing is split.
constexpr double kMaxPreparedBatch = 992;
// SGLang runs a window of 8192 as chunked attention: at most that many tokens. The windowed
// instance runs, and masks nothing (inferred from rows).
constexpr double kSglangChunk = 8192;
// Windows of SGLang that mask nothing cost as much per sequence as vLLM's splits do, up to so many
// sequences (inferred from rows).
constexpr double kSglangExitingBatch = 512;
constexpr double kCastBytes = 3;  // of an element: BF16 read, FP8 written
constexpr double kSglangMixedDim = 192, kSglangMixedValueDim = 128;

AttentionShape as_called(AttentionShape s, const AttentionFamily& f) {
  if (f.sglang() && s.window == kSglangChunk) {
    s.kv_tokens = std::min(s.kv_tokens, kSglangChunk);
  }
  return s;
}

double bf16_block(bool one_group, bool local, double d) {
  if (d <= 64) return one_group ? 192 : 160;
  return d <= 128 ? 128 : d <= 192 ? 96 : local ? 64 : 80;
}

// vLLM's revision of the library, and the older one that SGLang ships.
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
  const bool cast = family.sglang() && family.fp8_kv;  // of the new K and V, inside the step
  dram_ = table_.add(dram_rate_spec(gpu));
  fixed_ = table_.add(fixed_time_spec(cast ? 9.5e-6 : 7.2e-6));
  first_ = table_.add(
      time_spec("first_block", "start of a tile with its first KV block, at D = 128", 3.1e-6));
  dim_power_ = table_.add(
      factor_spec("dim_power", "power of D/128 that a block's time grows with", 0.45, 0));
  scan_ = table_.add(time_spec(
      "scan_sequence", "per sequence: every CTA walks the list of sequences for its tiles", 9e-9));
  combine_ = table_.add(time_spec("combine", "combining, where any sequence is split", 1.2e-6));
  split_sequence_ = table_.add(
      time_spec("split_sequence",
                "per sequence where splits are allowed: early exits of the combine kernel", 13e-9));
  two_groups_.fixed = 1;
  wide_.fixed = 1;
  if (family.fp8_kv) {
    rate_ = table_.add(
        rate_spec("cta_rate", "KV bytes that one CTA converts and multiplies, at D = 128", 25e9));
  } else {
    rate_.fixed = HUGE_VAL;
    block_ = table_.add(time_spec("block_time", "each further KV block, at D = 128", 0.8e-6));
  }
  if (family.sglang()) {
    two_groups_ =
        table_.add(factor_spec("two_groups", "tile time with two warp groups against one", 1.2, 1));
    mixed_ =
        table_.add(time_spec("mixed_dims", "separate K and V writes of 192/128-wide heads", 7e-6));
    if (family.fp8_kv) {
      rate_power_ =
          table_.add(factor_spec("rate_power", "power of D/128 that cta_rate grows with", 0.4, 0));
    }
  } else if (family.fp8_kv) {
    first_tile_ = table_.add(
        time_spec("first_tile",
                  "V transposed for the first tile of an SM, D = 128; later ones hide it", 2e-6));
    rate_power_ = table_.add(
        factor_spec("rate_power", "power of D/128 that cta_rate grows with up to D = 128", 0.4, 0));
    wide_ = table_.add(factor_spec(
        "wide_accumulate", "byte cost at D = 256: two-level accumulation of FP8 products", 1.9, 1));
    edge_ =
        table_.add(time_spec("window_edge", "extra masked pass at a window's left edge", 2.4e-6));
    narrow_edge_ = edge_;
  } else {
    narrow_edge_ = table_.add(time_spec(
        "narrow_window_edge", "extra masked pass at a window's left edge, D = 64", 2.4e-6));
  }
}

FlashAttention3::Tile FlashAttention3::tile(const AttentionShape& s) const {
  const bool local = s.window > 0;
  const double d = s.head_dim;
  const bool one = !local && s.group() <= 64 && (d == 128 || (d == 64 && family_.vllm()));
  Tile t;
  t.two_warp_groups = !one;
  t.query_rows = one ? 64 : d <= 64 ? 192 : 128;
  t.block_tokens =
      family_.fp8_kv ? fp8_block(family_.vllm(), one, local, d) : bf16_block(one, local, d);
  return t;
}

double FlashAttention3::split_bound(const AttentionShape& s, const Tile& t) const {
  if (s.batch > kMaxPreparedBatch) return 1;
  if (family_.vllm() && s.batch <= kVllmLargestGraphBatch) return kVllmGraphSplits;
  const double tokens = s.window > 0 ? std::min(s.kv_tokens, s.window + t.query_rows) : s.kv_tokens;
  return fa3_split_bound(s.kv_heads * ceil_ratio(s.group(), t.query_rows),
                         ceil_ratio(tokens, t.block_tokens), gpu_.sm_count);
}

bool FlashAttention3::exits(const AttentionShape& s, double bound) const {
  // The unsplit instance launches no combine kernel.
  if (family_.vllm()) return bound > 1;
  return s.window > 0 && s.window != kSglangChunk && s.kv_tokens <= s.window;
}

double FlashAttention3::token_bytes(const AttentionShape& s) const {
  const bool mixed = family_.sglang() && s.head_dim == kSglangMixedDim;
  return (s.head_dim + (mixed ? kSglangMixedValueDim : s.head_dim)) * family_.kv_element_bytes();
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
    b.splits.push_back(fa3_splits(b.bound, blocks, all_blocks, gpu_.sm_count));
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
  // The cut ignores the window: every split gets its share of the visible blocks.
  w.splits = fa3_splits(bound, blocks, s.batch * w.units * blocks, gpu_.sm_count);
  // One token more than the window is looked at: a context of two windows starts a block early.
  const double hidden = s.kv_tokens - s.visible_tokens() - (s.window > 0 ? 1 : 0);
  w.blocks = ceil_ratio(blocks - std::max(0.0, std::floor(hidden / t.block_tokens)), w.splits);
  w.further_bytes = (w.blocks - 1) * t.block_tokens * token_bytes(s);
  const double tiles = s.batch * w.units * w.splits;
  w.rounds = ceil_ratio(tiles, gpu_.sm_count);
  w.log_dim = std::log(s.head_dim / kReferenceDim);
  if (w.splits > 1) w.partial_bytes = w.splits * split_bytes(s);
  w.window_edge = s.window > 0 && s.kv_tokens > s.window;
  w.narrow = s.head_dim == 64;
  w.wide_doublings = std::max(0.0, std::log2(s.head_dim / kReferenceDim));
  w.exits = exits(s, bound);
  if (family_.sglang() && family_.fp8_kv) {
    w.cast_bytes = s.batch * (s.q_heads + 2 * s.kv_heads) * s.head_dim * kCastBytes;
  }
  w.two_warp_groups = t.two_warp_groups;
  w.mixed_dims = family_.sglang() && s.head_dim == kSglangMixedDim;
  const double bytes =
      activation_bytes(s) + s.batch * s.kv_heads * s.visible_tokens() * token_bytes(s);
  w.traffic = replayed_traffic(bytes, bytes + w.partial_bytes, gpu_);
  return w;
}

double FlashAttention3::overhead_s(const Work& w, std::span<const double> v) const {
  const double most = family_.sglang() ? kSglangExitingBatch : HUGE_VAL;
  return fixed_(v) + w.batch * scan_(v) +
         (w.exits ? std::min(w.batch, most) * split_sequence_(v) : 0) +
         (w.splits > 1 ? combine_(v) * (1 + w.splits / kCombineSplits) : 0) +
         (w.partial_bytes + w.cast_bytes) / dram_(v) + (w.mixed_dims ? mixed_(v) : 0) +
         first_tile_(v) * std::exp(w.log_dim * dim_power_(v));
}

double FlashAttention3::tile_s(const Work& w, double blocks, double further_bytes,
                               std::span<const double> v) const {
  double tile =
      (first_(v) + std::max(blocks - 1, 0.0) * block_(v)) * std::exp(w.log_dim * dim_power_(v));
  if (w.two_warp_groups) tile *= two_groups_(v);
  if (w.window_edge) tile += w.narrow ? narrow_edge_(v) : edge_(v);
  const double log_dim = family_.vllm() ? std::min(w.log_dim, 0.0) : w.log_dim;
  const double rate = rate_(v) * std::exp(log_dim * rate_power_(v));
  const double wide = w.wide_doublings > 0 ? std::pow(wide_(v), w.wide_doublings) : 1;
  return tile + further_bytes / rate * wide;
}

DecodeTime FlashAttention3::time(const Work& w, std::span<const double> v, CacheState cache) const {
  DecodeTime t =
      memory_and_latency(w.traffic, l2_rate(), dram_(v),
                         {.latency_s = w.rounds * tile_s(w, w.blocks, w.further_bytes, v),
                          .start_s = tile_s(w, 1, 0, v)},
                         cache);
  t.launch_s = overhead_s(w, v);
  t.seconds += t.launch_s;
  return t;
}

}  // namespace smtwin
