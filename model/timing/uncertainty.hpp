// SPDX-License-Identifier: Apache-2.0
// How uncertain a prediction is because its constants are: g' C g, with g the sensitivity of log
// seconds to the logarithm of each constant and C the covariance of those logarithms.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace smtwin {

// Forward differences of log seconds, one a constant. `seconds_at` takes raw values.
std::vector<double> log_sensitivities(
    const std::function<double(std::span<const double>)>& seconds_at,
    std::span<const double> values);

// `covariance` row by row, as many rows as sensitivities.
double variance_from_constants(std::span<const double> sensitivity,
                               std::span<const double> covariance);

}  // namespace smtwin
