// SPDX-License-Identifier: Apache-2.0
// Does the twin rank a change rightly? Readings of a run in pairs that differ in one parameter of
// the configuration alone (num_warps 4 against 8), measured ratio beside predicted ratio. Splits
// may differ within a pair: they follow from the configuration.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "validate/runs/run_report.hpp"

namespace smtwin {

struct ParameterChange {
  std::string parameter;  // of the configuration: "num_warps"
  std::int64_t from = 0;
  std::int64_t to = 0;
};

// "num_warps=4,8". UsageError shows the form.
ParameterChange parse_parameter_change(const std::string& text);

// Ratios nearer to 1 than this say nothing: medians of one thing differ as much.
inline constexpr double kTellingChange = 0.03;

struct ReadingPair {
  const PointReport* from = nullptr;
  const PointReport* to = nullptr;
  bool fitted = false;             // the constants were fitted on this shape
  std::string shape;               // what varies in the run: "heads=16 topk=2048 batch=64"
  double measured_ratio() const;   // time with `to` / time with `from`
  double predicted_ratio() const;  // NaN without a prediction
  bool telling() const;            // the measured change exceeds kTellingChange
  bool right() const;              // predicted and measured lie on the same side of 1
};

// Cold readings of one shape, by kernel, then by shape. `where`: parameters of shape
// or configuration that both must have at these values. Pairs without a prediction (peers without a
// model) are left out. UsageError when the run has no such pair.
std::vector<ReadingPair> compare_readings(const RunReport& report, const ParameterChange& change,
                                          const Parameters& where = {});

// "heads=64". UsageError shows the form.
std::pair<std::string, std::int64_t> parse_parameter_value(const std::string& text);

}  // namespace smtwin
