// SPDX-License-Identifier: Apache-2.0
// One kernel run for programs: the JSON object and the CSV row that fit, whatif and predict share.
#pragma once

#include <string>
#include <vector>

#include "cli/kernel_run.hpp"

namespace smtwin {

// {"heads": 16, "dtype": "fp8"}: the parameters of one role.
std::string parameters_json(const KernelDescriptor& kernel, const Parameters& parameters,
                            ParameterRole role);

// Text of a JSON object: config, resources, residency, grid, waves, traffic, predicted time.
std::string kernel_run_json(const KernelDescriptor& kernel, const KernelRun& run,
                            const GpuSpec& gpu);

std::vector<std::string> kernel_run_csv_header();
std::vector<std::string> kernel_run_csv_cells(const KernelRun& run, const GpuSpec& gpu);

}  // namespace smtwin
