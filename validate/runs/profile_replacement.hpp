// SPDX-License-Identifier: Apache-2.0
// Whether a new calibration may take the place of an older one: a family must predict shapes that
// it was not fitted on about as well as before, from at least half as many of them. A quick run
// must not wipe out a careful one unasked.
#pragma once

#include <string>
#include <vector>

#include "model/timing/profile.hpp"

namespace smtwin {

// Each a sentence; empty = nothing gets worse. Families that `fresh` lacks are kept by
// with_run_families and do not count.
std::vector<std::string> losses(const CalibrationProfile& fresh, const CalibrationProfile& old);

}  // namespace smtwin
