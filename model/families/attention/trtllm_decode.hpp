// SPDX-License-Identifier: Apache-2.0
// TensorRT-LLM decode attention: XQA, masked multi-head attention (MMHA), and on Hopper with FP8 KV
// a warp-group kernel (GMMA). kernel() says which shape takes which.
//   XQA   cta = xqa_start * (1 + dim_growth*d^2) * (1 + h/12) + blocks * xqa_block * d^block_power
//   GMMA  cta = (gmma_start + blocks * gmma_block) * (1 + dim_growth*d^2) * (1 + h*gmma_heads)
//   MMHA  cta = mmha_start + KV bytes * 1024 / (threads * mmha_rate)
//   T = fixed_time + [memory and ceil(n/(SMs * CTAs per SM)) * cta] + moved bytes/activation_rate
//       + [S > 1] * (MMHA: mmha_combine; else combine * (1 + S/24)) + [XQA] xqa_prepare
// d = D/128 (192 runs as 256), h = further tiles of 8 query heads, blocks of 64 tokens. Launch
// rules were read in TensorRT-LLM's source (XQA splits, MMHA threads and splits); which kernel runs
// and how many CTAs an SM holds are inferred. Left out: QKV preprocessing apart from its bytes.
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
    double empty_ctas = 0;  // XQA: their part lies outside the window
    double ctas_per_sm = 1;
    double threads = 1024;  // of an MMHA CTA
    double blocks = 1;
    double cta_bytes = 0;
    double log_dim = 0, dim_squared = 1;  // of D/128
    double further_head_tiles = 0;        // of 8 query heads
    double moved_bytes = 0;
    DecodeTraffic traffic;
  };

  TrtllmDecode(const TimingGpu& gpu, AttentionFamily family);

  const std::vector<ConstantSpec>& constants() const { return table_.specs(); }
  Work work(const AttentionShape& shape) const;
  DecodeTime time(const Work& w, std::span<const double> v, CacheState cache) const;
  Kernel kernel(const AttentionShape& shape) const;

 private:
  void cut_mmha(const AttentionShape& shape, Work& w) const;
  void cut_xqa(const AttentionShape& shape, Work& w) const;
  double ctas_per_sm(Kernel kernel, const AttentionShape& shape) const;
  CtaRounds ctas(const Work& w, std::span<const double> v) const;

  TimingGpu gpu_;
  AttentionFamily family_;
  AttentionConstants table_;
  AttentionConstant dram_, fixed_, activation_, dim_growth_, prepare_, mmha_start_, mmha_rate_,
      mmha_combine_, xqa_start_, xqa_block_, block_power_, combine_, gmma_start_, gmma_block_,
      gmma_heads_;
};

}  // namespace smtwin
