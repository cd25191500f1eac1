// SPDX-License-Identifier: Apache-2.0
// Softmax of a tile: each compute thread owns a few tokens of one head. It adds the partial scores
// of all warps, and writes exp2(score - maximum + 11) as f16 for the quantized values (the bias
// keeps small probabilities, times a small scale, above the smallest f16) and as BF16 for the rope
// values. The running maximum follows only when a score exceeds it by 4 (log2), so that the sums
// of the values are rarely rescaled; probabilities then stay below 2^15.
#pragma once

#include "kernels/sparse_mla_decode/weighted_sum.cuh"

namespace smtwin::device {

inline constexpr float kProbabilityBias = 11;
inline constexpr float kMaximumLag = 4;
inline constexpr float kNoMaximum = -1e30f;

template <class Variant>
class Softmax {
 public:
  using Storage = typename Variant::Storage;

  __device__ __forceinline__ Softmax(int warp, unsigned lane) {
    int bits = static_cast<int>(lane);
    int word = 0;
    if constexpr (kWords == 1) {
      word = bits & 1;
      bits >>= 1;
    }
    half_ = bits & 1;
    t_ = bits >> 1 & 3;
    block_ = (bits >> 3) % kBlockThreads;
    const int slot = warp * kHeadsOfWarp + (bits >> 3) / kBlockThreads;
    active_ = slot < Variant::kHeads / 2;
    head_ = slot / 8 * 16 + half_ * 8 + slot % 8;
    offset_ = slot / 8 * 128 + (slot % 8 * 4 + t_) * 4 + half_ * 2 + word;
    word_ = word;
    leader_ = t_ == 0 && word == 0 && block_ == 0;
  }

  __device__ __forceinline__ bool active() const { return active_; }
  __device__ __forceinline__ int head() const { return head_; }
  __device__ __forceinline__ bool leader() const { return leader_; }
  // `unit`: what one stored score is worth, in log2.
  __device__ __forceinline__ void start(float unit) {
    unit_ = unit;
    maximum_ = kNoMaximum;
    sum_ = 0;
  }
  __device__ __forceinline__ void scale_unit(float by) { unit_ *= by; }

  // True where the maximum of the thread's head moved and sums exist: everybody must rescale.
  __device__ __forceinline__ bool tile(Storage& storage, int stage) {
    if (!active_) return false;
    float scores[kWords][2];
    add_partial_scores(storage, scores);
    mask(storage.present[stage], scores);

    float most = scores[0][0];
#pragma unroll
    for (int word = 0; word < kWords; ++word) {
      most = fmaxf(most, fmaxf(scores[word][0], scores[word][1]));
    }
    most = row_maximum(most) * unit_;
    const bool moved = most > maximum_ + kMaximumLag;
    const bool first = maximum_ == kNoMaximum;
    float rescale = 1;
    if (moved) {
      rescale = exp2_approximate(maximum_ - most);
      maximum_ = most;
      sum_ *= rescale;
    }
    if (leader_) storage.rescale[head_] = rescale;

    const float reference = maximum_ - kProbabilityBias;
    std::uint32_t f16[kWords], bf16[kWords];
#pragma unroll
    for (int word = 0; word < kWords; ++word) {
      const float p0 = exp2_approximate(fmaf(scores[word][0], unit_, -reference));
      const float p1 = exp2_approximate(fmaf(scores[word][1], unit_, -reference));
      sum_ += p0 + p1;
      f16[word] = pack_f16(p0, p1);
      bf16[word] = pack_bf16(p0, p1);
    }
    store_f16(storage.probability_f16, f16);
    store_bf16(storage.probability_bf16, bf16);
    return moved && !first;
  }

  // After the last tile, in all threads of a head: sum of its probabilities without the bias as a
  // base-2 logarithm; and the factor that turns sums into outputs, the sink included.
  struct Result {
    float log_sum;
    float inverse;
  };
  __device__ __forceinline__ Result finish(float sink) {
    float sum = sum_;
#pragma unroll
    for (int bit = kFirstRowBit; bit < kLastRowBit; ++bit) {
      if (kWords == 1 && bit == 1) continue;
      sum += __shfl_xor_sync(0xffffffffu, sum, 1 << bit);
    }
    const float reference = maximum_ - kProbabilityBias;
    if (!(sum > 0)) return {-INFINITY, 0};
    return {reference + log2f(sum), 1 / (sum + exp2f(sink * kLog2E - reference))};
  }

