// SPDX-License-Identifier: Apache-2.0
// The compiled variants of sparse_mla_decode, one function each, and the combine kernel. The
// header is free of CUDA. Each variant is defined in a .cu file of its own (variant.cu.in).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/sparse_mla_decode/config.hpp"

namespace smtwin {

struct SparseMlaCompiled {
  SparseMlaTile tile;
  const char* symbol = nullptr;
  const void* function = nullptr;
  int threads = 0;
  std::int64_t shared_bytes = 0;  // sizeof the storage that the kernel lays out
  bool can_join = false;          // splits of one cluster can join without the combine kernel
};

// All of them, in the order block_h, block_t, num_warps, num_stages.
const std::vector<SparseMlaCompiled>& sparse_mla_compiled_variants();
// Null when no such variant exists.
const SparseMlaCompiled* find_sparse_mla_variant(const SparseMlaTile& tile);

const void* sparse_mla_combine_function();

}  // namespace smtwin
