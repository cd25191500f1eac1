// SPDX-License-Identifier: Apache-2.0
// What CUDA and NVML say about a GPU, in the terms of a run file.
#pragma once

#include <memory>

#include "kernels/probes/nvml.hpp"
#include "validate/runs/run_file.hpp"

namespace smtwin {

// Makes GPU `index` current. NoDeviceError when there is none, or no driver.
void select_gpu(int index);

std::unique_ptr<Nvml> open_nvml(int index);

RunGpu describe_gpu(int index, const Nvml& nvml);

}  // namespace smtwin
