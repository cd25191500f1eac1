// SPDX-License-Identifier: Apache-2.0
// Measured rows of collectives as questions to the model.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "model/families/collectives/collective_question.hpp"
#include "model/timing/time_problem.hpp"
#include "validate/measurements/measurement_row.hpp"

namespace smtwin {

// DataError for an operation, dtype or kernel source that no rule covers.
CollectiveQuestion collective_question(const MeasurementRow& row);

// Names of the constants that any of these points depends on, at the priors: what a family that
// shares its fit with others really uses.
std::vector<std::string> constants_in_use(const TimeProblem& problem,
                                          std::span<const std::size_t> points);

}  // namespace smtwin
