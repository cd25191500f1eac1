// SPDX-License-Identifier: Apache-2.0
// What the probes share without CUDA: building points and reading their parameters back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/probes/probes.hpp"

namespace smtwin {

// A parameter that must be there and be a whole number; UsageError names probe and parameter.
std::int64_t whole_parameter(const ProbePoint& point, const std::string& name);

// UsageError: "probe fma: warps_per_sm is 3; allowed is 4, 8, 16, 32".
[[noreturn]] void refuse_parameter(const ProbePoint& point, const std::string& name,
                                   const std::string& allowed);

// `probe` at every value of one parameter, the others as in `fixed`.
struct ProbeSweep {
  std::string probe = "";
  std::string unit = "";
  std::string parameter = "";
  std::vector<double> values = {};
  std::map<std::string, double> fixed = {};
  int repetitions = 9;
};
void append_sweep(std::vector<ProbePoint>& points, const ProbeSweep& sweep);

}  // namespace smtwin
