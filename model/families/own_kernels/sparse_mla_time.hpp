// SPDX-License-Identifier: Apache-2.0
// Seconds of sparse_mla_decode with what brings its splits together, for every configuration, from
// the counts of its descriptor.
//
//   work = work_factor (issue + shared + tensor)
//     units of the SM, added: with few warps a scheduler one waits for what another does
//
//   chain = step_time + work + instruction_time i + spill_time s
//     i: instructions of a compute warp in a tile, 1.5 times where sums and Q fill its registers,
//     or where code is spilled;
//     s: spilled loads and stores in its code
//
//   load = read_latency u / (stages - 1)
//     u: share of the rows that come from DRAM
//
//   step = |load, chain|_4
//     one stage: load + chain (1 + serial_factor), since neither the gather nor the next tile's
//     scores overlap with anything
//
//   memory = |DRAM bytes / kernel_dram_rate, L2 bytes / kernel_l2_rate|_4
//     loop of pipelined_cta.hpp over the tiles of a CTA, once for each pass over its heads
//
//   cta = cta_time + head_time h together + (rounds - 1) (cta_time + head_time h) / together
//     index -> row -> first tile, Q, output; h: heads of a CTA, missing ones half. CTAs of the
//     first round begin together, later ones beside others that compute
//
//   join = join_time
//     where two splits join in a cluster; where a kernel combines them
//     combine_time + combine_split_time splits + bytes / kernel_l2_rate, its threads walk over them
//
//   T = launch_time + loop + cta + join
//
// Little's law is in `load`: with more tiles in flight the latency of each costs less, until DRAM
// or L2 bind. Source of the form: ablations of the feasibility study on an H200 (gather alone,
// compute alone, both), and times of all 54 variants there. Left out: requests whose lengths
// differ, masked tokens, page sizes, bank conflicts, clock under power.
#pragma once

#include "model/families/own_kernels/own_kernel_model.hpp"

namespace smtwin {

class SparseMlaModel final : public OwnKernelModel {
 public:
  SparseMlaModel(const GpuSpec& gpu, const ProbedGpu& probed);
  std::unique_ptr<const OwnKernelPoint> point(const KernelInstance& kernel,
                                              const Parameters& parameters,
                                              L2State l2) const override;

 private:
  const GpuSpec gpu_;
  const ProbedGpu probed_;
};

}  // namespace smtwin
