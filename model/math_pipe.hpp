// SPDX-License-Identifier: Apache-2.0
// Which rate of a GPU a kernel's multiply-adds run at, and the path of that rate in the data.
#pragma once

#include <optional>

#include "arch/gpu_spec.hpp"
#include "kernels/descriptor.hpp"

namespace smtwin {

struct PipeRate {
  const std::optional<double>* flops_per_cycle = nullptr;
  const char* path = "";
};

// For the tensor pipes; fp32 and none are not among them (their rate is that of fp32).
PipeRate tensor_rate(const SmRates& rates, MathPipe pipe);

}  // namespace smtwin
