// SPDX-License-Identifier: Apache-2.0
#include "model/families/own_kernels/sm_work.hpp"

#include <algorithm>

#include "arch/error.hpp"
#include "model/math_pipe.hpp"

namespace smtwin {
namespace {

// mma.sync of one warp a scheduler leaves gaps in the tensor pipe: 2285 of 2708 flops a clock and
// SM on an H200 (8 independent sums a warp). Two warps a scheduler fill it.
constexpr double kOneWarpShare = 0.844;
constexpr double kFillingWarps = 2;

}  // namespace

double fact(const KernelInstance& kernel, const char* name) {
  for (const Fact& f : kernel.facts) {
    if (f.name == name) return f.value;
  }
  throw DataError(kernel.kernel + ": its descriptor does not state " + name);
}

SmWork sm_work(const GpuSpec& gpu, const KernelInstance& kernel, const LaunchFill& fill,
               const ProbedGpu& probed, bool warpgroup_multiply) {
  const CtaWork& work = kernel.work;
  const double clock_hz = probed.sm_clock_hz.value;
  const double steps = std::max(work.steps, 1.0);
  SmWork s;
  s.issue_s =
      work.warp_instructions / steps /
      (require(gpu, gpu.rates.warp_instructions_per_cycle, "rates.warp_instructions_per_cycle") *
       clock_hz);
  s.shared_s = work.shared_bytes / steps / (probed.shared_bytes_per_cycle.value * clock_hz);
  if (work.math_flops > 0) {
    double rate = 0;
    if (warpgroup_multiply || kernel.pipe != MathPipe::bf16) {
      const PipeRate pipe = tensor_rate(gpu.rates, kernel.pipe);
      rate = require(gpu, *pipe.flops_per_cycle, pipe.path);
    } else {
      rate = probed.mma_bf16_flops_per_cycle.value;
    }
    const double a_scheduler = fill.warps_together() / std::max(gpu.sm.partitions_per_sm, 1);
    const double filled = warpgroup_multiply || a_scheduler >= kFillingWarps ? 1 : kOneWarpShare;
    s.tensor_s = work.math_flops / steps / (rate * filled * clock_hz);
  }
  return s;
}

}  // namespace smtwin
