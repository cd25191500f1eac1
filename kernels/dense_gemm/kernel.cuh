// SPDX-License-Identifier: Apache-2.0
// dense_gemm on the GPU: D[m,n] = A[m,k] x W[n,k]^T. Every CTA takes an equal share of the line of
// (tile, k step) pairs (stream_k.hpp): steps are copied ahead into a ring of stages, across tile
// borders, and multiplied one at a time. Here: the shapes, the copies by cp.async and the multiply
// by mma.sync; cta.cuh puts them together, cta_wgmma.cuh is Hopper's way, epilogue.cuh the end.
//
// In shared memory a row is 128 bytes, its 16-byte chunk c stored at c ^ (row % 8): ldmatrix and
// wgmma read it without bank conflicts. Rows beyond m or n are not copied (tensor copies bring
// zeros); what their places hold reaches only outputs that do not exist. Chunks beyond k are zero.
#pragma once

#include <cstdint>

#include "kernels/dense_gemm/args.cuh"
#include "kernels/dense_gemm/ptx.cuh"

namespace smtwin::gemm {

inline constexpr int kRowBytes = 128;
inline constexpr int kChunkBytes = 16;
inline constexpr int kChunks = kRowBytes / kChunkBytes;
inline constexpr int kDepthBytes = 32;  // of K, one multiply

template <bool kFp8_, int kBlockM_, int kBlockN_, int kWarps_, int kStages_>
struct Config {
  static constexpr bool kFp8 = kFp8_;
  static constexpr int kBlockM = kBlockM_, kBlockN = kBlockN_, kStages = kStages_;
  static constexpr int kThreads = 32 * kWarps_;  // that multiply
  static constexpr int kWeightBytes = kBlockN * kRowBytes;
  static constexpr int kStageBytes = kWeightBytes + kBlockM * kRowBytes;
  // Warp w holds rows 16 w + j x 16 warps of W, all rows of A in groups of 8.
  static constexpr int kRowStride = 16 * kWarps_;
  static constexpr int kRowTiles = kBlockN / kRowStride;
  static constexpr int kGroups = kBlockM / 8;
  static_assert(kBlockN % kRowStride == 0 && kBlockM % 16 == 0 && kStages >= 2);
};

// Starts at a multiple of 1024 bytes, the period of the swizzle.
template <typename C>
struct Storage {
  unsigned char stages[C::kStages][C::kStageBytes];
  std::uint32_t last;  // this CTA sums the tile
  std::uint32_t unused[3];
};

struct TilePlace {
  int m, n;  // in tiles
};
__device__ inline TilePlace tile_place(const GemmArgs& args, int tile) {
  if (args.tiles_m == 1) return {0, tile};
  return {tile % args.tiles_m, tile / args.tiles_m};
}

// Copies the steps of a CTA one after another, each into the next stage.
template <typename C>
struct Loader {
  static constexpr int kRowsAtOnce = C::kThreads / kChunks;
  const GemmArgs& args;
  int step, end;
  int k_step;
  const char* weights;  // this thread's chunk of its first row, at K = 0
  const char* activations;
  int weight_rows, activation_rows;  // that exist, from this thread's first row on
  std::uint64_t weight_policy, activation_policy;
  std::uint32_t to;  // this thread's chunk in the first stage
  int stage = 0;

  __device__ Loader(const GemmArgs& arguments, std::uint32_t shared, int first, int last)
      : args(arguments), step(first), end(last) {
    const int row = static_cast<int>(threadIdx.x) / kChunks;
    const int chunk = static_cast<int>(threadIdx.x) % kChunks;
    to = shared +
         static_cast<std::uint32_t>(row * kRowBytes + ((chunk ^ (row % kChunks)) * kChunkBytes));
    weight_policy = args.tiles_m > 1 ? policy_evict_normal() : policy_evict_first();
    activation_policy = policy_evict_last();
    const int tile = step / args.work.k_steps;
    start_tile(tile, step - tile * args.work.k_steps);
  }

  __device__ void start_tile(int tile, int first_k_step) {
    const int row = static_cast<int>(threadIdx.x) / kChunks;
    const int chunk = static_cast<int>(threadIdx.x) % kChunks;
    const TilePlace place = tile_place(args, tile);
    const int w0 = place.n * C::kBlockN + row;
    const int a0 = place.m * C::kBlockM + row;
    k_step = first_k_step;
    weights = args.w + std::int64_t{w0} * args.row_bytes + chunk * kChunkBytes;
    activations = args.a + std::int64_t{a0} * args.row_bytes + chunk * kChunkBytes;
    weight_rows = args.n - w0;
    activation_rows = args.m - a0;
  }

  template <int kRows>
  __device__ void copy_rows(std::uint32_t at, const char* from, int rows, std::uint32_t bytes,
                            std::uint64_t policy) const {
#pragma unroll
    for (int i = 0; i < (kRows + kRowsAtOnce - 1) / kRowsAtOnce; ++i) {
      const bool in_tile = kRows % kRowsAtOnce == 0 ||
                           static_cast<int>(threadIdx.x) / kChunks + i * kRowsAtOnce < kRows;
      if (in_tile && i * kRowsAtOnce < rows) {
        copy_async(at + i * kRowsAtOnce * kRowBytes,
                   from + std::int64_t{args.row_bytes} * (i * kRowsAtOnce), bytes, policy);
      }
    }
  }

