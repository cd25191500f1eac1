// SPDX-License-Identifier: Apache-2.0
// What launching costs. Empty kernels of one CTA and one warp; unit: seconds.
//
//   launch_gap_stream   per kernel of many launched back to back: the host's own cost of a launch
//                       where that is the slower side
//   launch_gap_queued   per kernel when all wait in the queue before the first starts: what the
//                       GPU itself needs between two dependent kernels of a stream
//   launch_gap_graph    per node of a replayed CUDA graph of a chain of kernels
//   timed_nothing       two events with nothing between them
//   timed_empty_kernel  two events around one empty kernel: the fixed cost that every timed sample
//                       contains; in_graph 1 = events and kernel are nodes of a graph
//
// How they mislead: launch_gap_stream measures the host, its driver and virtualization as much as
// the GPU. Kernels with more CTAs, parameters or shared memory take longer to start than an empty
// one. Chains only: independent nodes of a graph overlap.
#pragma once

#include <vector>

#include "kernels/probes/probes.hpp"

namespace smtwin {

std::vector<ProbePoint> launch_gap_points(const ProbeGpu& gpu, ProbeEffort effort);
double run_launch_gap(ProbeWorkspace& workspace, const ProbePoint& point);

}  // namespace smtwin
