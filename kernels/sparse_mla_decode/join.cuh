// SPDX-License-Identifier: Apache-2.0
// Joins the splits of a head group without a second kernel: where all splits of a request form a
// cluster, each CTA leaves its outputs and log-sums in its own shared memory, over the rows it no
// longer needs, and then adds up a share of the outputs from all CTAs of the cluster. Saves the
// launch and the trip through global memory of the combine kernel, and needs at most 8 splits.
#pragma once

#include "kernels/sparse_mla_decode/weighted_sum.cuh"

namespace smtwin::device {

inline constexpr int kMaxJoinedSplits = 8;  // CTAs of a cluster on every GPU

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
                                            const float* sinks, int heads, unsigned splits) {
  using Joined = JoinedOutputs<Variant>;
  constexpr unsigned kChunks = kMlaHeadDim / 8;  // of 16 bytes
  const std::uint32_t outputs = shared_address(Joined::outputs(storage));
  const std::uint32_t log_sums = shared_address(Joined::log_sums(storage));
#pragma unroll 1
  for (unsigned i = blockIdx.z * Variant::kComputeThreads + threadIdx.x; i < heads * kChunks;
       i += splits * Variant::kComputeThreads) {
    const unsigned head = i / kChunks, chunk = i % kChunks;
    float log_sum[kMaxJoinedSplits];
    uint4 values[kMaxJoinedSplits];
#pragma unroll
    for (unsigned split = 0; split < kMaxJoinedSplits; ++split) {
      log_sum[split] = -INFINITY;
      values[split] = uint4{0, 0, 0, 0};
      if (split < splits) {
        log_sum[split] = load_cluster(address_in_cta(log_sums + head * 4, split));
        values[split] = load_cluster_16(
            address_in_cta(outputs + (head * Joined::kStride + chunk * 8) * 2, split));
      }
    }
    const float sink = sinks == nullptr ? -INFINITY : __ldg(sinks + head) * kLog2E;
    float largest = sink;
#pragma unroll
    for (unsigned split = 0; split < kMaxJoinedSplits; ++split) {
      largest = fmaxf(largest, log_sum[split]);
    }
    WeightedSum sum;
    float denominator = 0;
    if (largest > -INFINITY) {
      denominator = exp2_approximate(sink - largest);
#pragma unroll
      for (unsigned split = 0; split < kMaxJoinedSplits; ++split) {
        const float weight = exp2_approximate(log_sum[split] - largest);
        denominator += weight;
        sum.add(values[split], weight);
      }
    }
    const float inverse = denominator > 0 ? 1 / denominator : 0;
    *reinterpret_cast<uint4*>(out + head * kMlaHeadDim + chunk * 8) = sum.result(inverse);
  }
}

}  // namespace smtwin::device
