// SPDX-License-Identifier: Apache-2.0
// A compute warp of sparse_mla_decode: Q of its dimensions in registers for the whole kernel, sums
// of its dimensions for all heads, and the order of the steps of a tile:
//   scores  barrier  softmax  barrier  values
// All warps do the same step at the same time; what hides the latencies of a step is the other CTA
// of the SM. Two other orders were slower on an H200: scores of the next tile before the values
// of this one (by 10 %), and values of the tile before beside the softmax of this one (5 to 14 %).
#pragma once

#include "kernels/sparse_mla_decode/products.cuh"
#include "kernels/sparse_mla_decode/softmax.cuh"

namespace smtwin::device {

// The stage of a tile and the parity of its use.
template <int Stages>
struct StageCursor {
  int stage = 0;
  std::uint32_t parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == Stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// `Rope`: the warp whose last segment is the rope part. A program of its own, because a branch in
// every step would make the compiler move the sums between the registers of the two.
template <class Variant, bool Rope>
class ComputeWarp {
 public:
  using Storage = typename Variant::Storage;
  using Cursor = StageCursor<Variant::kStages>;

  __device__ __forceinline__ ComputeWarp(Storage& storage, int warp, unsigned lane)
      : storage_(storage),
        warp_(warp),
        lane_(lane),
        rows_(lane),
        rope_lane_(lane % 8 * Variant::kRowStride + lane / 8 * 16),
        softmax_(warp, lane) {}

  // Q of `heads` heads from `q` on as it lies in memory; missing heads are zero.
  __device__ __forceinline__ void load_query(const std::uint16_t* q, int heads) {
    const int g = static_cast<int>(lane_ / 4), t = static_cast<int>(lane_ % 4);
#pragma unroll
    for (int j = 0; j < kSegments; ++j) {
      const bool rope = is_rope(j);
      const int dim = (warp_ * kSegments + j) * kMlaGroupDims + (rope ? 2 : 4) * t;
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
        for (int step = 0; step < 4; ++step) {
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const int head = m * 16 + half * 8 + g;
            uint2 values{0, 0};
            if (head < heads) {
              const std::uint16_t* from = q + head * kMlaHeadDim + dim + step * 16;
              if (rope) {
                values.x = __ldg(reinterpret_cast<const std::uint32_t*>(from));
                values.y = __ldg(reinterpret_cast<const std::uint32_t*>(from + 8));
              } else {
                values = __ldg(reinterpret_cast<const uint2*>(from));
              }
            }
            q_[j][m][step][half] = values.x;
            q_[j][m][step][half + 2] = values.y;
          }
        }
      }
    }
  }

  // Scales every head's Q by a power of two to 1 <= largest |q| < 2 and makes operands of it.
  // `scale`: of the scores, times log2(e). Zeroes the sums.
  __device__ __forceinline__ void prepare(float scale) {
    const int g = static_cast<int>(lane_ / 4);
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        std::uint32_t pair = 0;
#pragma unroll
        for (int j = 0; j < kSegments; ++j) {
#pragma unroll
          for (int step = 0; step < 4; ++step) {
            pair = larger_magnitude_bf16(pair, q_[j][m][step][half]);
            pair = larger_magnitude_bf16(pair, q_[j][m][step][half + 2]);
          }
        }
        std::uint32_t largest = max(pair << 16, pair & 0xffff0000u);
        largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
        largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
        if (lane_ % 4 == 0) atomicMax(&storage_.largest_q[m * 16 + half * 8 + g], largest);
      }
    }
    group_barrier<Variant::kComputeThreads>();
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float by = power_of_two(-query_exponent(m * 16 + half * 8 + g));
        const float rope_by = by * power_of_two(-kScaleHeadroom);
#pragma unroll
        for (int j = 0; j < kSegments; ++j) {
#pragma unroll
          for (int step = 0; step < 4; ++step) {
#pragma unroll
            for (int part = 0; part < 2; ++part) {
              std::uint32_t& pair = q_[j][m][step][half + 2 * part];
              const float low = __uint_as_float(pair << 16);
              const float high = __uint_as_float(pair & 0xffff0000u);
              pair = is_rope(j) ? pack_bf16(low * rope_by, high * rope_by)
                                : pack_f16(low * by, high * by);
            }
          }
        }
      }
    }
    limit_ = kScaleBias + kScaleHeadroom;
    if (softmax_.active()) {
      softmax_.start(scale * power_of_two(query_exponent(softmax_.head()) + kScaleHeadroom));
    }
