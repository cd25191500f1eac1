// SPDX-License-Identifier: Apache-2.0
// FlashInfer decode (vLLM and SGLang on SM120): the tensor-core kernel, and for SGLang's BF16 with
// fewer than 4 query heads a KV head the CUDA-core kernel.
//   tensor cores, 16 query rows     cta = start * d^dim_power + KV bytes / rate
//   tensor cores, 64 or 128 rows    cta = KV bytes / wide_rate (vLLM) or tokens * wide_token
//   CUDA cores                      cta = steps * core_step
//   T = fixed_time + [memory and ceil(n/(SMs * CTAs per SM)) * cta + n * cta_launch]
//       + [S > 1] * (combine * (1 + S/80) + B*Hq * merge_row)
//       + [S = 1, vLLM, B <= 512] * B*Hq * copied_row + [vLLM, Hk > 1, D <= 128] layout_copy
// Activations and partial results are part of the memory term. Rows Hk*tiles of 16/64/128 query
// heads, chunks as the plan cuts them (a window counts with a query tile more), a merge kernel in
// every captured graph, and the steps of the CUDA-core kernel as its threads are laid out are
// general knowledge of FlashInfer; CTAs per SM, the layout copy, tiles of 128 tokens for vLLM's 64
// query rows and the second DRAM read of half lines are inferred from rows. Left out: page lookups,
// cascades, the plan's own kernel.
#pragma once

#include "model/families/attention/decode_terms.hpp"

namespace smtwin {

class FlashInferDecode {
 public:
  enum class Kernel : std::uint8_t { tensor, tensor_wide, cuda_core };
  struct Work {
    Kernel kernel = Kernel::tensor;
    double splits = 1;
    double ctas = 1;
    double rounds = 1;
    double tokens = 0;  // of one CTA, whole blocks
    double cta_bytes = 0;
    double merged_rows = 0;  // query heads of all sequences, where chunks are merged
    double copied_rows = 0;  // where the merge kernel runs over single chunks
    double steps = 0;        // of a CUDA-core CTA
    double log_dim = 0;      // ln(D / 128)
    bool layout_copy = false;
    DecodeTraffic traffic;
  };

  FlashInferDecode(const TimingGpu& gpu, AttentionFamily family);

  const std::vector<ConstantSpec>& constants() const { return table_.specs(); }
  Work work(const AttentionShape& shape) const;
  DecodeTime time(const Work& w, std::span<const double> v, CacheState cache) const;

 private:
  TimingGpu gpu_;
  AttentionFamily family_;
  AttentionConstants table_;
  AttentionConstant dram_, fixed_, l2_, start_, dim_power_, rate_, wide_rate_, wide_token_, launch_,
      combine_, merge_row_, copied_row_, copy_, core_step_;
};

// Tokens that a CTA of FlashInfer's CUDA-core kernel takes in one step: its threads are a vector of
// the head, the query heads of a group, and as many tokens as make 128 threads.
double cuda_core_tokens(double group, double head_dim);

}  // namespace smtwin
