// SPDX-License-Identifier: Apache-2.0
// Seconds of a Triton split sparse-MLA decode kernel (one CTA a batch row, head group and split).
// Its gathers are not pipelined: a tile is one chain of a warp's instructions and waits, and the
// few warps that 255 registers leave on an SM each walk their own.
//
//   per tile  chain = tile_time + miss_time u + instruction_time I + score_time S + value_time V
//                   + spill_time L
//             I, S, V, L  instructions, score and value multiplies of a warp, spilled bytes of a
//                   lane (triton_sparse_work.hpp)
//             u        share of the asked bytes that no other head group asked for before
//   per SM    loop  = |rounds n chain, busiest n I (warps / schedulers) / clock|_4
//             n tiles of a CTA; the second bound is the issue slots of the busiest SM
//             cta   = rounds (cta_time + accumulator_time a (1 + crowding (together - 1)))
//             a accumulators of a lane, `together` CTAs resident on the busiest SM
//   T = launch_time + |loop + cta, bytes / kernel_dram_rate|_3
// Units: seconds. Source of the form: compiled code (triton_sparse_work.hpp) and its times on an
// H200. Left out: instruction-cache misses of loops beyond 64 KB, the kernel that combines splits,
// BLOCK_H above 32 on Hopper.
#pragma once

#include "model/families/own_kernels/own_kernel_model.hpp"

namespace smtwin {

class TritonSparseModel final : public OwnKernelModel {
 public:
  TritonSparseModel(const GpuSpec& gpu, const ProbedGpu& probed);
  std::unique_ptr<const OwnKernelPoint> point(const KernelInstance& kernel,
                                              const Parameters& parameters,
                                              L2State l2) const override;

 private:
  const GpuSpec gpu_;
};

}  // namespace smtwin
