// SPDX-License-Identifier: Apache-2.0
// Seconds of dense_gemm (stream-K) for every configuration, from the counts of its descriptor.
//
//   work = work_factor |issue, shared, tensor|_2
//     units of the SM; group_factor for wgmma, which runs beside the warps
//
//   chain = step_time + work + instruction_time i
//     i: instructions of a warp in a step; 0 for wgmma
//
//   load = read_latency / (stages - 1), step = |load, chain|_4
//     loop of pipelined_cta.hpp over the steps of the longest CTA
//
//   memory = |DRAM bytes / kernel_dram_rate, L2 bytes / kernel_l2_rate|_4
//     weights count as often as weight_passes.hpp says; repeated calls find in the L2 what
//     l2_residency.hpp says
//
//   fixup = f (fixup_time + sums of a tile / (warps fixup_rate))
//     where CTAs share tiles: the last one of a tile, or its cluster, adds what the others left.
//     f: tiles that a CTA has pieces of, where more than two share one; else 1
//
//   T = launch_time + rounds cta_time + loop + fixup
//
// BF16 and FP8 have constants of their own. Source of the form: the roofline with latency of the
// measured GEMM families; Little's law is in `load`. Left out: which CTAs share an SM, tiles whose
// CTAs end at different times, clock under power.
#pragma once

#include "model/families/own_kernels/own_kernel_model.hpp"

namespace smtwin {

class DenseGemmModel final : public OwnKernelModel {
 public:
  DenseGemmModel(const GpuSpec& gpu, const ProbedGpu& probed);
  std::unique_ptr<const OwnKernelPoint> point(const KernelInstance& kernel,
                                              const Parameters& parameters,
                                              L2State l2) const override;

 private:
  const GpuSpec gpu_;
  const ProbedGpu probed_;
};

}  // namespace smtwin