  // Also after the last step, so that waiting can count groups.
  __device__ void next() {
    if (step < end) {
      const int offset = k_step * kRowBytes;
      const int chunk = static_cast<int>(threadIdx.x) % kChunks;
      const bool inside = offset + chunk * kChunkBytes < args.row_bytes;
      const int from = inside ? offset : 0;
      const std::uint32_t bytes = inside ? kChunkBytes : 0;
      const std::uint32_t at = to + static_cast<std::uint32_t>(stage * C::kStageBytes);
      copy_rows<C::kBlockN>(at, weights + from, weight_rows, bytes, weight_policy);
      copy_rows<C::kBlockM>(at + C::kWeightBytes, activations + from, activation_rows, bytes,
                            activation_policy);
      ++step;
      if (++k_step == args.work.k_steps && step < end) start_tile(step / args.work.k_steps, 0);
    }
    copy_async_commit();
    stage = stage + 1 == C::kStages ? 0 : stage + 1;
  }
};

template <typename C>
using Accumulators = float[C::kRowTiles][C::kGroups][4];

// One loaded operand register of a lane, ready to multiply: itself, or four FP8 values as FP16
// pairs. sm_90 has no FP8 mma.sync, and what the compiler puts in its place adds every product to
// the sums by itself.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
inline constexpr bool kWidenFp8 = true;
#else
inline constexpr bool kWidenFp8 = false;
#endif

template <bool kFp8>
struct Operand {
  static constexpr int kCount = 4;
  static constexpr bool kWide = kFp8 && kWidenFp8;
  std::uint32_t raw[kCount];
  std::uint32_t wide[kWide ? kCount : 1][2];
  __device__ void load(std::uint32_t address) {
    load_matrices(raw, address);
    if constexpr (kWide) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) widen(wide[i], raw[i]);
    }
  }
};

// `half`: which 8 of the 16 rows of A that `a` holds.
template <bool kFp8>
__device__ void multiply(float (&c)[4], const Operand<kFp8>& w, const Operand<kFp8>& a, int half) {
  const int low = 2 * half, high = low + 1;
  if constexpr (Operand<kFp8>::kWide) {
    // Two half-depth products. Which elements of K share one does not matter, as long as W and A
    // agree.
    multiply_16bit<true>(c, w.wide[0][0], w.wide[1][0], w.wide[0][1], w.wide[1][1], a.wide[low][0],
                         a.wide[low][1]);
    multiply_16bit<true>(c, w.wide[2][0], w.wide[3][0], w.wide[2][1], w.wide[3][1], a.wide[high][0],
                         a.wide[high][1]);
  } else if constexpr (kFp8) {
    multiply_e4m3(c, w.raw, a.raw[low], a.raw[high]);
  } else {
    multiply_16bit<false>(c, w.raw[0], w.raw[1], w.raw[2], w.raw[3], a.raw[low], a.raw[high]);
  }
}

template <typename C>
__device__ void multiply_stage(Accumulators<C>& sums, std::uint32_t stage) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  // Row and chunk of each lane's part of a 16 x 32-byte piece of W, and of A (two 8-row groups).
  const int w_row = lane % 16, w_chunk = lane / 16;
  const int a_row = lane % 8 + lane / 16 * 8, a_chunk = lane / 8 % 2;
  const auto w_at = stage + static_cast<std::uint32_t>((16 * warp + w_row) * kRowBytes);
  const auto a_at = stage + static_cast<std::uint32_t>(C::kWeightBytes + a_row * kRowBytes);
#pragma unroll
  for (int depth = 0; depth < kRowBytes / kDepthBytes; ++depth) {
    const auto w_offset =
        static_cast<std::uint32_t>(((2 * depth + w_chunk) ^ (w_row % 8)) * kChunkBytes);
    const auto a_offset =
        static_cast<std::uint32_t>(((2 * depth + a_chunk) ^ (a_row % 8)) * kChunkBytes);
    Operand<C::kFp8> w[C::kRowTiles];
#pragma unroll
    for (int tile = 0; tile < C::kRowTiles; ++tile) {
      w[tile].load(w_at + w_offset + tile * C::kRowStride * kRowBytes);
    }
#pragma unroll
    for (int pair = 0; pair < C::kGroups / 2; ++pair) {
      Operand<C::kFp8> a;
      a.load(a_at + a_offset + pair * 16 * kRowBytes);
#pragma unroll
      for (int tile = 0; tile < C::kRowTiles; ++tile) {
        multiply<C::kFp8>(sums[tile][2 * pair], w[tile], a, 0);
        multiply<C::kFp8>(sums[tile][2 * pair + 1], w[tile], a, 1);
      }
    }
  }
}

}  // namespace smtwin::gemm
