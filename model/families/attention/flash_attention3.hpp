// SPDX-License-Identifier: Apache-2.0
// FlashAttention 3 decode (vLLM and SGLang on Hopper). A persistent kernel of one CTA per SM walks
// tiles = (sequence, KV head, split) in ceil(tiles/SMs) rounds:
//   tile = (first_block + (blocks-1)*block_time) * d^dim_power * [two warp groups: wide_tile]
//          + further bytes / (cta_rate * d^rate_power) * [D > 128: accumulate] + window edge
//   T    = fixed_time + norm_p(memory, rounds * tile) + B * (split_sequence or plain_sequence)
//          + [S>1] * (combine_start + S*combine_split) + moved bytes / DRAM rate + [192/128] mixed
// d = D / 128. BF16 pays per block, FP8 per byte (it transposes V in the kernel). Rules were read in
// FlashAttention 3's source and its callers; docs/families/attention.md says which are inferred.
#pragma once

#include "model/families/attention/decode_terms.hpp"

namespace smtwin {

class FlashAttention3 {
 public:
  struct Tile {
    double query_rows = 64;
    double block_tokens = 128;
    bool two_warp_groups = false;
  };
  struct Work {
    double batch = 1;
    double units = 1;  // tiles of one sequence without splits
    double splits = 1;
    double rounds = 1;
    double blocks = 1;
    double further_bytes = 0;  // KV bytes of a tile after its first block
    double log_busy = 0;
    double log_dim = 0;        // ln(D / 128)
    double moved_bytes = 0;
    bool split_instance = false, window_edge = false, narrow = false, wide = false;
    bool two_warp_groups = false, mixed_dims = false;
    MemoryTraffic traffic;
  };

  FlashAttention3(const TimingGpu& gpu, AttentionFamily family);

  const std::vector<ConstantSpec>& constants() const { return table_.specs(); }
  Work work(const AttentionShape& shape) const;
  DecodeTime time(const Work& w, std::span<const double> v, CacheState cache) const;

  double overhead_s(const Work& w, std::span<const double> v) const;
  // Unloaded time of one tile; `w` for what does not depend on the context's length.
  double tile_s(const Work& w, double blocks, double further_bytes,
                std::span<const double> v) const;
  Tile tile(const AttentionShape& shape) const;
  // Most splits that one sequence of shape.batch may get.
  double split_bound(const AttentionShape& shape, const Tile& tile) const;
  double token_bytes(const AttentionShape& shape) const;
  double split_bytes(const AttentionShape& shape) const;  // partial results, per split
  double slots() const { return gpu_.sm_count; }

  // Splits of each sequence of a batch of unequal contexts; the bound is the largest over them.
  struct Batch {
    double bound = 1;
    std::vector<double> splits;
  };
  Batch batch(std::span<const double> kv_tokens, const AttentionShape& shape) const;

  double l2_rate(std::span<const double> v) const { return l2_(v); }
  double dram_rate(std::span<const double> v) const { return dram_(v); }

 private:
  TimingGpu gpu_;
  AttentionFamily family_;
  AttentionConstants table_;
  AttentionConstant dram_, fixed_, l2_, first_, dim_power_, split_sequence_,
      plain_sequence_, combine_start_, combine_split_, block_, rate_, rate_power_, two_groups_,
      straggle_, wide_, mixed_, edge_, narrow_edge_;
};

}  // namespace smtwin
