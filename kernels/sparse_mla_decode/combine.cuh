// SPDX-License-Identifier: Apache-2.0
// The combine kernel: a CTA a head joins the partial outputs of all splits, each weighted with
// 2^(its log-sum - the largest), and lets the attention sink join the denominator. Splits without
// a token have a log-sum of minus infinity and are not read. It may start before the main kernel
// ended (programmatic dependent launch) and waits for it first.
#pragma once

#include "kernels/sparse_mla_decode/weighted_sum.cuh"

namespace smtwin::device {

inline constexpr int kCombineThreads = 128;

__device__ __forceinline__ void sparse_mla_combine(const SparseMlaArguments& arguments) {
  constexpr int kLanesOfRow = kMlaHeadDim / 8;           // 16 bytes each
  constexpr int kParts = kCombineThreads / kLanesOfRow;  // splits at once
  constexpr int kUnroll = 4;
  __shared__ float sums_of_parts[kParts - 1][kMlaHeadDim];

  const std::int64_t rows = gridDim.x;
  const std::int64_t row = blockIdx.x;
  const int part = static_cast<int>(threadIdx.x) / kLanesOfRow;
  const int column = static_cast<int>(threadIdx.x) % kLanesOfRow * 8;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int splits = arguments.splits;
  const float sink = arguments.sinks == nullptr
                         ? -INFINITY
                         : __ldg(arguments.sinks + row % arguments.heads) * kLog2E;
  wait_for_previous_kernel();

  // Every warp for itself: the largest log-sum and the denominator.
  const float* log_sums = arguments.partial_log_sum + row;
  float largest = sink;
  for (int split = lane; split < splits; split += 32) {
    largest = fmaxf(largest, __ldcg(log_sums + split * rows));
  }
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, bit));
  }
  float denominator = 0;
  if (largest > -INFINITY) {
    for (int split = lane; split < splits; split += 32) {
      denominator += exp2f(__ldcg(log_sums + split * rows) - largest);
    }
#pragma unroll
    for (int bit = 16; bit > 0; bit /= 2) {
      denominator += __shfl_xor_sync(0xffffffffu, denominator, bit);
    }
    denominator += exp2f(sink - largest);
  }
  const float inverse = denominator > 0 ? 1 / denominator : 0;

  WeightedSum sum;
  const std::uint16_t* from = arguments.partial_out + row * kMlaHeadDim + column;
  for (int first = part; first < splits; first += kParts * kUnroll) {
    uint4 values[kUnroll];
    float weights[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const int split = first + i * kParts;
      const float log_sum = split < splits ? __ldcg(log_sums + split * rows) : -INFINITY;
      weights[i] = 0;
      values[i] = uint4{0, 0, 0, 0};
      if (log_sum > -INFINITY) {
        weights[i] = exp2f(log_sum - largest);
        values[i] = __ldcg(reinterpret_cast<const uint4*>(from + split * rows * kMlaHeadDim));
      }
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) sum.add(values[i], weights[i]);
  }

  if (part > 0) {
#pragma unroll
    for (int i = 0; i < 8; ++i) sums_of_parts[part - 1][column + i] = sum.sums[i];
  }
  __syncthreads();
  if (part > 0) return;
#pragma unroll
  for (int other = 0; other < kParts - 1; ++other) {
#pragma unroll
    for (int i = 0; i < 8; ++i) sum.sums[i] += sums_of_parts[other][column + i];
  }
  *reinterpret_cast<uint4*>(arguments.out + row * kMlaHeadDim + column) = sum.result(inverse);
}

}  // namespace smtwin::device
