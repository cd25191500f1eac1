// SPDX-License-Identifier: Apache-2.0
// sparse_mla_decode as the twin sees it: this project's split-K sparse MLA decode kernel on the
// DeepSeek-V4 cache, and the kernel that combines its splits.
//
//   grid    batch x ceil(heads / BLOCK_H) x nsplit; the combine kernel (nsplit > 1): a CTA a head
//   splits  as many as fill the SMs once (SMs x resident CTAs), at most a tile each
//   block_h 0 in a config stands for the default configuration of that many heads on that GPU
// Everything here also decides what a launch does, so that prediction and launch cannot differ.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/descriptor.hpp"
#include "kernels/sparse_mla_decode/config.hpp"

namespace smtwin {

// Dynamic shared bytes of a CTA, counted buffer by buffer; the text shows the sum.
struct SparseMlaSharedBytes {
  std::int64_t bytes = 0;
  std::string formula;
};
SparseMlaSharedBytes sparse_mla_shared_bytes(const SparseMlaTile& tile);

// What runs when nobody names a configuration: the fastest of the variants on an H200, or the
// nearest to it that fits `shared_bytes_per_cta`.
SparseMlaTile sparse_mla_default_tile(std::int64_t heads, std::int64_t shared_bytes_per_cta);

// The tile a config names: block_h 0 = the default one.
SparseMlaTile sparse_mla_tile(const Parameters& parameters, std::int64_t shared_bytes_per_cta);

struct SparseMlaSplitInput {
  std::int64_t batch = 1;
  std::int64_t head_groups = 1;
  std::int64_t topk = 2048;
  std::int64_t block_t = 32;
  std::int64_t sm_count = 1;
  std::int64_t ctas_per_sm = 1;  // resident
};
// The split rule: one wave of CTAs.
std::int64_t sparse_mla_split_count(const SparseMlaSplitInput& input);

// Whether the splits of a head group form a cluster and join their outputs in its shared memory,
// instead of through the combine kernel: at most 8 splits, and room for a CTA's outputs over the
// buffers that it no longer needs.
bool sparse_mla_joins(const SparseMlaTile& tile, std::int64_t splits);

// Tiles [first, first + count) of a request that split `index` of `splits` works on.
struct SparseMlaTileRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
constexpr SparseMlaTileRange sparse_mla_split_range(std::int64_t tiles, std::int64_t splits,
                                                    std::int64_t index) {
  const std::int64_t first = tiles * index / splits;
  return {first, tiles * (index + 1) / splits - first};
}

// CTAs of a tile that an SM holds, by shared memory, registers, warps and CTA slots; a limit the
// chip does not state (0) does not count.
std::int64_t sparse_mla_resident_ctas(const SparseMlaTile& tile, std::int32_t registers_per_thread,
                                      const SmSpec& sm);

std::string sparse_mla_symbol(const SparseMlaTile& tile);  // of the main kernel
inline constexpr const char* kSparseMlaCombineSymbol = "smtwin_sparse_mla_combine";
inline constexpr int kSparseMlaCombineThreads = 128;

std::unique_ptr<KernelDescriptor> make_sparse_mla_decode();

}  // namespace smtwin
