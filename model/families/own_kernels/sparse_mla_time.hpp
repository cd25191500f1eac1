// SPDX-License-Identifier: Apache-2.0
// Seconds of sparse_mla_decode with its combine kernel, for every configuration, from the counts of
// its descriptor.
//
//   chain = step_time + instruction_time i     i: instructions of a compute warp in a tile
//   load  = read_latency / (stages - 1) + copy_time tokens / producer warps
//   work  = work_factor (issue + shared + tensor)    units of the SM, added: with few warps a
//                                                    scheduler one waits for what another does
//   loop  of pipelined_cta.hpp over n tiles of a CTA (head passes included)
//   cta   = rounds (cta_time + head_time heads passes)     index -> row -> first tile, Q, output
//   memory = |DRAM bytes / kernel_dram_rate, L2 bytes / kernel_l2_rate|
//   combine = combine_time + combine bytes / combine_rate     with two splits or more
//   T = launch_time + loop + cta + combine
// Little's law is in `load`: with more tiles in flight the latency of each costs less, until DRAM
// or L2 bind. Source of the form: the feasibility study's ablations on an H200 (gather alone,
// compute alone, both). Left out: lengths of requests that differ, masked tokens, page sizes, bank
// conflicts, clock under power.
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
