// SPDX-License-Identifier: Apache-2.0
// What a run already holds of its plan: which readings are there and which configurations of a
// shape are so close to the fastest that one median does not order them.
#pragma once

#include <string>
#include <vector>

#include "validate/runs/measurer.hpp"
#include "validate/runs/run_plan.hpp"

namespace smtwin {

inline constexpr int kFinalMedians = 5;  // of each finalist

// Null: not measured yet.
const TimeReading* find_time(const RunFile& run, const PlannedShape& shape, const TimeTask& task);

// The main function of a variant, the first of its readings. Null for a peer, and for a
// configuration that is no variant of its own (one with a fixed split).
const FunctionReading* main_function(const RunFile& run, const std::string& kernel,
                                     const Parameters& config);

// Tasks whose cold times lie within 6 % of the fastest, at most ten, fastest first; wrong results
// do not count.
std::vector<TimeTask> finalists(const RunFile& run, const PlannedShape& shape,
                                const std::vector<TimeTask>& tasks);
// Those of them that lack their medians.
std::vector<TimeTask> unsettled_finalists(const RunFile& run, const PlannedShape& shape,
                                          const std::vector<TimeTask>& tasks);

// Errors above this are wrong results: such a variant is not timed.
inline constexpr double kLargestRelativeError = 2e-2;

}  // namespace smtwin
