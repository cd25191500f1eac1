// SPDX-License-Identifier: Apache-2.0
// What a launch of dense_gemm hands to the GPU, the same for every variant.
#pragma once

#include <cstdint>

#include "kernels/dense_gemm/stream_k.hpp"

namespace smtwin::gemm {

struct GemmArgs {
  const char* a = nullptr;  // m rows
  const char* w = nullptr;  // n rows
  std::uint16_t* d = nullptr;
  const float* scale_a = nullptr;  // FP8: one number each in device memory; null for BF16
  const float* scale_w = nullptr;
  float4* partials = nullptr;
  std::uint32_t* arrived = nullptr;  // CTAs a tile, zero between launches
  std::int32_t m = 0;
  std::int32_t n = 0;
  std::int32_t row_bytes = 0;     // of A and W
  std::int32_t a_box_rows = 0;    // rows of A that a tensor copy brings
  std::int32_t tiles_m = 1;       // tile = column tile x tiles_m + row tile
  std::int32_t cluster_ctas = 1;  // CTAs of a tile that sum through shared memory
  StreamK work;
};

}  // namespace smtwin::gemm
