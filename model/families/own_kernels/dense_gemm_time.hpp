// SPDX-License-Identifier: Apache-2.0
// Seconds of dense_gemm (stream-K) for every configuration, from the counts of its descriptor.
//
//   chain = step_time + instruction_time i (mma.sync)     i: instructions of a warp in a step
//           step_time + group_time M (wgmma)              M: seconds of its multiplies at full rate
//   load  = read_latency / (stages - 1)
//   work  = work_factor |issue, shared, tensor|_2          units of the SM
//   loop  of pipelined_cta.hpp over the steps of the longest CTA
//   memory = |DRAM bytes / kernel_dram_rate, L2 bytes / kernel_l2_rate|
//   fixup = fixup_time + sums of a tile / fixup_rate       where CTAs share tiles: the last one of
//   a
//           tile waits for the others and adds what they left
//   T = launch_time + cta_time + loop + fixup
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
