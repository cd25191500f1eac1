// SPDX-License-Identifier: Apache-2.0
// Time of TensorRT-LLM's latent-attention kernels on SM120. They do not split the KV cache: a unit
// of 64 heads of a sequence walks all its tokens, so time is linear in the context at any batch.
//   T = fixed + norm_4(KV/dram, rounds * (start + blocks * block * (1 + slowdown*cold)) * shared)
//     + query and output bytes * ((1-cold')/activation_rate + cold'/dram)
//   BF16             4 CTAs a unit, four resident an SM: rounds = ceil(units / SMs); once CTAs
//                    outnumber SMs they share tensor cores and L1, `shared` > 1
//   FP8              2 CTAs a unit, one an SM: rounds = ceil(2 units / SMs)
//   FP8, 128 heads   another kernel (XQA-MLA): 4 CTAs a sequence, one an SM, faster per token
// CTAs a unit and residency are inferred from where rows step; the kernels' source is closed.
// Left out: why 128-160 KV MB run a tenth slower than the rest of the cold rows.
#pragma once

#include <span>

#include "model/families/mla/mla_constants.hpp"
#include "model/families/mla/mla_shape.hpp"
#include "model/families/mla/mla_terms.hpp"

namespace smtwin {

class TrtllmSm120Mla {
 public:
  struct Work {
    bool wide = false;  // all 128 heads in one FP8 tile
    double rounds = 1;
    double ctas = 1;
    double blocks = 1;
    double kv_bytes = 0;
    double query_bytes = 0;
    double cold = 0;
    double query_cold = 0;  // of query and output bytes
  };

  TrtllmSm120Mla(const TimingGpu& gpu, MlaFamily family, bool in_module, MlaConstants& constants);

  Work work(const MlaShape& shape, double other_bytes) const;
  MlaTime time(const Work& work, std::span<const double> values, CacheState cache) const;

 private:
  TimingGpu gpu_;
  MlaFamily family_;
  bool in_module_;
  MlaConstant fixed_s_, start_s_, block_s_, wide_start_s_, wide_ratio_;
  MlaConstant cold_slowdown_, shared_slowdown_, activation_rate_, dram_rate_;
};

}  // namespace smtwin
