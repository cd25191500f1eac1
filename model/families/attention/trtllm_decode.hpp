// SPDX-License-Identifier: Apache-2.0
// TensorRT-LLM decode attention: XQA, masked multi-head attention (MMHA), and on Hopper with FP8 KV
// a warp-group kernel (GMMA). See docs/families/attention.md for which shape takes which.
//   XQA, GMMA  cta = (start + blocks*block) * d^dim_power * (1 + heads) + tokens*token_bytes/rate
//              rounds = ceil(n / (SMs*per_sm)), smoothed where the kernel leaves room for more
//   MMHA       cta = start + tokens*token_bytes*ctas_per_sm/rate,  rounds = ceil(n/(SMs*ctas_per_sm))
//   T = fixed_time + norm_p(memory, rounds*cta) + [S>1]*(combine + S*combine_split)
//       + moved bytes/activation_rate
// Launch rules were read in TensorRT-LLM's source (XQA splits, MMHA launch); which kernel runs is
// partly inferred. Left out: the QKV preprocessing kernels apart from their bytes.
#pragma once

#include "model/families/attention/decode_terms.hpp"

namespace smtwin {

class TrtllmDecode {
 public:
  enum class Kernel : std::uint8_t { xqa, mmha, gmma };
  struct Work {
    Kernel kernel = Kernel::xqa;
    double splits = 1;
    double ctas = 1;
    double ctas_per_sm = 1;
    double threads = 1024;     // MMHA
    double empty_ctas = 0;  // XQA CTAs whose part lies outside the window
    double blocks = 1;
    double cta_bytes = 0;
    double log_dim = 0, dim2 = 1;
    double further_head_tiles = 0;  // of 8 query heads
    double moved_bytes = 0;
    MemoryTraffic traffic;
  };

  TrtllmDecode(const TimingGpu& gpu, AttentionFamily family);

  const std::vector<ConstantSpec>& constants() const { return table_.specs(); }
  Work work(const AttentionShape& shape) const;
  DecodeTime time(const Work& w, std::span<const double> v, CacheState cache) const;
  Kernel kernel(const AttentionShape& shape) const;

 private:
  double ctas_per_sm(Kernel kernel, const AttentionShape& shape) const;
  CtaRounds ctas(const Work& w, std::span<const double> v) const;

  TimingGpu gpu_;
  AttentionFamily family_;
  AttentionConstants table_;
  AttentionConstant dram_, fixed_, l2_, activation_, combine_, combine_split_, dim_power_,
      xqa_start_, xqa_block_, block_power_, xqa_heads_, mmha_start_, mmha_rate_,
      mmha_combine_, gmma_start_, gmma_block_, gmma_heads_;
};

}  // namespace smtwin
