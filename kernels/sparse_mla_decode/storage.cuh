// SPDX-License-Identifier: Apache-2.0
// What a variant of sparse_mla_decode is made of: constants that follow from its configuration and
// the shared memory it lays out.
//
// Scores and probabilities are kept in the order of mma fragments, so that every warp reads and
// writes 16 bytes a lane without bank conflicts: a block of 16 tokens holds, for each 16 heads and
// each lane (g, t), the words
//   head g: tokens 2t 2t+1 | head g: tokens 2t+8 2t+9 | head g+8: the same two words
// Probabilities in BF16 need no arithmetic before the mma and so come in the order of its operand,
// with the second and third word swapped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cta_trace.hpp"
#include "kernels/sparse_mla_decode/config.hpp"

namespace smtwin::device {

struct SparseMlaArguments {
  const std::uint16_t* q = nullptr;       // BF16, [batch][heads][512]
  const std::uint8_t* cache = nullptr;    // pages
  const std::int32_t* indices = nullptr;  // [batch][topk], -1 = none
  const std::int32_t* lengths = nullptr;  // [batch], indices of a request that count
  const float* sinks = nullptr;           // [heads], logits; null = none
  std::uint16_t* out = nullptr;           // BF16, [batch][heads][512]
  std::uint16_t* partial_out = nullptr;   // BF16, [splits][batch][heads][512]
  float* partial_log_sum = nullptr;       // base 2, [splits][batch][heads]
  CtaTrace* trace = nullptr;
  float scale = 1;  // of the scores
  std::int32_t heads = 0;
  std::int32_t topk = 0;
  std::int32_t page_size = 0;
  std::int32_t splits = 1;
  bool joined = false;  // the splits of a head group are a cluster and join their outputs
};

template <int BlockH, int BlockT, int NumWarps, int NumStages>
struct SparseMlaVariant {
  static constexpr SparseMlaTile kTile{BlockH, BlockT, NumWarps, NumStages};
  static constexpr int kBlockH = BlockH;
  static constexpr int kBlockT = BlockT;
  static constexpr int kWarps = NumWarps;
  static constexpr int kStages = NumStages;
  static constexpr int kPasses = sparse_mla_head_passes(kTile);
  static constexpr int kHeads = sparse_mla_pass_heads(kTile);
  static constexpr int kProducerWarps = sparse_mla_producer_warps(kTile);
  static constexpr bool kMovesRegisters = sparse_mla_moves_registers(kTile);
  static constexpr int kThreads = sparse_mla_threads(kTile);
  static constexpr int kComputeThreads = 32 * kWarps;
  // What the register file is planned for.
  static constexpr int kMinCtas = kMovesRegisters ? (kWarps == 4 ? 2 : 1) : (kHeads == 16 ? 2 : 1);
  static constexpr int kComputeRegisters = kWarps == 4 ? 232 : 240;
  static constexpr int kProducerRegisters = 24;

  static constexpr int kRowTiles = kHeads / 16;     // mma tiles along the heads
  static constexpr int kTokenBlocks = BlockT / 16;  // mma steps along the tokens
  static constexpr int kSegments = kMlaHeadDim / kMlaGroupDims / kWarps;  // of a warp, 64 dims each
  static constexpr int kRowStride = kMlaRowBytes + 16;

  // Softmax: words (two tokens of a head) of a thread, threads of a head's row.
  static constexpr int kRowWords = BlockT / 2;
  static constexpr int kWords =
      kHeads * kRowWords > kComputeThreads ? kHeads* kRowWords / kComputeThreads : 1;
  static constexpr int kRowThreads = kRowWords / kWords;
  static constexpr bool kPadded = kRowThreads > (kWords == 1 ? 8 : 4);
  static constexpr int kBlockWords = kRowTiles * 128 + (kPadded ? 16 : 0);

  struct Storage {
    alignas(16) std::uint8_t rows[kStages][BlockT][kRowStride];
    alignas(16) std::uint32_t partial[kWarps][kTokenBlocks][kBlockWords];
    alignas(16) std::uint32_t probability_f16[kTokenBlocks][kBlockWords];
    alignas(16) std::uint32_t probability_bf16[kTokenBlocks][kBlockWords];
    float rescale[kHeads];
    std::uint32_t largest_q[kHeads];  // bits of a head's largest |q|
    float inverse_sum[kHeads];
    std::uint64_t present[kStages];  // a bit a token of the tile
    std::uint64_t full[kStages];
    std::uint64_t empty[kStages];
    std::int32_t exponent_limit[2];  // wanted, for even and odd tiles
  };
};

// Tiles of split blockIdx.z; must agree with sparse_mla_split_range.
struct TileRange {
  int first;
  int count;
};
template <class Variant>
__device__ __forceinline__ TileRange split_range(const SparseMlaArguments& arguments) {
  const unsigned tiles =
      static_cast<unsigned>(arguments.topk + Variant::kBlockT - 1) / Variant::kBlockT;
  const unsigned splits = static_cast<unsigned>(arguments.splits);
  const unsigned first = tiles * blockIdx.z / splits;
  return {static_cast<int>(first), static_cast<int>(tiles * (blockIdx.z + 1) / splits - first)};
}

// Tiles of them that a request of `length` tokens has.
template <class Variant>
__device__ __forceinline__ int tiles_of(TileRange range, int length) {
  const int tokens = length - range.first * Variant::kBlockT;
  return min(range.count, max(0, (tokens + Variant::kBlockT - 1) / Variant::kBlockT));
}

}  // namespace smtwin::device
