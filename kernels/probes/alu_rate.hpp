// SPDX-License-Identifier: Apache-2.0
// What the ordinary pipes deliver: warps_per_sm warps in one CTA an SM, eight independent chains
// each, operands in registers.
//
//   fma       FP32 fused multiply-add; flop/s, 2 a lane and instruction
//   ex2       ex2.approx.ftz on the special-function unit; op/s, one value each
//   cvt_e4m3  cvt.rn.f16x2.e4m3x2, FP8 pairs to half pairs; op/s, two values an instruction
//   ..._per_cycle  the same per clock and SM, from the SM's own clock
//
// How it misleads: nothing but the one instruction is issued, so a kernel whose loop also adds
// addresses or moves bytes gets less; cvt shares its half-rate pipe with most integer and logic
// instructions. Values settle to a fixed point (those of cvt to zero), which draws less power than
// changing ones.
#pragma once

#include <vector>

#include "kernels/probes/probes.hpp"

namespace smtwin {

std::vector<ProbePoint> alu_rate_points(const ProbeGpu& gpu, ProbeEffort effort);
double run_alu_rate(ProbeWorkspace& workspace, const ProbePoint& point);

}  // namespace smtwin
