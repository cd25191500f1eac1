// SPDX-License-Identifier: Apache-2.0
// The combine kernel: 64 threads a head add up the partial outputs of all splits, each weighted
// with 2^(its log-sum - the largest), and let the attention sink join the denominator. A split
// without a token has a log-sum of minus infinity and zeros. The loads of eight splits are issued
// together, so that a few splits cost one trip to memory. The kernel may start before the main one
// ended (programmatic dependent launch) and waits for it first.
#pragma once

#include "kernels/sparse_mla_decode/weighted_sum.cuh"

namespace smtwin::device {

inline constexpr int kCombineThreads = 128;
inline constexpr int kCombineLanes = kMlaHeadDim / 8;  // threads of a head, 16 bytes each

__device__ __forceinline__ void sparse_mla_combine(const SparseMlaArguments& arguments,
                                                   std::int64_t rows) {
  constexpr int kAtOnce = 8;  // splits whose loads are in flight together
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * (kCombineThreads / kCombineLanes) +
      threadIdx.x / kCombineLanes;
  if (row >= rows) return;
  const int column = static_cast<int>(threadIdx.x % kCombineLanes) * 8;
  const float* log_sums = arguments.partial_log_sum + row;
  const std::uint16_t* from = arguments.partial_out + row * kMlaHeadDim + column;
  float largest = arguments.sinks == nullptr
                      ? -INFINITY
                      : __ldg(arguments.sinks + row % arguments.heads) * kLog2E;
  float denominator = largest > -INFINITY ? 1 : 0;
  WeightedSum sum;
  wait_for_previous_kernel();

#pragma unroll 1
  for (int first = 0; first < arguments.splits; first += kAtOnce) {
    float log_sum[kAtOnce];
    uint4 values[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const bool there = first + i < arguments.splits;
      const std::int64_t at = (first + i) * rows;
      log_sum[i] = there ? __ldcg(log_sums + at) : -INFINITY;
      values[i] = there ? __ldcg(reinterpret_cast<const uint4*>(from + at * kMlaHeadDim))
                        : uint4{0, 0, 0, 0};
    }
    float before = largest;
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) largest = fmaxf(largest, log_sum[i]);
    if (largest == -INFINITY) continue;
    const float rescale = exp2_approximate(before - largest);
    denominator *= rescale;
    sum.scale(rescale);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const float weight = exp2_approximate(log_sum[i] - largest);
      denominator += weight;
      sum.add(values[i], weight);
    }
  }
  *reinterpret_cast<uint4*>(arguments.out + row * kMlaHeadDim + column) =
      sum.result(denominator > 0 ? 1 / denominator : 0);
}

}  // namespace smtwin::device
