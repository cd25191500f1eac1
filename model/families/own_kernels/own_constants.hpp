// SPDX-License-Identifier: Apache-2.0
// Pieces that the constants of our own kernels' families are written with.
#pragma once

#include "model/timing/constant_spec.hpp"
#include "model/timing/probed_gpu.hpp"

namespace smtwin {

// "launch_time": what the event pair around an empty operation reads.
ConstantSpec launch_time_spec(const ProbedGpu& probed);
// "dram_rate" of a kernel: at most the stream's.
ConstantSpec own_dram_rate_spec(const ProbedGpu& probed);

}  // namespace smtwin
