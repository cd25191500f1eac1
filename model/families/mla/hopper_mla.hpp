// SPDX-License-Identifier: Apache-2.0
// Time of Hopper's latent-attention kernels: FlashAttention 3 with 64-wide keys and 512-wide
// values (SGLang, vLLM) and FlashMLA (TensorRT-LLM, vLLM). Persistent: one CTA an SM, tiles of 64
// query heads, blocks of 64 tokens; the busiest CTA decides, DRAM bounds all of them.
//   T = fixed + sequence * batch + norm_4(memory, pieces * piece + blocks * block)
//     + [splits > 1] * (combine + split * splits) + partial bytes / partial_rate
//     + query and output bytes / activation_rate + [FP8 in FlashAttention 3] cast bytes / cast_rate
// FlashAttention 3 has no FP8 instance of this shape: SGLang casts the whole cache to BF16 first
// (read 1 byte, write 2), which is most of the time.
// Sources: split rules in mla_split_rules.hpp; the equation and what stands for what are inferred.
// Left out: the DRAM rate's growth with the length of the stream, page-table lookups.
#pragma once

#include <span>
#include <vector>

#include "model/families/attention/decode_terms.hpp"
#include "model/families/mla/mla_split_rules.hpp"
#include "model/families/mla/mla_terms.hpp"

namespace smtwin {

class HopperMla {
 public:
  struct Work {
    MlaRounds rounds;
    double batch = 1;
    double kv_bytes = 0;
    double partial_bytes = 0;  // written for the combine kernel
    double query_bytes = 0;    // queries in, outputs out
    double cast_bytes = 0;
    bool partial_block = false;  // the last block of tokens is not full
    double cold = 0;             // of KV bytes in the replayed benchmark
    double query_cold = 0;       // of query bytes in the replayed benchmark
  };

  // `constants` receives this kernel's. In a module the projections' own small kernels carry the
  // fixed and per-sequence costs, and only the cost of tokens, splits and partial results is here.
  HopperMla(const TimingGpu& gpu, MlaFamily family, bool in_module, AttentionConstants& constants);

  // `other_bytes`: what else the benchmark's replay touches (weights).
  Work work(const MlaShape& shape, double other_bytes) const;
  MlaTime time(const Work& work, std::span<const double> values, CacheState cache) const;

 private:
  bool flash_attention3() const {
    return family_.library == MlaLibrary::sglang_flash_attention3 ||
           family_.library == MlaLibrary::vllm_flash_attention3;
  }

  TimingGpu gpu_;
  MlaFamily family_;
  AttentionConstant fixed_s_, piece_s_, block_s_, combine_s_, split_s_;
  AttentionConstant sequence_s_, split_sequence_s_, partial_block_s_;
  AttentionConstant activation_rate_, partial_rate_, cast_rate_, dram_rate_;
};

}  // namespace smtwin
