// SPDX-License-Identifier: Apache-2.0
// The two products of one compute warp on its own dimensions: partial scores Q K^T and values P V.
// A warp's dimensions come in segments of 64: one scale group of FP8, or the rope part.
//
// ldmatrix on FP8 rows hands a lane four consecutive dimensions of a token, which is one k16 step
// of the scores when Q is held in the same order; transposed, it hands two dimensions of two
// tokens, which one permutation turns into a step of the values for an even and an odd dimension.
// E4M3 converts to f16 exactly. The group's scale, a power of two, multiplies the scores and P
// instead of the 64 values. To stay in the range of f16
//   - Q of a head is scaled by a power of two to at most 2, so that no sum of 64 products
//   overflows;
//   - scales are taken relative to 2^exponent_limit, at least 8 times any scale seen so far. The
//     limit starts 8 times above 1 and rises when a larger scale comes (rare: the caller repeats).
// Q of the rope part is in the same units from the start, so that partial scores add up; a rope
// score beyond the range of f16 saturates in the softmax.
#pragma once

#include "kernels/sparse_mla_decode/ptx.cuh"
#include "kernels/sparse_mla_decode/storage.cuh"

namespace smtwin::device {

inline constexpr int kScaleBias = 127;    // of UE8M0
inline constexpr int kScaleHeadroom = 3;  // log2

template <class Variant>
struct WarpRows {
  // A lane's address for ldmatrix: matrices are tokens 0-7 | 8-15 of one chunk of 16 bytes, then
  // of the next chunk.
  __device__ __forceinline__ explicit WarpRows(unsigned lane)
      : lane_offset((lane % 16) * Variant::kRowStride + (lane / 16) * 16) {}
  __device__ __forceinline__ std::uint32_t at(std::uint32_t stage_rows, int block, int byte) const {
    return stage_rows + lane_offset + block * 16 * Variant::kRowStride + byte;
  }
  std::uint32_t lane_offset;
};

// Scales of the tokens of a tile in one segment, relative to the limit, as f16 pairs: a lane holds
// those of two tokens, and hands them to whoever has these columns of an mma fragment.
template <class Variant>
struct Factors {
  std::uint32_t mine;

  // Returns the limit that these scales want. `segment` < 7.
  __device__ __forceinline__ int load(const std::uint8_t* rows, int segment, int limit,
                                      unsigned lane) {
    constexpr unsigned kPairs = Variant::kBlockT / 2;
    const std::uint8_t* scale =
        rows + lane % kPairs * (2 * Variant::kRowStride) + kMlaRowBytes + segment;
    const int first = scale[0];
    const int second = scale[Variant::kRowStride];
    const int shift = kScaleBias - limit;
    mine = pack_f16(__int_as_float(max(first + shift, 0) << 23),
                    __int_as_float(max(second + shift, 0) << 23));
    return max(first, second) + kScaleHeadroom;
  }
  // Of tokens 2t, 2t + 1 of eight tokens.
  __device__ __forceinline__ std::uint32_t of(int eight, unsigned lane) const {
    return __shfl_sync(0xffffffffu, mine, eight * 4 + lane % 4);
  }
};

// Q of one segment as mma fragments: [16 heads][k16 step].
template <class Variant>
using QueryFragments = std::uint32_t[Variant::kRowTiles][4][4];
// Sums of one segment: [16 heads][8 dimensions].
template <class Variant>
using ValueSums = float[Variant::kRowTiles][8][4];
// Partial scores of 16 tokens, f16 pairs: [16 heads][8 tokens][head g | g + 8].
template <class Variant>
using BlockScores = std::uint32_t[Variant::kRowTiles][2][2];

// The 16 tokens of a block in one FP8 segment: words[i] of ldmatrix number `two`.
struct QuantizedWords {
  std::uint32_t words[2][4];
  __device__ __forceinline__ void load(std::uint32_t address) {
    load_matrices(words[0], address);
    load_matrices(words[1], address + 32);
  }
};

template <class Variant>
__device__ __forceinline__ void quantized_scores(BlockScores<Variant>& scores,
                                                 const QueryFragments<Variant>& q,
                                                 const QuantizedWords& keys) {
#pragma unroll
  for (int m = 0; m < Variant::kRowTiles; ++m) {
    scores[m][0][0] = scores[m][0][1] = scores[m][1][0] = scores[m][1][1] = 0;
  }
#pragma unroll
  for (int step = 0; step < 4; ++step) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t word = keys.words[step / 2][step % 2 * 2 + half];
      const std::uint32_t b0 = low_e4m3_to_f16(word);
      const std::uint32_t b1 = high_e4m3_to_f16(word);
#pragma unroll
      for (int m = 0; m < Variant::kRowTiles; ++m) mma_f16(scores[m][half], q[m][step], b0, b1);
    }
  }
}

