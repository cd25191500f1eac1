// SPDX-License-Identifier: Apache-2.0
// The measuring half on a real GPU. The header is free of CUDA and the same symbols exist without
// it (not_built.cpp), so that callers need no #ifdef: a build without CUDA throws NotBuiltError, a
// machine without a GPU NoDeviceError, both exit code 3.
#pragma once

#include <memory>

#include "validate/runs/measurer.hpp"
#include "validate/runs/run_file.hpp"

namespace smtwin {

bool built_with_cuda();

// What the driver says about GPU `index`: its name here (empty when the catalog has none), clocks,
// memory, versions.
RunGpu query_gpu(int index);

// Takes GPU `index`.
std::unique_ptr<Measurer> open_gpu(int index);

}  // namespace smtwin
