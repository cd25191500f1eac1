// SPDX-License-Identifier: Apache-2.0
// Latency of each memory level: one thread follows a chain of pointers, every load needs the one
// before. Unit: SM cycles per load (the clock of a chip with nothing else to do).
//
//   latency_global  nodes stride_bytes apart, in random order over working_set_bytes;
//                   cached_in_l1 1 = ld.ca, 0 = ld.cg past L1; l2_flushed 1 = 512 MiB of other data
//                   are read before, so that every load comes from DRAM
//   latency_shared  the chain in shared memory
//   l1_carveout     latency_global through L1 with a preferred carveout of carveout_percent for
//                   shared memory: the working set at which cycles leave the L1 level is what the
//                   carveout left of L1. Hits = (L2 cycles - cycles) / (L2 cycles - L1 cycles).
//
// A working set of up to 65,536 nodes is walked once before timing, a larger one read by the grid.
// How it misleads. Nothing else runs: under load latencies grow (Volkov 2016), so bandwidth x this
// latency is less than the bytes in flight that the peak needs. An average over addresses: where L2
// is divided (GA100, GH100), near and far slices differ, and a set within one MiB can be faster
// than one over many. Above the size of L2, hits that are left lower the average: only l2_flushed
// shows DRAM alone. Address translation is in the number where the set exceeds what the TLBs hold;
// a stride of one page (2 MiB) with lines that L2 holds shows it alone. Loads are dependent and 8
// bytes wide, without address arithmetic: an array index adds its instructions.
#pragma once

#include <vector>

#include "kernels/probes/probes.hpp"

namespace smtwin {

std::vector<ProbePoint> pointer_chase_points(const ProbeGpu& gpu, ProbeEffort effort);
double run_pointer_chase(ProbeWorkspace& workspace, const ProbePoint& point);

}  // namespace smtwin
