// SPDX-License-Identifier: Apache-2.0
// The bound of a kernel report that a regime of a fitted family stands for.
#pragma once

#include "model/kernel_time.hpp"
#include "model/timing/time_problem.hpp"

namespace smtwin {

// `compute`: which pipe the family's compute regime is about.
Bound bound_of(Regime regime, Bound compute);

}  // namespace smtwin
