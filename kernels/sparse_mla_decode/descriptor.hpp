// SPDX-License-Identifier: Apache-2.0
// sparse_mla_decode as the twin sees it: this project's split-K sparse MLA decode kernel on the
// DeepSeek-V4 cache, and the kernel that combines its splits.
//
//   grid    batch x ceil(heads / BLOCK_H) x nsplit
//   splits  two join in a cluster where they can; more go through the combine kernel
//   block_h 0 in a config stands for the default configuration of that shape on that GPU
#pragma once

#include <memory>

#include "kernels/descriptor.hpp"
#include "kernels/sparse_mla_decode/launch_plan.hpp"

namespace smtwin {

std::unique_ptr<KernelDescriptor> make_sparse_mla_decode();

}  // namespace smtwin
