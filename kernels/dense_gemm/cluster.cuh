// SPDX-License-Identifier: Apache-2.0
// Hopper variants, split K: the CTAs of a tile are one cluster and sum through each other's shared
// memory, without a trip to the L2. Every CTA adds up and stores its share of the tile, always in
// the order of K. The ring of stages, all used up by then, holds the parts.
#pragma once

#include "kernels/dense_gemm/epilogue.cuh"

namespace smtwin::gemm {

// All threads of all CTAs of the cluster; what they wrote to shared memory before is seen after.
__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

__device__ inline float4 load_of_cta(std::uint32_t address, std::uint32_t rank) {
  float4 value;
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %4, %5;\n"
      "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n}"
      : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
      : "r"(address), "r"(rank)
      : "memory");
  return value;
}

template <typename C>
__device__ void sum_in_cluster(Accumulators<C>& sums, const GemmArgs& args, int tile,
                               unsigned char* parts) {
  constexpr int kPieces = C::kRowTiles * C::kGroups;
  static_assert(kPieces * C::kThreads * sizeof(float4) <= C::kStages * C::kStageBytes);
  const auto ctas = static_cast<std::uint32_t>(args.cluster_ctas);
  const std::uint32_t rank = blockIdx.x % ctas;
  const Share share{.begin = static_cast<int>(kPieces * rank / ctas),
                    .end = static_cast<int>(kPieces * (rank + 1) / ctas)};
  float4* const own = reinterpret_cast<float4*>(parts) + threadIdx.x;
  sync_multipliers<C>();  // no warp multiplies from the ring any more
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const float(&sum)[4] = sums[i / C::kGroups][i % C::kGroups];
    own[i * C::kThreads] = make_float4(sum[0], sum[1], sum[2], sum[3]);
  }
  sync_cluster();
  const std::uint32_t address = shared_address(own);
#pragma unroll 1
  for (std::uint32_t from = 0; from < ctas; ++from) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      if (i < share.begin || i >= share.end) continue;
      float(&sum)[4] = sums[i / C::kGroups][i % C::kGroups];
      const float4 part =
          load_of_cta(address + static_cast<std::uint32_t>(i * C::kThreads * sizeof(float4)), from);
      const bool add = from != 0;
      sum[0] = part.x + (add ? sum[0] : 0.0f);
      sum[1] = part.y + (add ? sum[1] : 0.0f);
      sum[2] = part.z + (add ? sum[2] : 0.0f);
      sum[3] = part.w + (add ? sum[3] : 0.0f);
    }
  }
  store_tile<C>(sums, args, tile, share);
  sync_cluster();  // nobody leaves while another reads from it
}

}  // namespace smtwin::gemm
