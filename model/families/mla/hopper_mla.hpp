// SPDX-License-Identifier: Apache-2.0
// Time of Hopper's latent-attention kernels: FlashAttention 3 with 64-wide keys and 512-wide
// values (SGLang, vLLM) and FlashMLA (TensorRT-LLM, vLLM). Persistent: one CTA an SM, tiles of 64
// query heads, blocks of 64 tokens; the busiest CTA decides, DRAM bounds all of them.
//   T = fixed + sequence * batch + query_tile * min(H,64)/64
//     + norm_6(memory, pieces * piece + blocks * block) + fill * cold * (1 - exp(-KV/150 MB))
//     + [splits > 1] * (combine + split * splits) + partial bytes / partial_rate
//     + [FlashMLA] query and output bytes / activation_rate
//     + [FlashMLA, L not a multiple of 64] partial_block
//     + [FlashAttention 3] query and output bytes beyond the L2 / dram
//     + [FP8 in FlashAttention 3] cast bytes / cast_rate
// A stream from DRAM reaches its rate only after a few hundred MB (all SMs start on the same
// channels, pages are opened and translated): `fill` is what that costs in the end.
// FlashAttention 3 has no FP8 instance of this shape: SGLang casts the whole cache to BF16 first
// (read 1 byte, write 2), which is most of the time.
// Sources: split rules in mla_split_rules.hpp; the equation and what stands for what are inferred.
// Left out: page-table lookups, sharing of one KV read by the two tiles of 128 heads.
#pragma once

#include <span>
#include <vector>

#include "model/families/mla/mla_constants.hpp"
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
    double tile_rows = 1;      // share of a query tile's 64 rows that are heads
    double stream = 0;         // share of `fill` that a stream of these bytes pays
    double cast_bytes = 0;
    bool partial_block = false;  // the last block of tokens is not full
    double cold = 0;             // of KV bytes in the replayed benchmark
    double query_cold = 0;       // of query bytes in the replayed benchmark
  };

  // `constants` receives this kernel's. In a module the projections' own small kernels carry the
  // fixed and per-sequence costs, and only the cost of tokens, splits and partial results is here.
  HopperMla(const TimingGpu& gpu, MlaFamily family, bool in_module, MlaConstants& constants);

  // `other_bytes`: what else the benchmark's replay touches (weights).
  Work work(const MlaShape& shape, double other_bytes) const;
  MlaTime time(const Work& work, std::span<const double> values, CacheState cache) const;

 private:
  bool flash_attention3() const {
    return family_.provider == MlaLibrary::sglang_flash_attention3 ||
           family_.provider == MlaLibrary::vllm_flash_attention3;
  }

  TimingGpu gpu_;
  MlaFamily family_;
  MlaConstant fixed_s_, query_tile_s_, piece_s_, block_s_, fill_s_, combine_s_, split_s_;
  MlaConstant sequence_s_, partial_block_s_;
  MlaConstant activation_rate_, partial_rate_, cast_rate_, dram_rate_;
};

}  // namespace smtwin
