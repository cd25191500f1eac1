// SPDX-License-Identifier: Apache-2.0
// FlashAttention 2 decode (vLLM on SM120). One CTA per SM in full rounds:
//   cta = cta_start + blocks * block_time + KV bytes / cta_rate
//   T   = fixed_time + [memory and ceil(n/SMs) * cta]
//         + [S > 1] * (combine_start + S * combine_split)
//         + copies * copy_start + moved bytes / activation_rate
// Rules (block size, packing of grouped heads, splits) were read in FlashAttention's source.
// Packing goes through a transposed view: unless Hk = 1 or B = 1 the query is copied in and the
// output back; that those two pay nothing is inferred from rows, as is one CTA an SM. Left out:
// page lookups, dropout, ALiBi, soft caps.
#pragma once

#include "model/families/attention/decode_terms.hpp"

namespace smtwin {

class FlashAttention2 {
 public:
  struct Work {
    double units = 1;   // CTAs of one sequence without splits
    double splits = 1;  // KV parts
    double rounds = 1;
    double blocks = 1;       // of one CTA
    double cta_bytes = 0;    // KV bytes of one CTA
    double moved_bytes = 0;  // activations, their copies, partial results
    bool copies = false;
    DecodeTraffic traffic;
  };

  FlashAttention2(const TimingGpu& gpu, AttentionFamily family);

  const std::vector<ConstantSpec>& constants() const { return table_.specs(); }
  Work work(const AttentionShape& shape) const;
  DecodeTime time(const Work& w, std::span<const double> v, CacheState cache) const;

  // What ragged batches need: all outside the main kernel, and one CTA's unloaded time.
  double overhead_s(const Work& w, std::span<const double> v) const;
  double cta_s(double blocks, double bytes, std::span<const double> v) const;
  double slots() const { return gpu_.sm_count; }
  double l2_rate() const { return typical_l2_rate(gpu_); }
  double dram_rate(std::span<const double> v) const { return dram_(v); }
  static double block_tokens(double head_dim);
  static double token_bytes(double head_dim) { return 2 * head_dim * 2; }  // K and V, BF16

 private:
  TimingGpu gpu_;
  AttentionConstants table_;
  AttentionConstant dram_, fixed_, activation_, start_, block_, rate_, combine_start_,
      combine_split_, copy_;
};

}  // namespace smtwin
