// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/flash_attention2.hpp"

#include <algorithm>
#include <cmath>

#include "model/families/attention/split_rules.hpp"

namespace smtwin {

namespace {

constexpr double kPackedRows = 64;   // query rows of a tile
constexpr double kSlotsPerSm = 2;    // that the split heuristic counts with
constexpr double kPartialBytes = 8;  // FP32 written and read, per element and split

}  // namespace

FlashAttention2::FlashAttention2(const TimingGpu& gpu, AttentionFamily) : gpu_(gpu) {
  dram_ = table_.add(dram_rate_spec(gpu));
  fixed_ = table_.add(fixed_time_spec(4e-6));
  activation_ = table_.add(activation_rate_spec(gpu));
  start_ = table_.add(time_spec("cta_start", "prologue and epilogue of one CTA", 2e-6));
  block_ = table_.add(
      time_spec("block_time", "one KV block through load, two MMAs and softmax", 1.5e-6));
  rate_ = table_.add(
      rate_spec("cta_rate", "KV bytes that one CTA takes in, on top of its blocks", 50e9));
  combine_start_ =
      table_.add(time_spec("combine_start", "launch of the kernel that combines splits", 2e-6));
  combine_split_ =
      table_.add(time_spec("combine_split", "each split that the combine kernel walks", 0.15e-6));
  copy_ =
      table_.add(time_spec("copy_start", "two copy kernels of packed queries and outputs", 4e-6));
}

double FlashAttention2::block_tokens(double head_dim) {
  return head_dim <= 64 ? 256 : head_dim <= 128 ? 128 : 64;
}

FlashAttention2::Work FlashAttention2::work(const AttentionShape& s) const {
  const bool packed = s.group() > 1 && s.window <= 0;
  const double block = block_tokens(s.head_dim);
  const double blocks = ceil_ratio(s.kv_tokens, block);
  Work w;
  w.units = packed ? s.kv_heads * ceil_ratio(s.group(), kPackedRows) : s.q_heads;
  if (packed) w.splits = fa2_splits(s.batch * w.units, kSlotsPerSm * gpu_.sm_count, blocks);
  const double skipped = std::floor((s.kv_tokens - s.visible_tokens()) / block);
  w.blocks = ceil_ratio(blocks - skipped, w.splits);
  const double tokens = std::min(w.blocks * block, ceil_ratio(s.visible_tokens(), w.splits));
  w.cta_bytes = tokens * token_bytes(s.head_dim);
  w.rounds = ceil_ratio(s.batch * w.units * w.splits, gpu_.sm_count);
  w.copies = packed && s.kv_heads > 1 && s.batch > 1;
  const double query_elements = s.batch * s.q_heads * s.head_dim;
  w.moved_bytes = activation_bytes(s);
  if (w.copies) w.moved_bytes += 4 * query_elements * 2;  // two copies, each read and written
  if (w.splits > 1) w.moved_bytes += query_elements * w.splits * kPartialBytes;
  const double cache_bytes = s.batch * s.kv_heads * s.visible_tokens() * token_bytes(s.head_dim);
  w.traffic = replayed_traffic(cache_bytes, cache_bytes + w.moved_bytes, gpu_);
  return w;
}

double FlashAttention2::overhead_s(const Work& w, std::span<const double> v) const {
  const double combine = w.splits > 1 ? combine_start_(v) + w.splits * combine_split_(v) : 0;
  return fixed_(v) + combine + (w.copies ? copy_(v) : 0) + w.moved_bytes / activation_(v);
}

double FlashAttention2::cta_s(double blocks, double bytes, std::span<const double> v) const {
  return start_(v) + blocks * block_(v) + bytes / rate_(v);
}

DecodeTime FlashAttention2::time(const Work& w, std::span<const double> v, CacheState cache) const {
  DecodeTime t = memory_and_latency(
      w.traffic, l2_rate(), dram_(v),
      {.latency_s = w.rounds * cta_s(w.blocks, w.cta_bytes, v), .start_s = start_(v)}, cache);
  t.launch_s = overhead_s(w, v);
  t.seconds += t.launch_s;
  return t;
}

}  // namespace smtwin
