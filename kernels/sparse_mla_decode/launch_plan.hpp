// SPDX-License-Identifier: Apache-2.0
// What a launch of sparse_mla_decode decides: shared memory, the default configuration, the number
// of splits and how they come together. The launcher and the descriptor both ask here, so that the
// prediction and the launch cannot differ.
#pragma once

#include <cstdint>
#include <string>

#include "arch/gpu_spec.hpp"
#include "kernels/descriptor.hpp"
#include "kernels/sparse_mla_decode/config.hpp"

namespace smtwin {

// Dynamic shared bytes of a CTA, counted buffer by buffer; the text shows the sum.
struct SparseMlaSharedBytes {
  std::int64_t bytes = 0;
  std::string formula;
};
SparseMlaSharedBytes sparse_mla_shared_bytes(const SparseMlaTile& tile);

// What a default configuration is chosen for.
struct SparseMlaDefaultInput {
  std::int64_t heads = 16;
  std::int64_t batch = 1;
  std::int64_t topk = 2048;
  std::int64_t sm_count = 1;
  std::int64_t shared_bytes_per_cta = 0;
};
// What runs when nobody names a configuration: the fastest of the variants on an H200, or the
// nearest to it that fits the shared memory.
SparseMlaTile sparse_mla_default_tile(const SparseMlaDefaultInput& input);

// The tile a config names: block_h 0 = the default one, for which `parameters` must hold heads,
// batch and topk.
SparseMlaTile sparse_mla_tile(const Parameters& parameters, std::int64_t shared_bytes_per_cta,
                              std::int64_t sm_count);

struct SparseMlaSplitInput {
  SparseMlaTile tile;
  std::int64_t batch = 1;
  std::int64_t heads = 16;
  std::int64_t topk = 2048;
  std::int64_t sm_count = 1;
  std::int64_t ctas_per_sm = 1;  // resident
};
// The split rule: the number that a rough picture of the launch finds fastest, from waves of CTAs,
// tiles of the longest split and the cost of bringing the splits together. Mostly one full wave.
std::int64_t sparse_mla_split_count(const SparseMlaSplitInput& input);

// Whether the splits of a head group join their outputs in shared memory, as a cluster, instead of
// through the combine kernel: two splits (of pairs an SM cluster never keeps a slot empty; of
// clusters of four an H200 holds 62 where 66 would fit), and room for a CTA's outputs over the
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
inline constexpr int kSparseMlaCombineThreads = 128;  // two heads
constexpr std::int64_t sparse_mla_combine_ctas(std::int64_t rows) { return (rows + 1) / 2; }

}  // namespace smtwin
