// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/run_readings.hpp"

#include <algorithm>
#include <map>

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

std::set<std::string> varying_shape_parameters(const RunFile& run, const std::string& kernel) {
  std::map<std::string, std::set<std::int64_t>> values;
  for (const TimeReading& t : run.times) {
    if (t.kernel != kernel) continue;
    for (const auto& [name, value] : t.shape) values[name].insert(value);
  }
  std::set<std::string> names;
  for (const auto& [name, distinct] : values) {
    if (distinct.size() > 1) names.insert(name);
  }
  return names;
}

std::string shape_text(const KernelDescriptor& kernel, const Parameters& shape,
                       const std::set<std::string>& names) {
  std::string text;
  for (const ParameterSpec& spec : kernel.parameters()) {
    const auto value = shape.find(spec.name);
    if (value == shape.end() || !names.contains(spec.name)) continue;
    text += (text.empty() ? "" : " ") + spec.name + "=" + format_parameter(spec, value->second);
  }
  return text.empty() ? "default" : text;
}

bool follows_split_rule(const TimeReading& reading) {
  return reading.peer ||
         std::none_of(reading.config.begin(), reading.config.end(), [](const auto& entry) {
           return (entry.first == "nsplit" || entry.first == "split_k") && entry.second != 0;
         });
}

}  // namespace smtwin