// `address`: of a lane's row of the four chunks of 16 bytes of eight tokens. Eight tokens at a time
// keep the FP32 sums in few registers.
template <class Variant>
__device__ __forceinline__ void rope_scores(BlockScores<Variant>& scores,
                                            const QueryFragments<Variant>& q,
                                            std::uint32_t address) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    std::uint32_t words[2][4];
    load_matrices(words[0], address + half * 8 * Variant::kRowStride);
    load_matrices(words[1], address + half * 8 * Variant::kRowStride + 64);
    float sums[Variant::kRowTiles][4] = {};
#pragma unroll
    for (int step = 0; step < 4; ++step) {
#pragma unroll
      for (int m = 0; m < Variant::kRowTiles; ++m) {
        mma_bf16(sums[m], q[m][step], words[step / 2][step % 2 * 2],
                 words[step / 2][step % 2 * 2 + 1]);
      }
    }
#pragma unroll
    for (int m = 0; m < Variant::kRowTiles; ++m) {
      scores[m][half][0] = pack_f16(sums[m][0], sums[m][1]);
      scores[m][half][1] = pack_f16(sums[m][2], sums[m][3]);
    }
  }
}

// The 16 tokens of a block in one FP8 segment as operands of the values: [chunk of 16 dimensions]
// [even or odd ones][tokens 0-7 or 8-15].
struct ValueOperands {
  std::uint32_t pairs[4][2][2];

  __device__ __forceinline__ void convert(const std::uint32_t (&words)[2][4]) {
#pragma unroll
    for (int chunk = 0; chunk < 4; ++chunk) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        // Bytes (token 2t: even, odd dimension; token 2t+1: even, odd) -> even pair, odd pair.
        const std::uint32_t word = __byte_perm(words[chunk / 2][chunk % 2 * 2 + half], 0, 0x3120);
        pairs[chunk][0][half] = low_e4m3_to_f16(word);
        pairs[chunk][1][half] = high_e4m3_to_f16(word);
      }
    }
  }
};

// `probabilities`: of the block in BF16, in the order of the operand.
template <class Variant>
__device__ __forceinline__ void rope_values(ValueSums<Variant>& sums,
                                            const std::uint32_t* probabilities, unsigned lane,
                                            std::uint32_t address) {
  std::uint32_t words[4][4];
#pragma unroll
  for (int two = 0; two < 4; ++two) load_matrices_transposed(words[two], address + two * 32);
#pragma unroll
  for (int m = 0; m < Variant::kRowTiles; ++m) {
    const uint4 raw = *reinterpret_cast<const uint4*>(probabilities + m * 128 + lane * 4);
    const std::uint32_t p[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int two = 0; two < 4; ++two) {
      mma_bf16(sums[m][two * 2], p, words[two][0], words[two][1]);
      mma_bf16(sums[m][two * 2 + 1], p, words[two][2], words[two][3]);
    }
  }
}

}  // namespace smtwin::device
