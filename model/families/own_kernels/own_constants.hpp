// SPDX-License-Identifier: Apache-2.0
// Pieces that the constants of our own kernels' families are written with.
#pragma once

#include <string>

#include "model/timing/constant_spec.hpp"
#include "model/timing/probed_gpu.hpp"

namespace smtwin {

// A positive constant known to about a factor exp(log_sigma); bounds a factor `range` on each side.
ConstantSpec own_constant(std::string name, std::string unit, std::string meaning, double prior,
                          double log_sigma, double range = 30);
// The same with a value that removes its effect.
ConstantSpec removable(ConstantSpec spec, double off);

// "launch_time": what the event pair around an empty operation reads.
ConstantSpec launch_time_spec(const ProbedGpu& probed);
// "dram_rate" of a kernel: at most the stream's.
ConstantSpec own_dram_rate_spec(const ProbedGpu& probed);

}  // namespace smtwin
