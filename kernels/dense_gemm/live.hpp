// SPDX-License-Identifier: Apache-2.0
// The live half of dense_gemm and the library measured beside it. Exists only in builds with
// SMTWIN_CUDA.
#pragma once

#include <memory>

#include "kernels/live_kernel.hpp"

namespace smtwin {

std::unique_ptr<LiveKernel> make_dense_gemm_live();
std::unique_ptr<LiveKernel> make_cublas_gemm_live();

}  // namespace smtwin
