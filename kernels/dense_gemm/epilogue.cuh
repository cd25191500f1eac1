// SPDX-License-Identifier: Apache-2.0
// What becomes of a tile's sums: out to D when the CTA did all of its K, else through the
// workspace to whichever CTA of the tile comes last. That one adds the parts in the order of K.
// Counters return to zero, so that a graph can replay the launch.
#pragma once

#include "kernels/dense_gemm/kernel.cuh"

namespace smtwin::gemm {

// Rows of W lie along n, the contiguous side of D: each 8 x 8 piece is turned, so that a lane
// stores two neighbours, at once where every row of D starts at a multiple of two (kPairs).
template <typename C, bool kPairs>
__device__ void store_rows(const Accumulators<C>& sums, const GemmArgs& args, int tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const TilePlace place = tile_place(args, tile);
  const int row0 = place.m * C::kBlockM + lane / 4;
  const int column0 = place.n * C::kBlockN + 16 * warp + lane % 4 * 2;
  float scale = 1;
  if constexpr (C::kFp8) scale = *args.scale_a * *args.scale_w;
#pragma unroll
  for (int group = 0; group < C::kGroups; ++group) {
    const int row = row0 + 8 * group;
    std::uint16_t* const to = args.d + std::int64_t{row} * args.n + column0;
#pragma unroll
    for (int piece = 0; piece < 2 * C::kRowTiles; ++piece) {
      const int offset = piece / 2 * C::kRowStride + piece % 2 * 8;
      const float* const sum = &sums[piece / 2][group][piece % 2 * 2];
      const std::uint32_t pair = transpose(C::kFp8 ? pack_bf16(sum[0] * scale, sum[1] * scale)
                                                   : pack_bf16(sum[0], sum[1]));
      if (row >= args.m || column0 + offset >= args.n) continue;
      if constexpr (kPairs) {
        *reinterpret_cast<std::uint32_t*>(to + offset) = pair;
      } else {
        to[offset] = static_cast<std::uint16_t>(pair);
        if (column0 + offset + 1 < args.n) to[offset + 1] = static_cast<std::uint16_t>(pair >> 16);
      }
    }
  }
}

template <typename C>
__device__ void store_tile(const Accumulators<C>& sums, const GemmArgs& args, int tile) {
  if (args.n % 2 == 0) {
    store_rows<C, true>(sums, args, tile);
  } else {
    store_rows<C, false>(sums, args, tile);
  }
}

// A barrier of the threads that hold sums; a warp that only copies takes no part.
template <typename C>
__device__ void sync_multipliers() {
  asm volatile("barrier.cta.sync 1, %0;" ::"n"(C::kThreads) : "memory");
}

template <typename C>
__device__ float4* partial_sums(const GemmArgs& args, int cta, bool starts_tile) {
  return args.partials +
         std::int64_t{partial_slot(cta, starts_tile)} * (C::kRowTiles * C::kGroups * C::kThreads) +
         threadIdx.x;
}

// sums = (kAdd ? sums : 0) + the part at `from`.
template <typename C, bool kAdd>
__device__ void read_partial(Accumulators<C>& sums, const float4* from) {
#pragma unroll
  for (int i = 0; i < C::kRowTiles * C::kGroups; ++i) {
    float(&sum)[4] = sums[i / C::kGroups][i % C::kGroups];
    const float4 part = __ldcg(from + i * C::kThreads);
    sum[0] = part.x + (kAdd ? sum[0] : 0.0f);
    sum[1] = part.y + (kAdd ? sum[1] : 0.0f);
    sum[2] = part.z + (kAdd ? sum[2] : 0.0f);
    sum[3] = part.w + (kAdd ? sum[3] : 0.0f);
  }
}

// True in the CTA that has seen every other CTA of the tile arrive; it leaves the sums in `sums`.
template <typename C>
__device__ bool gather_tile(Accumulators<C>& sums, const GemmArgs& args, int tile, bool starts_tile,
                            std::uint32_t* last) {
  const int cta = static_cast<int>(blockIdx.x);
  const int first = args.work.first_cta(tile, cta);
  const int final = args.work.last_cta(tile, cta);
  const auto others = static_cast<std::uint32_t>(final - first);
  std::uint32_t* arrived = args.arrived + tile;
  const bool leader = threadIdx.x == 0;

  // The later of two need not write: a + b is b + a.
  if (others == 1) {
    if (leader) *last = load_acquire(arrived) == others;
    sync_multipliers<C>();
    if (*last != 0) {
      read_partial<C, true>(sums, partial_sums<C>(args, starts_tile ? final : first, !starts_tile));
      if (leader) *arrived = 0;
      return true;
    }
  }
  float4* own = partial_sums<C>(args, cta, starts_tile);
#pragma unroll
  for (int i = 0; i < C::kRowTiles * C::kGroups; ++i) {
    const float(&sum)[4] = sums[i / C::kGroups][i % C::kGroups];
    __stcg(own + i * C::kThreads, make_float4(sum[0], sum[1], sum[2], sum[3]));
  }
  sync_multipliers<C>();
  // Releases what the barrier has shown this thread, and acquires the same of the others.
  if (leader) *last = add_acquire_release(arrived, 1) == others;
  sync_multipliers<C>();
  if (*last == 0) return false;
  read_partial<C, false>(sums, partial_sums<C>(args, first, true));
  for (int part = first + 1; part <= final; ++part) {
    read_partial<C, true>(sums, partial_sums<C>(args, part, false));
  }
  if (leader) *arrived = 0;
  return true;
}

}  // namespace smtwin::gemm
