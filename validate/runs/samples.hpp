// SPDX-License-Identifier: Apache-2.0
// From timed samples to one reading: which count, their median and spread, and whether they are too
// noisy to stop. A sample counts unless the GPU throttled or ran at another clock than the run.
#pragma once

#include <span>

namespace smtwin {

struct Sample {
  double seconds = 0;
  double sm_clock_hz = 0;  // right before it; 0 = not known
  bool throttled = false;  // the driver says so: heat, power brake
};

struct SampleRules {
  double reference_clock_hz = 0;  // of the run; 0 = any clock counts
  double clock_tolerance = 0.03;  // two to four of the 7.5 or 15 MHz steps of current chips
  // Noise gate: wider than both is noisy. Below a microsecond the ticks of the events decide.
  double noise_relative = 0.06;
  double noise_s = 1e-6;
};

struct SampleSummary {
  double median_s = 0;
  double p10_s = 0;
  double p90_s = 0;
  double sm_clock_hz = 0;  // median of the accepted; 0 = not known
  int accepted = 0;
  int rejected = 0;
  bool noisy = false;  // p90 - p10 beyond the gate
};

// All zero but `rejected` when no sample counts.
SampleSummary summarize(std::span<const Sample> samples, const SampleRules& rules);

bool accepted(const Sample& sample, const SampleRules& rules);

}  // namespace smtwin
