// SPDX-License-Identifier: Apache-2.0
// The device half of sparse_mla_decode. Exists only in builds with SMTWIN_CUDA.
#pragma once

#include <memory>

#include "kernels/live_kernel.hpp"

namespace smtwin {

std::unique_ptr<LiveKernel> make_live_sparse_mla_decode();

}  // namespace smtwin
