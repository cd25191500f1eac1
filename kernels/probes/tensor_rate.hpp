// SPDX-License-Identifier: Apache-2.0
// What mma.sync delivers, by data type: warps_per_sm warps in one CTA an SM, each with `chains`
// independent accumulator tiles that it updates in turn; operands stay in registers.
//
//   tensor_{bf16,f16}  m16n8k16, FP32 sum    tensor_tf32  m16n8k8, FP32 sum
//   tensor_fp8         m16n8k32 E4M3, FP32   tensor_int8  m16n8k32, INT32
//   tensor_X           flop/s of the GPU (op/s for int8): work of a CTA over its own time by the
//                      nanosecond timer, mean over SMs; launch and ramp are left out
//   tensor_X_per_cycle flop per clock and SM, from the SM's own clock
//   tensor_X_latency   cycles of one mma that waits for the one before (one warp, one chain)
//
// How it misleads. Operands come from registers, so it is a ceiling that no kernel with loads
// reaches. On 9.x it is the ceiling of mma.sync, two thirds of what wgmma reaches and datasheets
// state. FP8 there has no mma.sync of its own: the compiler converts to f16, multiplies into a
// fresh sum and adds that with FADD, slower than bf16 (each operand is converted once for every
// second product here). Values are random, of magnitude 0.5 to 2: zeros would draw less power and
// clock higher. Tensor work can lower the clock from the first microseconds on, so flop/s and
// flop/cycle need not agree at the largest clock; load_state.hpp has the clock of a lasting load.
#pragma once

#include <vector>

#include "kernels/probes/probes.hpp"

namespace smtwin {

std::vector<ProbePoint> tensor_rate_points(const ProbeGpu& gpu, ProbeEffort effort);
double run_tensor_rate(ProbeWorkspace& workspace, const ProbePoint& point);

}  // namespace smtwin
