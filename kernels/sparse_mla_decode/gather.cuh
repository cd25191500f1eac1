// SPDX-License-Identifier: Apache-2.0
// The producer warps of sparse_mla_decode: they copy the cached rows that the indices name into
// the stages of shared memory, 16 bytes a lane in the order of the bytes, so that a warp's copy
// covers 512 contiguous bytes but for row ends. Tokens without an index become zeros, so that
// whatever their slots would hold cannot reach a product.
#pragma once

#include "kernels/sparse_mla_decode/ptx.cuh"
#include "kernels/sparse_mla_decode/storage.cuh"

namespace smtwin::device {

template <class Variant>
class Gather {
 public:
  using Storage = typename Variant::Storage;

  __device__ __forceinline__ Gather(Storage& storage, const SparseMlaArguments& arguments,
                                    TileRange range, int producer)
      : storage_(storage),
        cache_(arguments.cache),
        indices_(arguments.indices + static_cast<std::int64_t>(blockIdx.x) * arguments.topk),
        range_(range),
        topk_(arguments.topk),
        page_size_(arguments.page_size),
        producer_(producer),
        lane_(static_cast<int>(threadIdx.x % 32)) {}

  // What can start before the barriers of shared memory exist: the first indices.
  __device__ __forceinline__ void start(const std::int32_t* length) {
    load_indices(range_.first);
    length_ = min(topk_, *length);
    for (int line = lane_; line * 32 < range_.count * kBlockT; line += 32) {
      const int token = range_.first * kBlockT + line * 32;
      if (token < topk_) prefetch_l2(indices_ + token);
    }
  }

  __device__ __forceinline__ int length() const { return length_; }

  // Copies `tiles` tiles, `passes` times.
  __device__ __forceinline__ void run(int tiles, int passes) {
    int stage = 0;
    std::uint32_t parity = 1;  // of the previous use of a stage
    int tile = 0;
#pragma unroll 1
    for (int step = tiles * passes; step > 0; --step) {
      std::uint32_t row_start[kSlots];
      const std::int64_t scales = place(tile, row_start);
      // The next indices, while this tile waits for its stage.
      if (++tile == tiles) tile = 0;
      load_indices(range_.first + tile);
      // The first wait for a stage passes: a barrier counts as having completed the odd phase.
      mbarrier_wait(shared_address(&storage_.empty[stage]), parity);
      copy_tile(stage, row_start, scales);
      if (++stage == Variant::kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
  }

 private:
  static constexpr int kBlockT = Variant::kBlockT;
  static constexpr int kBlocks = kBlockT / 8;  // of eight rows = nine warp copies
  static constexpr int kProducers = Variant::kProducerWarps;
  static constexpr int kMine =
      kBlocks >= kProducers ? kBlocks / kProducers : 1;  // blocks of a warp
  static constexpr int kMyRows = kMine * 8;
  static constexpr int kSlots = (kMyRows + 31) / 32;  // rows a lane looks after
  static constexpr int kChunks = kMlaRowBytes / 16;
  // Unrolled, the places of the nine copies stay in registers, which producers that gave theirs
  // away do not have.
  static constexpr int kCopiesAtOnce = Variant::kMovesRegisters ? 1 : 9;
  static constexpr std::uint32_t kAbsent = 0xffffffffu;

  __device__ __forceinline__ bool idle() const {
    return kBlocks < kProducers && producer_ >= kBlocks;
  }
  // Row of the tile that a lane's slot looks after; beyond kMyRows there is none.
  __device__ __forceinline__ int tile_row(int mine) const {
    return (producer_ + mine / 8 * kProducers) * 8 + mine % 8;
  }

  __device__ __forceinline__ void load_indices(int tile) {
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      const int mine = slot * 32 + lane_;
      const int token = tile * kBlockT + tile_row(mine);
      const bool there = mine < kMyRows && !idle() && token < topk_;
      index_[slot] = there ? __ldg(indices_ + token) : -1;
    }
  }

  // Turns the loaded indices into starts of rows, in units of 16 bytes. Scales start at a multiple
  // of 8: their offset of the first slot is returned, of the second one kept.
  __device__ __forceinline__ std::int64_t place(int tile, std::uint32_t (&row_start)[kSlots]) {
    std::int64_t scales[kSlots];
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      const int mine = slot * 32 + lane_;
      const int token = (range_.first + tile) * kBlockT + tile_row(mine);
      const bool present = index_[slot] >= 0 && token < length_;
      const unsigned page = static_cast<unsigned>(index_[slot]) / static_cast<unsigned>(page_size_);
      const unsigned row = static_cast<unsigned>(index_[slot]) - page * page_size_;
      constexpr unsigned kHalfTokenBytes = kMlaTokenBytes / 8;  // a page: page_size x 73 x 8 bytes
      const unsigned page_start = page * (static_cast<unsigned>(page_size_) / 2 * kHalfTokenBytes);
      row_start[slot] = present ? page_start + row * kChunks : kAbsent;
      scales[slot] = static_cast<std::int64_t>(page_start) * 16 + page_size_ * kMlaRowBytes +
                     row * kMlaScaleBytes;
    }
    if constexpr (kSlots > 1) second_scales_ = scales[1];
    return scales[0];
  }

  __device__ __forceinline__ void copy_tile(int stage, const std::uint32_t (&row_start)[kSlots],
                                            std::int64_t scales) {
    const std::uint32_t full = shared_address(&storage_.full[stage]);
    if (!idle()) {
      const std::uint32_t to = shared_address(&storage_.rows[stage][0][0]);
#pragma unroll
      for (int block = 0; block < kMine; ++block) {
        const std::uint32_t block_to =
            to + (producer_ + block * kProducers) * 8 * Variant::kRowStride;
#pragma unroll kCopiesAtOnce
        for (int copy = 0; copy < 8 * kChunks / 32; ++copy) {
          const unsigned chunk = copy * 32 + lane_;  // of the eight rows
          const unsigned row = chunk / kChunks;
          const std::uint32_t start =
              __shfl_sync(0xffffffffu, row_start[block / 4], block % 4 * 8 + row);
          // A stored row is one chunk longer than a copied one.
          copy_16(block_to + (chunk + row) * 16,
                  cache_ + static_cast<std::uint64_t>(start + (chunk - row * kChunks)) * 16,
                  start != kAbsent);
        }
      }
#pragma unroll
      for (int slot = 0; slot < kSlots; ++slot) {
        const int mine = slot * 32 + lane_;
        const bool present = row_start[slot] != kAbsent;
        if (mine < kMyRows) {
          copy_8(to + tile_row(mine) * Variant::kRowStride + kMlaRowBytes,
                 cache_ + (slot == 0 ? scales : second_scales_), present);
        }
        const unsigned bits = __ballot_sync(0xffffffffu, present);
        constexpr int kBlocksOfSlot = kMine < 4 ? kMine : 4;
        if (lane_ < kBlocksOfSlot) {
          reinterpret_cast<std::uint8_t*>(
              &storage_.present[stage])[producer_ + (slot * 4 + lane_) * kProducers] =
              static_cast<std::uint8_t>(bits >> (lane_ * 8));
        }
      }
    }
    mbarrier_arrive(full);
    mbarrier_arrive_after_copies(full);
  }

  Storage& storage_;
  const std::uint8_t* cache_;
  const std::int32_t* indices_;
  TileRange range_;
  int topk_;
  int length_ = 0;
  int page_size_;
  int producer_;
  int lane_;
  std::int32_t index_[kSlots];
  std::int64_t second_scales_ = 0;
};

}  // namespace smtwin::device
