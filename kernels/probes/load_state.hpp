// SPDX-License-Identifier: Apache-2.0
// What the GPU does under a lasting load: SM clock and power after load_s seconds of one kernel
// back to back.
//
//   sm_clock_L  Hz, in the last kernel: clock64 over the nanosecond timer, mean over its CTAs
//   power_L     W, of the board by NVML near the end of the load; no answer without NVML
//   L           idle (power only), fma, tensor_bf16 (16 warps an SM), dram_read (1 GiB streams)
//
// How it misleads: power control reacts within some tens of milliseconds and the board warms for
// minutes, so the clock of a job that runs for hours can be lower. NVML refreshes power some tens
// of times a second.
#pragma once

#include <optional>
#include <vector>

#include "kernels/probes/probes.hpp"

namespace smtwin {

std::vector<ProbePoint> load_state_points(const ProbeGpu& gpu, ProbeEffort effort);
std::optional<double> run_load_state(ProbeWorkspace& workspace, const ProbePoint& point);

}  // namespace smtwin
