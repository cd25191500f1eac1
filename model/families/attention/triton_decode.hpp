// SPDX-License-Identifier: Apache-2.0
// Triton decode attention of SGLang and vLLM (two kernels of the same design):
//   cta = (start + tokens * (token_time + token_bytes/cta_rate) * (1 + far_l2*far)) * padded
//   T   = fixed_time + norm_p(memory, rounds*cta + launched*cta_launch)
//         + [S>1]*(combine + B*Hq*D*S*4/activation_rate) + moved bytes/activation_rate
// Grid Hk*ceil(G/16)*B CTAs (SGLang with G = 1: a kernel of its own, Hq*B), read in SGLang's source;
// vLLM's 16 segments are general knowledge. `far`: share of KV beyond the near part of the L2.
// 192-wide heads compute 256 wide (`padded`) and have 128-wide values in SGLang (inferred).
#pragma once

#include "model/families/attention/decode_terms.hpp"

namespace smtwin {

class TritonDecode {
 public:
  struct Work {
    bool single_head = false;  // SGLang, one query head a KV head
    double splits = 1;
    double ctas = 1;
    double launched = 1;  // CTAs, including those that exit at once
    double tokens = 0;    // of one CTA, whole blocks
    double log_bytes = 0;  // ln(bytes of a token / those of 128-wide BF16 heads)
    double dim2 = 1;       // (D / 128)^2
    bool mixed_dims = false, combine = false;
    double moved_bytes = 0;
    MemoryTraffic traffic;
  };

  TritonDecode(const TimingGpu& gpu, AttentionFamily family);

  const std::vector<ConstantSpec>& constants() const { return table_.specs(); }
  Work work(const AttentionShape& shape) const;
  DecodeTime time(const Work& w, std::span<const double> v, CacheState cache) const;

 private:
  struct KernelConstants {
    AttentionConstant start, token;
  };

  TimingGpu gpu_;
  AttentionFamily family_;
  AttentionConstants table_;
  AttentionConstant dram_, fixed_, l2_, activation_, combine_, launch_, far_, mixed_, growth_,
      token_power_, odd_;
  KernelConstants grouped_, single_;
};

}  // namespace smtwin
