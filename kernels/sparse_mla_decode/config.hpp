// SPDX-License-Identifier: Apache-2.0
// Sparse MLA decode: the cache layout and what a configuration means, shared by the CUDA kernel
// and the descriptor.
//
// A CTA serves BLOCK_H heads of one request on a run of BLOCK_T-token tiles. `num_warps` warps
// compute; each owns 512 / num_warps of the 512 dimensions for both products, so that every cached
// byte is read and converted by one warp only. Producer warps on top of them gather the rows.
#pragma once

#include <cstdint>

namespace smtwin {

inline constexpr int kMlaHeadDim = 512;  // values of a head: of Q, of a cached row, of the output
inline constexpr int kMlaRopeDims = 64;  // the last ones, BF16 in the cache
inline constexpr int kMlaQuantizedDims = 448;  // the first ones, FP8 E4M3 in the cache
inline constexpr int kMlaGroupDims = 64;       // values that share one UE8M0 scale
inline constexpr int kMlaRowBytes = 576;       // 448 FP8 + 64 BF16
inline constexpr int kMlaScaleBytes = 8;       // 7 scales and one byte of padding
inline constexpr int kMlaTokenBytes = kMlaRowBytes + kMlaScaleBytes;
// A page holds page_size rows, then page_size groups of scales. 16-byte copies need an even size.
constexpr std::int64_t mla_page_bytes(std::int64_t page_size) { return page_size * kMlaTokenBytes; }

struct SparseMlaTile {
  int block_h = 16;    // query heads of a CTA
  int block_t = 32;    // tokens of a tile
  int num_warps = 8;   // that compute
  int num_stages = 3;  // tiles of cached rows in shared memory

  friend bool operator==(const SparseMlaTile&, const SparseMlaTile&) = default;
};

inline constexpr int kSparseMlaLanes = 32;
inline constexpr int kSparseMlaMaxAccumulators = 128;  // FP32 sums a lane can hold beside Q

// Where the sums of all heads do not fit the registers, the CTA goes over its tokens more than
// once, each time with a part of its heads: the gather and the conversions repeat.
constexpr int sparse_mla_head_passes(const SparseMlaTile& tile) {
  const int sums = tile.block_h * kMlaHeadDim / (kSparseMlaLanes * tile.num_warps);
  return sums > kSparseMlaMaxAccumulators ? sums / kSparseMlaMaxAccumulators : 1;
}
constexpr int sparse_mla_pass_heads(const SparseMlaTile& tile) {
  return tile.block_h / sparse_mla_head_passes(tile);
}
// FP32 sums of a lane of a compute warp.
constexpr int sparse_mla_accumulators(const SparseMlaTile& tile) {
  return sparse_mla_pass_heads(tile) * kMlaHeadDim / (kSparseMlaLanes * tile.num_warps);
}
// With full registers the producers are a warp group of their own, which hands its registers over
// (setmaxnreg works on groups of four warps); otherwise two warps issue copies fast enough.
constexpr bool sparse_mla_moves_registers(const SparseMlaTile& tile) {
  return sparse_mla_accumulators(tile) == kSparseMlaMaxAccumulators;
}
constexpr int sparse_mla_producer_warps(const SparseMlaTile& tile) {
  return sparse_mla_moves_registers(tile) ? 4 : 2;
}
constexpr int sparse_mla_threads(const SparseMlaTile& tile) {
  return kSparseMlaLanes * (tile.num_warps + sparse_mla_producer_warps(tile));
}

}  // namespace smtwin
