// SPDX-License-Identifier: Apache-2.0
// Inputs of a sparse MLA decode problem, drawn anew for every seed: on the host the indices and
// lengths, on the GPU a cache of normal values in random groups of magnitude, quantized as the
// layout wants. The header is free of CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/descriptor.hpp"

namespace smtwin {

struct SparseMlaProblemShape {
  std::int64_t heads = 16;
  std::int64_t topk = 2048;
  std::int64_t batch = 1;
  std::int64_t page_size = 64;
  std::int64_t context = 8192;  // cached tokens of a request
  std::int64_t holes = 0;       // indices that are -1, in percent
  bool ragged = false;          // random lengths; request 1 has none, request 2 only -1
  bool wide_scales = false;     // some tokens are thousands of times larger than the others

  explicit SparseMlaProblemShape(const Parameters& shape);
  std::int64_t pages_of_request() const;
  std::int64_t slots() const;  // of the whole cache
  double scale() const;        // of the scores
};

struct SparseMlaSelection {
  std::vector<std::int32_t> indices;  // [batch][topk]
  std::vector<std::int32_t> lengths;  // [batch]
  std::vector<float> sinks;           // [heads]
};
// Distinct tokens of the request's own pages, which lie scattered over the cache.
SparseMlaSelection draw_sparse_mla_selection(const SparseMlaProblemShape& shape,
                                             std::uint64_t seed);

// Enqueues kernels on the default stream that fill the cache and Q (BF16 bits).
void fill_sparse_mla_cache(std::uint8_t* cache, const SparseMlaProblemShape& shape,
                           std::uint64_t seed);
void fill_sparse_mla_query(std::uint16_t* q, const SparseMlaProblemShape& shape,
                           std::uint64_t seed);

// Copies tokens, each from its row and its scales, into 584 contiguous bytes.
struct MlaTokenOffsets;
void collect_sparse_mla_tokens(std::uint8_t* to, const std::uint8_t* cache,
                               const MlaTokenOffsets* offsets, std::int64_t count);

}  // namespace smtwin
