// SPDX-License-Identifier: Apache-2.0
// Names of a variant's kernel and of the function that tells the launcher where it is, both from a
// line of variants.def.
#pragma once

#include <cstdint>

#define SMTWIN_GEMM_SYMBOL(dtype, bm, bn, bk, warps, stages, wgmma) \
  smtwin_gemm_##dtype##_m##bm##_n##bn##_k##bk##_w##warps##_s##stages##_g##wgmma
#define SMTWIN_GEMM_ENTRY(dtype, bm, bn, bk, warps, stages, wgmma) \
  entry_##dtype##_m##bm##_n##bn##_k##bk##_w##warps##_s##stages##_g##wgmma

namespace smtwin::gemm {

struct CompiledGemm {
  const void* function = nullptr;
  std::int64_t shared_bytes = 0;  // sizeof of what the kernel lays over its shared memory
};

}  // namespace smtwin::gemm
