// SPDX-License-Identifier: Apache-2.0
// Pieces that the constants of all families are written with.
#pragma once

#include <string>

#include "model/timing/constant_spec.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

// A rate that never binds: `off` of a rate, and what a missing effect divides by.
inline constexpr double kNoRate = 1e30;

// A positive constant known to about a factor exp(log_sigma); bounds a factor `range` on each side.
ConstantSpec constant_spec(std::string name, std::string unit, std::string meaning, double prior,
                           double log_sigma, double range = 30);
// The same with a value that removes its effect.
ConstantSpec removable(ConstantSpec spec, double off);

// The one constant that all families of a GPU share, named "dram_rate".
ConstantSpec dram_rate_spec(const TimingGpu& gpu);

}  // namespace smtwin
