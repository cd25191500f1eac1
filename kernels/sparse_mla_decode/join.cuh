// SPDX-License-Identifier: Apache-2.0
// Joins the two splits of a head group without a second kernel: both CTAs form a cluster, each
// leaves its outputs and log-sums in its own shared memory, over the rows it no longer needs, and
// adds up half of the outputs from both. Saves the launch and the trip through global memory of
// the combine kernel.
#pragma once

#include "kernels/sparse_mla_decode/weighted_sum.cuh"

namespace smtwin::device {

template <class Variant>
struct JoinedOutputs {
  // 16-byte aligned rows whose starts are 8 banks apart: eight heads of an mma tile, 8 bytes a
  // lane, are written without conflicts.
  static constexpr int kStride = kMlaHeadDim + 16;  // values
  using Storage = typename Variant::Storage;
  // The outputs lie over the rows, partial scores and probabilities.
  static constexpr bool kFits =
      Variant::kPasses == 1 &&
      Variant::kHeads * kStride * 2 <= static_cast<int>(offsetof(Storage, rescale));

  __device__ __forceinline__ static std::uint16_t* outputs(Storage& storage) {
    return reinterpret_cast<std::uint16_t*>(&storage);
  }
  // Over the largest |q|, which nobody needs any more.
  __device__ __forceinline__ static float* log_sums(Storage& storage) {
    return reinterpret_cast<float*>(storage.largest_q);
  }
};

// `out`, `sinks`: of the first head of the group. After a cluster barrier; another one must follow
// before the CTA exits.
template <class Variant>
__device__ __forceinline__ void join_splits(typename Variant::Storage& storage, std::uint16_t* out,
                                            const float* sinks, int heads) {
  using Joined = JoinedOutputs<Variant>;
  constexpr unsigned kChunks = kMlaHeadDim / 8;  // of 16 bytes
  constexpr unsigned kTurns =
      Variant::kHeads / 2 * kChunks / static_cast<unsigned>(Variant::kComputeThreads);
  constexpr unsigned kAtOnce = kTurns < 4 ? kTurns : 4;
  const std::uint32_t outputs = shared_address(Joined::outputs(storage));
  const std::uint32_t log_sums = shared_address(Joined::log_sums(storage));
  const unsigned mine = blockIdx.z;
  const unsigned first = mine * (Variant::kHeads / 2 * kChunks) + threadIdx.x;
#pragma unroll 1
  for (unsigned turn = 0; turn < kTurns; turn += kAtOnce) {
    float log_sum[kAtOnce][2];
    uint4 values[kAtOnce][2];
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const unsigned at = first + (turn + i) * Variant::kComputeThreads;
      const unsigned head = at / kChunks, chunk = at % kChunks;
#pragma unroll
      for (unsigned split = 0; split < 2; ++split) {
        log_sum[i][split] = load_cluster(address_in_cta(log_sums + head * 4, split));
        values[i][split] = load_cluster_16(
            address_in_cta(outputs + (head * Joined::kStride + chunk * 8) * 2, split));
      }
    }
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const unsigned at = first + (turn + i) * Variant::kComputeThreads;
      const int head = static_cast<int>(at / kChunks);
      if (head >= heads) break;
      const float sink = sinks == nullptr ? -INFINITY : __ldg(sinks + head) * kLog2E;
      const float largest = fmaxf(sink, fmaxf(log_sum[i][0], log_sum[i][1]));
      WeightedSum sum;
      float inverse = 0;
      if (largest > -INFINITY) {
        const float weights[2] = {exp2_approximate(log_sum[i][0] - largest),
                                  exp2_approximate(log_sum[i][1] - largest)};
        sum.add(values[i][0], weights[0]);
        sum.add(values[i][1], weights[1]);
        inverse = 1 / (weights[0] + weights[1] + exp2_approximate(sink - largest));
      }
      *reinterpret_cast<uint4*>(out + head * kMlaHeadDim + at % kChunks * 8) = sum.result(inverse);
    }
  }
}

}  // namespace smtwin::device
