// SPDX-License-Identifier: Apache-2.0
// How many CTAs an SM holds at once: a kernel whose CTAs stay for a while and record where and
// when they ran, with a chosen size, dynamic shared memory and number of live registers.
//
//   residency_seen    most CTAs seen at once on one SM (cta_overlap.hpp)
//   residency_driver  the runtime's own answer for the same launch
//
// live_values 16, 64 or 128 picks the compiled kernel: it keeps that many floats of a thread
// alive and takes some 15 registers more; the model should use what the compiler reports. The grid
// offers every SM more CTAs than it has slots for.
#pragma once

#include <vector>

#include "kernels/probes/probes.hpp"

namespace smtwin {

std::vector<ProbePoint> residency_points(const ProbeGpu& gpu, ProbeEffort effort);
double run_residency(ProbeWorkspace& workspace, const ProbePoint& point);

}  // namespace smtwin
