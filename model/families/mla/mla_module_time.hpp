// SPDX-License-Identifier: Apache-2.0
// Time of a whole latent-attention module of DeepSeek-V3 in one decode step: projections, rope,
// norms, the attention kernel, output projection.
//   T = fixed + projections + attention kernel + activation bytes / activation_rate
//     + [vLLM FlashMLA, heads not a multiple of 64] batch * heads * narrow_head
//   activation bytes = 2 B * batch * (4*7168 + 3*2112 + 1500*heads)   norms, rope, copies
// Projections of a rank with H heads (N x K): 2112 x 7168 (query and KV down), 192H x 1536 (query
// up), 512H x 128 and 128H x 512 (absorbed, BF16 always), 7168 x 128H (output).
// Weights and KV cache share the L2 in the replayed benchmark: one cold share for both.
// The extra pass is inferred: about 6 ns a (sequence, head) in rows of 1-32 heads, absent at 64 and
// 128, which fill FlashMLA's query tile.
// Left out: tensor-parallel all-reduce, quantization kernels one by one (in fixed_time).
#pragma once

#include <span>
#include <vector>

#include "model/families/mla/mla_time.hpp"
#include "model/families/mla/projections.hpp"

namespace smtwin {

class MlaModuleTimeModel {
 public:
  struct Work {
    MlaKernel::Work attention;
    Projections::Work projections;
    double activation_bytes = 0;
    double narrow_heads = 0;  // (sequence, head) pairs that take FlashMLA's extra pass
  };

  MlaModuleTimeModel(const TimingGpu& gpu, MlaFamily family, ProjectionType type);

  const std::vector<ConstantSpec>& constants() const { return constants_.specs(); }
  const MlaKernel& kernel() const { return kernel_; }
  Work work(const MlaShape& shape) const;
  MlaTime time(const Work& work, std::span<const double> values, CacheState cache) const;
  // What a replay of the benchmark reads, from the module's own time.
  double reading_s(double module_seconds) const;

 private:
  TimingGpu gpu_;
  MlaFamily family_;
  ProjectionType type_;
  MlaConstants constants_;
  MlaKernel kernel_;
  Projections projections_;
  MlaConstant fixed_s_, activation_rate_, narrow_head_s_;
};

}  // namespace smtwin
