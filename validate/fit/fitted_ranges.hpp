// SPDX-License-Identifier: Apache-2.0
// Within which shapes a family was measured: smallest and largest value of every column that
// varies. A prediction outside them is an extrapolation.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/timing/profile.hpp"
#include "validate/measurements/measurement_row.hpp"

namespace smtwin {

std::vector<FittedRange> fitted_ranges(std::span<const MeasurementRow* const> rows);

}  // namespace smtwin
