// SPDX-License-Identifier: Apache-2.0
// Triton decode attention of SGLang and vLLM (two kernels of the same design):
//   cta = start * (1 + d^2/40) + tokens * token * (token bytes / 512)^token_power
//                                       * (1 + dram_latency * cold)
//   T   = fixed_time + [memory and rounds * cta + launched * cta_launch]
//         + moved bytes / activation_rate + [192/128] mixed_dims + [segments] combine
// A CTA walks its tokens with a shallow pipeline, so that it feels how far away its KV is: `cold`
// is the share that comes from DRAM. Grid Hk*ceil(G/16)*B CTAs times splits (SGLang with G = 1: a
// kernel of its own, Hq*B), read in SGLang's source; vLLM's 16 segments of the whole context are
// general knowledge. CTAs per SM and the growth with D are inferred. Left out: soft caps.
#pragma once

#include "model/families/attention/decode_terms.hpp"

namespace smtwin {

class TritonDecode {
 public:
  struct Work {
    bool single_head = false;  // SGLang, one query head a KV head
    double splits = 1;
    double rounds = 1;
    double launched = 1;   // CTAs, including those that exit at once
    double tokens = 0;     // of one CTA, whole blocks
    double log_bytes = 0;  // ln(bytes of a token / 512)
    double width = 1;      // factor on a CTA's start
    bool mixed_dims = false, combined = false;
    double moved_bytes = 0;
    DecodeTraffic traffic;
  };

  TritonDecode(const TimingGpu& gpu, AttentionFamily family);

  const std::vector<ConstantSpec>& constants() const { return table_.specs(); }
  Work work(const AttentionShape& shape) const;
  DecodeTime time(const Work& w, std::span<const double> v, CacheState cache) const;

 private:
  void cut_sglang(const AttentionShape& shape, Work& w) const;
  void cut_vllm(const AttentionShape& shape, Work& w) const;

  TimingGpu gpu_;
  AttentionFamily family_;
  AttentionConstants table_;
  AttentionConstant dram_, fixed_, l2_, activation_, launch_, far_, start_, token_, token_power_,
      single_start_, single_token_, single_192_, mixed_, combine_;
};

}  // namespace smtwin
