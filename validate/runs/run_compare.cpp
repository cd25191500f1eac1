// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/run_compare.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "arch/error.hpp"
#include "model/families/own_kernels/own_kernel_model.hpp"
#include "validate/runs/run_readings.hpp"

namespace smtwin {
namespace {

constexpr const char* kSplits[] = {"nsplit", "split_k"};

bool parse_whole(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool has_all(const Parameters& shape, const Parameters& config, const Parameters& where) {
  return std::all_of(where.begin(), where.end(), [&](const auto& wanted) {
    for (const Parameters* given : {&shape, &config}) {
      const auto found = given->find(wanted.first);
      if (found != given->end()) return found->second == wanted.second;
    }
    return false;
  });
}

// The shape's values in the order in which its descriptor lists them.
std::vector<std::int64_t> in_order(const std::string& kernel, const Parameters& shape) {
  std::vector<std::int64_t> values;
  for (const ParameterSpec& spec : descriptor_of_run_kernel(kernel)->parameters()) {
    const auto found = shape.find(spec.name);
    if (found != shape.end()) values.push_back(found->second);
  }
  return values;
}

}  // namespace

ParameterChange parse_parameter_change(const std::string& text) {
  const auto equals = text.find('=');
  const auto comma = text.find(',', equals == std::string::npos ? 0 : equals);
  ParameterChange change;
  if (equals != std::string::npos && comma != std::string::npos) {
    change.parameter = text.substr(0, equals);
    const std::string_view rest(text);
    if (!change.parameter.empty() &&
        parse_whole(rest.substr(equals + 1, comma - equals - 1), change.from) &&
        parse_whole(rest.substr(comma + 1), change.to) && change.from != change.to) {
      return change;
    }
  }
  throw UsageError("--compare " + text +
                   ": expected a parameter and two different values of it, as in num_warps=4,8");
}

double ReadingPair::measured_ratio() const { return to->reading->seconds / from->reading->seconds; }

double ReadingPair::predicted_ratio() const {
  if (from->point == nullptr || to->point == nullptr) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return to->point->predicted_s / from->point->predicted_s;
}

bool ReadingPair::telling() const { return std::fabs(measured_ratio() - 1) > kTellingChange; }

bool ReadingPair::right() const { return (predicted_ratio() > 1) == (measured_ratio() > 1); }

std::pair<std::string, std::int64_t> parse_parameter_value(const std::string& text) {
  const auto equals = text.find('=');
  std::int64_t value = 0;
  if (equals == std::string::npos || equals == 0 ||
      !parse_whole(std::string_view(text).substr(equals + 1), value)) {
    throw UsageError("--where " + text +
                     ": expected a parameter and a whole number, as in heads=64");
  }
  return {text.substr(0, equals), value};
}

std::vector<ReadingPair> compare_readings(const RunReport& report, const ParameterChange& change,
                                          const Parameters& where) {
  using Key = std::tuple<std::string, Parameters, Parameters>;  // kernel, shape, rest of the config
  const bool held_out = std::any_of(
      report.points.begin(), report.points.end(),
      [](const PointReport& point) { return point.point != nullptr && point.point->held_out; });
  std::map<Key, ReadingPair> pairs;
  std::vector<Key> order;
  for (const PointReport& point : report.points) {
    const TimeReading& t = *point.reading;
    if (point.point == nullptr || t.cache != SampleCache::cold || !follows_split_rule(t)) continue;
    Parameters rest = t.config;
    const auto found = rest.find(change.parameter);
    if (found == rest.end()) continue;
    const std::int64_t value = found->second;
    if (value != change.from && value != change.to) continue;
    rest.erase(found);
    for (const char* splits : kSplits) rest.erase(splits);
    if (!has_all(t.shape, rest, where)) continue;
    const Key key{t.kernel, t.shape, rest};
    const auto [pair, is_new] = pairs.try_emplace(key);
    if (is_new) order.push_back(key);
    (value == change.from ? pair->second.from : pair->second.to) = &point;
  }
  std::stable_sort(order.begin(), order.end(), [](const Key& a, const Key& b) {
    if (std::get<0>(a) != std::get<0>(b)) return std::get<0>(a) < std::get<0>(b);
    return in_order(std::get<0>(a), std::get<1>(a)) < in_order(std::get<0>(b), std::get<1>(b));
  });
  std::vector<ReadingPair> complete;
  std::map<std::string, std::set<std::string>> names;
  for (const Key& key : order) {
    ReadingPair pair = pairs[key];
    if (pair.from == nullptr || pair.to == nullptr) continue;
    const std::string& kernel = std::get<0>(key);
    if (!names.contains(kernel)) names[kernel] = varying_shape_parameters(*report.run, kernel);
    pair.shape = shape_text(*descriptor_of_run_kernel(kernel), std::get<1>(key), names[kernel]);
    pair.fitted = held_out && !pair.from->point->held_out;
    complete.push_back(pair);
  }
  if (complete.empty()) {
    throw UsageError("--compare " + change.parameter + "=" + std::to_string(change.from) + "," +
                     std::to_string(change.to) +
                     ": the run has no two predicted readings that differ in that alone" +
                     (where.empty() ? "" : " and match --where"));
  }
  return complete;
}

}  // namespace smtwin
