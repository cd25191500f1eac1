// SPDX-License-Identifier: Apache-2.0
// Eight BF16 values of several splits, added up in FP32 with a weight each.
#pragma once

#include "kernels/sparse_mla_decode/ptx.cuh"
#include "kernels/sparse_mla_decode/storage.cuh"

namespace smtwin::device {

inline constexpr float kLog2E = 1.44269504f;

struct WeightedSum {
  float sums[8] = {};

  __device__ __forceinline__ void add(const uint4& values, float weight) {
    const std::uint32_t words[4] = {values.x, values.y, values.z, values.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sums[2 * i] = fmaf(weight, __uint_as_float(words[i] << 16), sums[2 * i]);
      sums[2 * i + 1] = fmaf(weight, __uint_as_float(words[i] & 0xffff0000u), sums[2 * i + 1]);
    }
  }
  __device__ __forceinline__ void scale(float by) {
#pragma unroll
    for (float& sum : sums) sum *= by;
  }
  __device__ __forceinline__ uint4 result(float by) const {
    return {pack_bf16(sums[0] * by, sums[1] * by), pack_bf16(sums[2] * by, sums[3] * by),
            pack_bf16(sums[4] * by, sums[5] * by), pack_bf16(sums[6] * by, sums[7] * by)};
  }
};

}  // namespace smtwin::device
