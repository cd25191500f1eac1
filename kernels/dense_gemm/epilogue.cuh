// SPDX-License-Identifier: Apache-2.0
// What becomes of a tile's sums: out to D when the CTA did all of its K, else through the
// workspace to whichever CTA of the tile comes last. That one adds the parts in the order of K.
// Counters return to zero, so that a graph can replay the launch.
#pragma once

#include "kernels/dense_gemm/kernel.cuh"

namespace smtwin::gemm {

// The pieces of a tile that a CTA stores, [begin, end). A piece is the four sums of a lane in one
// 16 x 8 part of the tile.
struct Share {
  int begin = 0;
  int end = 1 << 30;
};

// Rows of W lie along n, the contiguous side of D: each 8 x 8 piece is turned, so that a lane
// stores two neighbours, at once where every row of D starts at a multiple of two (kPairs).
template <typename C, bool kPairs>
__device__ void store_rows(const Accumulators<C>& sums, const GemmArgs& args, int tile,
                           const Share& share) {
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
      const int index = piece / 2 * C::kGroups + group;
      if (index < share.begin || index >= share.end) continue;
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
__device__ void store_tile(const Accumulators<C>& sums, const GemmArgs& args, int tile,
                           const Share& share = {}) {
  if (args.n % 2 == 0) {
    store_rows<C, true>(sums, args, tile, share);
  } else {
    store_rows<C, false>(sums, args, tile, share);
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

template <typename C>
__device__ void read_partial(Accumulators<C>& part, const float4* from) {
#pragma unroll
  for (int i = 0; i < C::kRowTiles * C::kGroups; ++i) {
    float(&to)[4] = part[i / C::kGroups][i % C::kGroups];
    const float4 four = __ldcg(from + i * C::kThreads);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  }
}

template <typename C>
__device__ void add(Accumulators<C>& sums, const Accumulators<C>& part) {
#pragma unroll
  for (int i = 0; i < C::kRowTiles * C::kGroups * 4; ++i) {
    sums[i / 4 / C::kGroups][i / 4 % C::kGroups][i % 4] +=
        part[i / 4 / C::kGroups][i / 4 % C::kGroups][i % 4];
  }
}

// What one thread finds out, for all; also a barrier before.
template <typename C, typename Question>
__device__ bool ask_leader(std::uint32_t* answer, const Question& question) {
  sync_multipliers<C>();
  if (threadIdx.x == 0) *answer = question();
  sync_multipliers<C>();
  return *answer != 0;
}

// The CTAs that share a tile, the asking one among them.
struct Sharers {
  int first, last;
  __device__ std::uint32_t others() const { return static_cast<std::uint32_t>(last - first); }
};
__device__ inline Sharers sharers(const GemmArgs& args, int tile) {
  const int cta = static_cast<int>(blockIdx.x);
  return {args.work.first_cta(tile, cta), args.work.last_cta(tile, cta)};
}

// Of two CTAs the later one need not write: a + b is b + a. True if the other one has arrived; its
// part is then in `part`, or on its way there.
template <typename C>
__device__ bool fetch_other(Accumulators<C>& part, const GemmArgs& args, int tile, bool starts_tile,
                            std::uint32_t* answer) {
  const Sharers shared = sharers(args, tile);
  std::uint32_t* arrived = args.arrived + tile;
  if (shared.others() != 1) return false;
  if (!ask_leader<C>(answer, [&] { return load_acquire(arrived); })) return false;
  const int other = starts_tile ? shared.last : shared.first;
  read_partial<C>(part, partial_sums<C>(args, other, !starts_tile));
  if (threadIdx.x == 0) *arrived = 0;
  return true;
}

// True in the CTA that has seen every other CTA of the tile arrive; it leaves the sums in `sums`.
template <typename C>
__device__ bool gather_tile(Accumulators<C>& sums, const GemmArgs& args, int tile, bool starts_tile,
                            std::uint32_t* answer) {
  Accumulators<C> part;
  if (fetch_other<C>(part, args, tile, starts_tile, answer)) {
    add<C>(sums, part);
    return true;
  }
  const Sharers shared = sharers(args, tile);
  std::uint32_t* arrived = args.arrived + tile;
  float4* own = partial_sums<C>(args, static_cast<int>(blockIdx.x), starts_tile);
#pragma unroll
  for (int i = 0; i < C::kRowTiles * C::kGroups; ++i) {
    const float(&sum)[4] = sums[i / C::kGroups][i % C::kGroups];
    __stcg(own + i * C::kThreads, make_float4(sum[0], sum[1], sum[2], sum[3]));
  }
  // Releases what the barrier has shown the leader, and acquires the same of the others.
  const bool last = ask_leader<C>(
      answer, [&] { return add_acquire_release(arrived, 1) == shared.others() ? 1u : 0u; });
  if (!last) return false;
  read_partial<C>(sums, partial_sums<C>(args, shared.first, true));
  for (int cta = shared.first + 1; cta <= shared.last; ++cta) {
    read_partial<C>(part, partial_sums<C>(args, cta, false));
    add<C>(sums, part);
  }
  if (threadIdx.x == 0) *arrived = 0;
  return true;
}

}  // namespace smtwin::gemm