 private:
  static constexpr int kWords = Variant::kWords;
  // Threads of a head differ in the lane bits of t (two), of the token block, and of the word when
  // a thread has only one.
  static constexpr int kBlockThreads =
      kWords == 1 ? Variant::kRowThreads / 8 : Variant::kRowThreads / 4;
  static constexpr int kHeadsOfWarp = 16 / Variant::kRowThreads;  // pairs g, g + 8
  static constexpr int kBlocksOfThread = Variant::kTokenBlocks / kBlockThreads;
  static constexpr int kFirstRowBit = kWords == 1 ? 0 : 1;
  static constexpr int kLastRowBit = (kWords == 1 ? 4 : 3) + (kBlockThreads >= 4   ? 2
                                                              : kBlockThreads >= 2 ? 1
                                                                                   : 0);

  __device__ __forceinline__ float row_maximum(float most) const {
#pragma unroll
    for (int bit = kFirstRowBit; bit < kLastRowBit; ++bit) {
      if (kWords == 1 && bit == 1) continue;  // the bit of `half`
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1 << bit));
    }
    return most;
  }

  __device__ __forceinline__ void add_partial_scores(const Storage& storage,
                                                     float (&scores)[kWords][2]) const {
#pragma unroll
    for (int mine = 0; mine < kBlocksOfThread; ++mine) {
      const int block = block_ * kBlocksOfThread + mine;
      if constexpr (kWords == 1) {
        std::uint32_t sum = storage.partial[0][block][offset_];
#pragma unroll
        for (int warp = 1; warp < Variant::kWarps; ++warp) {
          sum = add_f16(sum, storage.partial[warp][block][offset_]);
        }
        unpack(sum, scores[0]);
      } else {
        uint2 sum = *reinterpret_cast<const uint2*>(&storage.partial[0][block][offset_]);
#pragma unroll
        for (int warp = 1; warp < Variant::kWarps; ++warp) {
          const uint2 more =
              *reinterpret_cast<const uint2*>(&storage.partial[warp][block][offset_]);
          sum.x = add_f16(sum.x, more.x);
          sum.y = add_f16(sum.y, more.y);
        }
        unpack(sum.x, scores[mine * 2]);
        unpack(sum.y, scores[mine * 2 + 1]);
      }
    }
  }

  __device__ __forceinline__ static void unpack(std::uint32_t pair, float (&to)[2]) {
    constexpr std::uint32_t kLargest = 0x7bff7bffu;  // an infinite score would make NaN
    const std::uint32_t finite = least_f16(pair, kLargest);
    const float2 both = __half22float2(*reinterpret_cast<const __half2*>(&finite));
    to[0] = both.x;
    to[1] = both.y;
  }

  __device__ __forceinline__ void mask(std::uint64_t present, float (&scores)[kWords][2]) const {
    constexpr std::uint64_t kAll = Variant::kBlockT == 64
                                       ? ~std::uint64_t{0}
                                       : (std::uint64_t{1} << Variant::kBlockT % 64) - 1;
    if (present == kAll) return;
#pragma unroll
    for (int word = 0; word < kWords; ++word) {
      const int block = block_ * kBlocksOfThread + word / 2;
      const int eight = block * 2 + (kWords == 1 ? word_ : word % 2);
      const auto bits = static_cast<std::uint32_t>(present >> (eight * 8 + t_ * 2));
      if (!(bits & 1)) scores[word][0] = -INFINITY;
      if (!(bits & 2)) scores[word][1] = -INFINITY;
    }
  }

  __device__ __forceinline__ void store_f16(
      std::uint32_t (&to)[Variant::kTokenBlocks][Variant::kBlockWords],
      const std::uint32_t (&words)[kWords]) const {
#pragma unroll
    for (int mine = 0; mine < kBlocksOfThread; ++mine) {
      const int block = block_ * kBlocksOfThread + mine;
      if constexpr (kWords == 1) {
        to[block][offset_] = words[0];
      } else {
        *reinterpret_cast<uint2*>(&to[block][offset_]) =
            uint2{words[mine * 2], words[mine * 2 + 1]};
      }
    }
  }

  // As the operand of an mma wants it (see storage.cuh): the two words of a head are not
  // neighbours.
  __device__ __forceinline__ void store_bf16(
      std::uint32_t (&to)[Variant::kTokenBlocks][Variant::kBlockWords],
      const std::uint32_t (&words)[kWords]) const {
    const int at = offset_ / 4 * 4 + half_;
#pragma unroll
    for (int mine = 0; mine < kBlocksOfThread; ++mine) {
      const int block = block_ * kBlocksOfThread + mine;
      if constexpr (kWords == 1) {
        to[block][at + word_ * 2] = words[0];
      } else {
        to[block][at] = words[mine * 2];
        to[block][at + 2] = words[mine * 2 + 1];
      }
    }
  }

  bool active_;
  bool leader_;
  int half_, t_, block_, word_;
  int head_;
  int offset_;  // of the thread's first word in a block
  float unit_ = 0;
  float maximum_ = kNoMaximum;
  float sum_ = 0;
};

}  // namespace smtwin::device