#pragma unroll
    for (int j = 0; j < kSegments; ++j) {
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          sums_[j][m][n][0] = sums_[j][m][n][1] = sums_[j][m][n][2] = sums_[j][m][n][3] = 0;
        }
      }
    }
  }

  // Goes over `tiles` tiles, from stage `here` on.
  __device__ __forceinline__ void run(Cursor& here, int tiles) {
#pragma unroll 1
    for (int tile = 0; tile < tiles;) {
      const int parity = tile & 1;
      const bool raise = scores(here, parity);
      if (group_barrier_any<Variant::kComputeThreads>(raise)) {
        raise_limit(parity);
        continue;  // the same tile again
      }
      const bool moved = softmax_.tile(storage_, here.stage);
      if (group_barrier_any<Variant::kComputeThreads>(moved)) rescale();
      values(here.stage);
      here.advance();
      ++tile;
    }
  }

  // Outputs of the first `heads` heads to rows of `out`, 2 x `stride` bytes apart, and their
  // log-sums where those are wanted. Global or shared memory.
  __device__ __forceinline__ void finish(std::uint16_t* out, int stride, float* log_sum,
                                         const float* sinks, int heads) {
    if (softmax_.active()) {
      const int head = softmax_.head();
      const bool sunk = sinks != nullptr && head < heads;
      const auto result = softmax_.finish(sunk ? __ldg(sinks + head) : -INFINITY);
      if (softmax_.leader()) {
        storage_.inverse_sum[head] = result.inverse;
        if (log_sum != nullptr && head < heads) log_sum[head] = result.log_sum;
      }
    }
    group_barrier<Variant::kComputeThreads>();
    const int g = static_cast<int>(lane_ / 4), t = static_cast<int>(lane_ % 4);
    const float quantized_unit = power_of_two(limit_ - kScaleBias);
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int head = m * 16 + half * 8 + g;
        if (head >= heads) continue;
        const float inverse = storage_.inverse_sum[head];
#pragma unroll
        for (int j = 0; j < kSegments; ++j) {
          std::uint16_t* to = out + head * stride + (warp_ * kSegments + j) * kMlaGroupDims;
          const auto& sums = sums_[j][m];
          if (is_rope(j)) {
#pragma unroll
            for (int n = 0; n < 8; ++n) {
              *reinterpret_cast<std::uint32_t*>(to + n * 8 + t * 2) =
                  pack_bf16(sums[n][half * 2] * inverse, sums[n][half * 2 + 1] * inverse);
            }
          } else {
            const float by = inverse * quantized_unit;
#pragma unroll
            for (int chunk = 0; chunk < 4; ++chunk) {
              const auto& even = sums[chunk * 2];
              const auto& odd = sums[chunk * 2 + 1];
              *reinterpret_cast<uint2*>(to + chunk * 16 + t * 4) =
                  uint2{pack_bf16(even[half * 2] * by, odd[half * 2] * by),
                        pack_bf16(even[half * 2 + 1] * by, odd[half * 2 + 1] * by)};
            }
          }
        }
      }
    }
  }

 private:
  static constexpr int kSegments = Variant::kSegments;
  static constexpr int kRowTiles = Variant::kRowTiles;
  static constexpr __device__ bool is_rope(int j) { return Rope && j == kSegments - 1; }

  __device__ __forceinline__ int query_exponent(int head) const {
    const std::uint32_t largest = storage_.largest_q[head];
    return largest == 0 ? 0 : max(static_cast<int>(largest >> 23) - 127, -100);
  }

  // Partial scores of a tile. True when a scale was too large for the limit; the limit it wants is
  // then in the storage, in the slot of the tile's parity, and the scores are void.
  __device__ __forceinline__ bool scores(const Cursor& at, int parity) {
    mbarrier_wait(shared_address(&storage_.full[at.stage]), at.parity);
    const int wanted = tile_scores(at.stage);
    const bool raise = wanted > limit_;
    if (raise) atomicMax(&storage_.exponent_limit[parity], wanted);
    return raise;
  }

  __device__ __forceinline__ int tile_scores(int stage) {
    const std::uint8_t* rows = &storage_.rows[stage][0][0];
    const std::uint32_t address = shared_address(rows);
    int wanted = 0;
#pragma unroll
    for (int j = 0; j < kSegments; ++j) {
      if (is_rope(j)) continue;
      wanted = max(wanted, factors_[j].load(rows, warp_ * kSegments + j, limit_, lane_));
    }
    QuantizedWords keys[kSegments];
    const auto load_keys = [&](int block) {
#pragma unroll
      for (int j = 0; j < kSegments; ++j) {
        if (is_rope(j)) continue;
        keys[j].load(rows_.at(address, block, (warp_ * kSegments + j) * kMlaGroupDims));
      }
    };
    load_keys(0);
#pragma unroll
    for (int block = 0; block < Variant::kTokenBlocks; ++block) {
      BlockScores<Variant> total;
#pragma unroll
      for (int j = 0; j < kSegments; ++j) {
        BlockScores<Variant> part;
        if (is_rope(j)) {
          rope_scores<Variant>(
              part, q_[j],
              address + rope_lane_ + block * 16 * Variant::kRowStride + kMlaQuantizedDims);
        } else {
          quantized_scores<Variant>(part, q_[j], keys[j]);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const std::uint32_t by = is_rope(j) ? 0 : factors_[j].of(block * 2 + half, lane_);
#pragma unroll
          for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
            for (int row = 0; row < 2; ++row) {
              std::uint32_t& to = total[m][half][row];
              const std::uint32_t sum = part[m][half][row];
              if (is_rope(j)) {
                to = j == 0 ? sum : add_f16(to, sum);
              } else {
                to = j == 0 ? multiply_f16(sum, by) : multiply_add_f16(sum, by, to);
              }
            }
          }
        }
      }
      // The next block's words, before the stores that would hold them up.
      if (block + 1 < Variant::kTokenBlocks) load_keys(block + 1);
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) {
        *reinterpret_cast<uint4*>(&storage_.partial[warp_][block][m * 128 + lane_ * 4]) =
            uint4{total[m][0][0], total[m][1][0], total[m][0][1], total[m][1][1]};
      }
    }
    return wanted;
  }

  // All warps take the limit that one of them wanted for this tile.
  __device__ __forceinline__ void raise_limit(int parity) {
    const int limit = *const_cast<volatile std::int32_t*>(&storage_.exponent_limit[parity]);
    const int by = limit - limit_;
    limit_ = limit;
    softmax_.scale_unit(power_of_two(by));
    const float down = power_of_two(-by);
#pragma unroll
    for (int j = 0; j < kSegments; ++j) {
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) {
        if (is_rope(j)) {
          const std::uint32_t factor = pack_bf16(down, down);
#pragma unroll
          for (int i = 0; i < 16; ++i) {
            q_[j][m][i / 4][i % 4] = multiply_bf16(q_[j][m][i / 4][i % 4], factor);
          }
        } else {
#pragma unroll
          for (int i = 0; i < 32; ++i) sums_[j][m][i / 4][i % 4] *= down;
        }
      }
    }
  }

  __device__ __forceinline__ void rescale() {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
      const float low = storage_.rescale[m * 16 + lane_ / 4];
      const float high = storage_.rescale[m * 16 + 8 + lane_ / 4];
#pragma unroll
      for (int j = 0; j < kSegments; ++j) {
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          sums_[j][m][n][0] *= low;
          sums_[j][m][n][1] *= low;
          sums_[j][m][n][2] *= high;
          sums_[j][m][n][3] *= high;
        }
      }
    }
  }

  // Adds P V of a tile and hands its stage back.
  __device__ __forceinline__ void values(int stage) {
    tile_values(stage);
    __syncwarp();
    mbarrier_arrive(shared_address(&storage_.empty[stage]));
  }

  __device__ __forceinline__ void tile_values(int stage) {
    const std::uint32_t address = shared_address(&storage_.rows[stage][0][0]);
#pragma unroll
    for (int j = 0; j < kSegments; ++j) {
      const int byte = (warp_ * kSegments + j) * kMlaGroupDims;
      if (is_rope(j)) {
#pragma unroll
        for (int block = 0; block < Variant::kTokenBlocks; ++block) {
          rope_values<Variant>(sums_[j], storage_.probability_bf16[block], lane_,
                               rows_.at(address, block, byte));
        }
        continue;
      }
      std::uint32_t words[2][4];
      const auto load_words = [&](int block) {
        load_matrices_transposed(words[0], rows_.at(address, block, byte));
        load_matrices_transposed(words[1], rows_.at(address, block, byte + 32));
      };
      load_words(0);
#pragma unroll
      for (int block = 0; block < Variant::kTokenBlocks; ++block) {
        ValueOperands v;
        v.convert(words);
        const std::uint32_t by[2] = {factors_[j].of(block * 2, lane_),
                                     factors_[j].of(block * 2 + 1, lane_)};
        if (block + 1 < Variant::kTokenBlocks) load_words(block + 1);
#pragma unroll
        for (int m = 0; m < kRowTiles; ++m) {
          const uint4 raw = *reinterpret_cast<const uint4*>(
              &storage_.probability_f16[block][m * 128 + lane_ * 4]);
          const std::uint32_t p[4] = {multiply_f16(raw.x, by[0]), multiply_f16(raw.z, by[0]),
                                      multiply_f16(raw.y, by[1]), multiply_f16(raw.w, by[1])};
#pragma unroll
          for (int chunk = 0; chunk < 4; ++chunk) {
            mma_f32(sums_[j][m][chunk * 2], p, v.pairs[chunk][0][0], v.pairs[chunk][0][1]);
            mma_f32(sums_[j][m][chunk * 2 + 1], p, v.pairs[chunk][1][0], v.pairs[chunk][1][1]);
          }
        }
      }
    }
  }

  Storage& storage_;
  int warp_;
  unsigned lane_;
  int limit_ = 0;
  WarpRows<Variant> rows_;
  std::uint32_t rope_lane_;  // a lane's row and chunk of eight tokens
  Softmax<Variant> softmax_;
  Factors<Variant> factors_[kSegments];  // of the tile whose scores came last
  QueryFragments<Variant> q_[kSegments];
  ValueSums<Variant> sums_[kSegments];
};

}  // namespace smtwin::device
