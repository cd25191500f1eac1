// SPDX-License-Identifier: Apache-2.0
// What the latent-attention equations share: the share of a replayed working set that has left the
// L2, one prediction taken apart, and where a replayed graph's readings lie on the timer's grid.
//   cold = x^16 / (1 + x^16),  x = bytes replayed / (share of the L2 that a replay can keep)
// Left out: partial hits by access order (a cyclic sweep just above the capacity).
#pragma once

#include <string>

#include "model/families/mla/mla_constants.hpp"
#include "model/timing/time_problem.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

// The terms of one prediction: what each would take alone, and the whole.
struct MlaTime {
  double seconds = 0;
  double launch_s = 0;
  double latency_s = 0;
  double l2_s = 0;
  double dram_s = 0;
  double compute_s = 0;

  MlaTime& operator+=(const MlaTime& other);
};

TimeParts to_parts(const MlaTime& time, std::string choice);

// Share of `bytes`, touched again by every replay, that comes from DRAM.
double replayed_cold_share(double bytes, const TimingGpu& gpu);

// Grid of the replayed benchmark. `phase_ticks`: where in a tick readings lie.
double mla_reading_s(double seconds, const TimingGpu& gpu, double phase_ticks);

}  // namespace smtwin
