// SPDX-License-Identifier: Apache-2.0
// FlashInfer decode (vLLM and SGLang on SM120): tensor-core kernel, and for SGLang's BF16 with fewer
// than 4 query heads a KV head the CUDA-core kernel.
//   cta = start * d^dim_power + tokens * (token_time + token_bytes/cta_rate)
//   T   = fixed_time + norm_p(memory, rounds*cta + n*cta_launch)
//         + [S>1]*(combine + B*Hq*D*S*4/activation_rate) + moved bytes/activation_rate
//         + [vLLM, Hk > 1] layout_copy
// Rows Hk*tiles of 16/64/128 query heads, chunk rule of the plan (general knowledge of FlashInfer);
// CTAs per SM 2 up to D = 128, 1 above, and the copy are inferred from rows.
#pragma once

#include "model/families/attention/decode_terms.hpp"

namespace smtwin {

class FlashInferDecode {
 public:
  enum class Kernel : std::uint8_t { tensor16, tensor_wide, cuda_core };
  struct Work {
    Kernel kernel = Kernel::tensor16;
    double splits = 1;
    double ctas = 1, graph_ctas = 0;
    double ctas_per_sm = 2;
    double tokens = 0;  // of one CTA, whole blocks
    double token_bytes = 0, steps = 0;
    double log_dim = 0;
    double moved_bytes = 0;
    bool layout_copy = false;
    MemoryTraffic traffic;
  };

  FlashInferDecode(const TimingGpu& gpu, AttentionFamily family);

  const std::vector<ConstantSpec>& constants() const { return table_.specs(); }
  Work work(const AttentionShape& shape) const;
  DecodeTime time(const Work& w, std::span<const double> v, CacheState cache) const;

 private:
  struct KernelConstants {
    AttentionConstant start, rate, token, per_sm;
  };

  TimingGpu gpu_;
  AttentionFamily family_;
  AttentionConstants table_;
  AttentionConstant dram_, fixed_, l2_, core_step_, combine_split_, combine_, launch_, dim_power_, copy_, graph_;
  KernelConstants kernels_[3];
};

}  // namespace smtwin
