// SPDX-License-Identifier: Apache-2.0
// Reading parameters of a point back, and refusing what no kernel was compiled for.
#include "kernels/probes/probe_point.hpp"

#include <cmath>
#include <sstream>

#include "arch/error.hpp"

namespace smtwin {

std::int64_t whole_parameter(const ProbePoint& point, const std::string& name) {
  const auto found = point.parameters.find(name);
  if (found == point.parameters.end()) {
    throw UsageError("probe " + point.probe + ": parameter " + name + " is missing");
  }
  if (found->second != std::floor(found->second) || found->second < 0) {
    refuse_parameter(point, name, "a whole number");
  }
  return static_cast<std::int64_t>(found->second);
}

void refuse_parameter(const ProbePoint& point, const std::string& name,
                      const std::string& allowed) {
  std::ostringstream message;
  message << "probe " << point.probe << ": " << name << " is " << point.parameters.at(name)
          << "; allowed is " << allowed;
  throw UsageError(message.str());
}

void append_sweep(std::vector<ProbePoint>& points, const ProbeSweep& sweep) {
  for (const double value : sweep.values) {
    ProbePoint point{.probe = sweep.probe,
                     .parameters = sweep.fixed,
                     .unit = sweep.unit,
                     .repetitions = sweep.repetitions};
    point.parameters[sweep.parameter] = value;
    points.push_back(point);
  }
}

}  // namespace smtwin
