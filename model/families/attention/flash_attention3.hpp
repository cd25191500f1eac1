// SPDX-License-Identifier: Apache-2.0
// FlashAttention 3 decode (vLLM and SGLang on Hopper). A persistent kernel of one CTA per SM walks
// tiles = (sequence, KV head, split) in R = ceil(tiles/SMs) rounds:
//   tile = (first_block + (blocks-1) * block_time) * d^dim_power * [two warp groups: two_groups]
//          + bytes of further blocks / (cta_rate * d^rate_power)
//            * [D > 128: wide_accumulate^log2(d)]
//          + window edge
//   T    = fixed_time + [memory and R * tile] + B * scan_sequence
//          + exiting sequences * split_sequence + [S > 1] * combine * (1 + S/24)
//          + [FP8, vLLM] * first_tile * d^dim_power + (partial bytes + cast bytes) / DRAM rate
//          + [192/128] mixed_dims
// d = D / 128 (for cta_rate in vLLM at most 1). BF16 pays per block, FP8 per byte of whole blocks
// (it transposes V in the kernel, in the open for the first tile of an SM). Exiting: B in vLLM's
// split instance, up to 512 under SGLang's windows that mask nothing. Rules were read in
// FlashAttention 3's source and its callers; docs/families/attention.md says which are inferred.
// Left out: clusters, paged TMA loads, the metadata kernel that vLLM runs outside the step.
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
    double blocks = 1;         // of one tile
    double further_bytes = 0;  // KV bytes of a tile's blocks after the first
    double log_dim = 0;        // ln(D / 128)
    double partial_bytes = 0;
    double cast_bytes = 0;      // moved by SGLang's kernels that cast to FP8
    double wide_doublings = 0;  // log2(D / 128) above D = 128
    bool exits = false;         // the combine kernel leaves sequences early
    bool window_edge = false, narrow = false;
    bool two_warp_groups = false, mixed_dims = false;
    DecodeTraffic traffic;
  };
  // Splits of each sequence of a batch of unequal contexts; the bound is the largest over them.
  struct Batch {
    double bound = 1;
    std::vector<double> splits;
  };

  FlashAttention3(const TimingGpu& gpu, AttentionFamily family);

  const std::vector<ConstantSpec>& constants() const { return table_.specs(); }
  Work work(const AttentionShape& shape) const;
  DecodeTime time(const Work& w, std::span<const double> v, CacheState cache) const;

  Tile tile(const AttentionShape& shape) const;
  // Most splits that one sequence of shape.batch may get.
  double split_bound(const AttentionShape& shape, const Tile& tile) const;
  // Whether each sequence pays split_sequence under this bound.
  bool exits(const AttentionShape& shape, double bound) const;
  Batch batch(std::span<const double> kv_tokens, const AttentionShape& shape) const;

  // What ragged batches need: all outside the main kernel, and one tile's unloaded time; `w` for
  // what does not depend on the context's length.
  double overhead_s(const Work& w, std::span<const double> v) const;
  double tile_s(const Work& w, double blocks, double further_bytes,
                std::span<const double> v) const;
  double token_bytes(const AttentionShape& shape) const;
  double split_bytes(const AttentionShape& shape) const;  // partial results, per split
  double slots() const { return gpu_.sm_count; }
  double l2_rate() const { return typical_l2_rate(gpu_); }
  double dram_rate(std::span<const double> v) const { return dram_(v); }

 private:
  TimingGpu gpu_;
  AttentionFamily family_;
  AttentionConstants table_;
  AttentionConstant dram_, fixed_, first_, dim_power_, scan_, split_sequence_, combine_,
      first_tile_, block_, rate_, rate_power_, two_groups_, wide_, mixed_, edge_, narrow_edge_;
};

}  // namespace smtwin
