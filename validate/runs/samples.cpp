// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/samples.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "validate/fit/statistics.hpp"

namespace smtwin {

bool accepted(const Sample& sample, const SampleRules& rules) {
  if (sample.throttled) return false;
  if (rules.reference_clock_hz <= 0 || sample.sm_clock_hz <= 0) return true;
  return std::abs(sample.sm_clock_hz / rules.reference_clock_hz - 1) <= rules.clock_tolerance;
}

SampleSummary summarize(std::span<const Sample> samples, const SampleRules& rules) {
  std::vector<double> seconds, clocks;
  for (const Sample& sample : samples) {
    if (!accepted(sample, rules)) continue;
    seconds.push_back(sample.seconds);
    if (sample.sm_clock_hz > 0) clocks.push_back(sample.sm_clock_hz);
  }
  SampleSummary s;
  s.accepted = static_cast<int>(seconds.size());
  s.rejected = static_cast<int>(samples.size()) - s.accepted;
  if (seconds.empty()) return s;
  s.median_s = quantile(seconds, 0.5);
  s.p10_s = quantile(seconds, 0.1);
  s.p90_s = quantile(seconds, 0.9);
  s.sm_clock_hz = clocks.empty() ? 0 : quantile(clocks, 0.5);
  s.noisy = s.p90_s - s.p10_s > std::max(rules.noise_s, rules.noise_relative * s.median_s);
  return s;
}

}  // namespace smtwin
