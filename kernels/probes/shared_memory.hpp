// SPDX-License-Identifier: Apache-2.0
// Shared memory: bandwidth without bank conflicts and what conflicts cost. 16 warps in one CTA an
// SM, by the SM's own clock.
//
//   shared_read, shared_write  16 bytes a lane, conflict-free; bytes per clock and SM
//   shared_stride    32-bit loads, lane l reads word l x stride_words: clocks of the SM per warp
//                    load. 32 banks of 4 bytes: gcd(stride_words, 32) lanes meet in one bank
//   ldmatrix_stride  ldmatrix.x4 on rows row_bytes apart: clocks of the SM per instruction. Its
//                    512 bytes take 4 clocks when the eight rows of each 8x8 matrix start in
//                    different 16-byte columns of the 128-byte bank line; 32 when in the same
//
// How they mislead: a stride of 1 word is one warp load a clock, the bound of the banks and of the
// load unit alike. Only loads are issued (and the logic that consumes them): a kernel that also
// computes gets less.
#pragma once

#include <vector>

#include "kernels/probes/probes.hpp"

namespace smtwin {

std::vector<ProbePoint> shared_memory_points(const ProbeGpu& gpu, ProbeEffort effort);
double run_shared_memory(ProbeWorkspace& workspace, const ProbePoint& point);

}  // namespace smtwin
