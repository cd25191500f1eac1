// SPDX-License-Identifier: Apache-2.0
// Time of the Triton latent-attention kernels of SGLang and vLLM (stage 1: a CTA for 16 heads and
// one split; stage 2: a CTA a head adds the splits one after another).
//   stage 1, k CTAs at once:  t(k) = norm_3(blocks * block, k * bytes/l2_rate, k * DRAM bytes/dram)
//   T = fixed + floor(n/slots) * t(slots) + t(n mod slots)          slots = 2 * SMs
//     + splits * split + batch*heads/SMs * head + launched CTAs * empty
// SGLang launches the grid for its cap of splits (256 on SM120) whatever the planner chose: the
// empty CTAs exit at once but have to be dispatched; they hide behind stage 1 as far as that
// leaves SMs free. Head tiles of a sequence lie `batch` CTAs apart in launch order: they share one
// read of DRAM only while they run together (2 CTAs an SM; 1 for splits beyond 1024 tokens).
// One head a rank runs a kernel without tensor cores, 64 tokens a block: facts below.
// Sources: public Triton kernels and planners; shares and the head kernel's ratios are inferred.
#pragma once

#include <span>

#include "model/families/mla/mla_constants.hpp"
#include "model/families/mla/mla_split_rules.hpp"
#include "model/families/mla/mla_terms.hpp"

namespace smtwin {

class TritonMla {
 public:
  struct Work {
    TritonMlaPlan plan;
    bool single_head = false;
    double blocks = 1;     // of one CTA
    double cta_bytes = 0;  // KV bytes of one CTA
    double full_waves = 0;
    double slots = 1;
    double rest_ctas = 0;      // of the last wave
    double dram_reads = 1;     // DRAM reads per byte of a CTA: shared ones count a part
    double busy = 1;           // share of the SMs that stage 1 occupies
    double launched_ctas = 0;  // 0: no empty ones
    double heads_per_sm = 0;   // CTAs of stage 2 an SM
    double kv_bytes = 0;
    double cold = 0;
  };

  TritonMla(const TimingGpu& gpu, MlaFamily family, bool in_module, MlaConstants& constants);

  Work work(const MlaShape& shape, double other_bytes) const;
  MlaTime time(const Work& work, std::span<const double> values, CacheState cache) const;

 private:
  TimingGpu gpu_;
  MlaFamily family_;
  MlaConstant fixed_s_, block_s_, split_s_, head_s_, empty_s_, l2_rate_, dram_rate_;
};

}  // namespace smtwin
