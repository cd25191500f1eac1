// SPDX-License-Identifier: Apache-2.0
// Names of the constants that any of these points depends on, at the priors: what a family that
// shares its fit with others really uses.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "model/timing/time_problem.hpp"

namespace smtwin::test {

inline std::vector<std::string> constants_in_use(const TimeProblem& problem,
                                                 std::span<const std::size_t> points) {
  const std::vector<ConstantSpec>& specs = problem.constants();
  std::vector<double> values;
  for (const ConstantSpec& spec : specs) values.push_back(spec.prior);
  std::vector<std::string> used;
  int choice = 0;
  for (std::size_t j = 0; j < specs.size(); ++j) {
    std::vector<double> moved = values;
    moved[j] *= 1.5;  // far enough that a maximum of two terms shows both
    for (const std::size_t i : points) {
      if (problem.seconds(i, moved, choice, true) == problem.seconds(i, values, choice, true)) {
        continue;
      }
      used.push_back(specs[j].name);
      break;
    }
  }
  return used;
}

}  // namespace smtwin::test
