// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/run_readings.hpp"

#include <algorithm>

#include "validate/fit/statistics.hpp"

namespace smtwin {

TimeReading median_of(const std::vector<TimeReading>& medians) {
  TimeReading all = medians.front();
  std::vector<double> seconds, low, high, clocks, powers;
  all.samples = all.rejected = 0;
  for (const TimeReading& m : medians) {
    seconds.push_back(m.seconds);
    low.push_back(m.p10_s);
    high.push_back(m.p90_s);
    clocks.push_back(m.sm_clock_hz);
    powers.push_back(m.power_w);
    all.samples += m.samples;
    all.rejected += m.rejected;
  }
  all.seconds = quantile(seconds, 0.5);
  all.p10_s = std::min(all.seconds, quantile(low, 0.5));
  all.p90_s = std::max(all.seconds, quantile(high, 0.5));
  all.sm_clock_hz = quantile(clocks, 0.5);
  all.power_w = quantile(powers, 0.5);
  all.medians = static_cast<std::int32_t>(medians.size());
  return all;
}

std::string plain_text(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    text += (text.empty() ? "" : "/") + name + "=" + std::to_string(value);
  }
  return text.empty() ? "-" : text;
}

// FNV-1a over the shape's text.
std::uint64_t draw_seed(const Parameters& shape, std::uint64_t seed) {
  std::uint64_t hash = 14695981039346656037U ^ seed;
  for (const char c : plain_text(shape)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return hash;
}

}  // namespace smtwin
