// SPDX-License-Identifier: Apache-2.0
// Work of one CTA of the sparse decode kernel, counted per tile of BLOCK_T tokens:
//   gather       584 B a token (448 FP8 + 64 BF16 + 8 scales) and a 4 B index, into shared memory
//   dequantize   512 values a token to BF16, written back to shared memory; every head group
//                does it again for the same tokens
//   scores       BLOCK_H x BLOCK_T x 576 on tensor cores. Triton gives chained dots one warp grid,
//                here all warps along the columns of the accumulator (compiled register counts
//                agree: 72 accumulators a thread at four warps). A 16 x 16 score tile has two
//                8-wide columns: warps beyond two repeat the products and the operand loads of the
//                others, so eight warps load twice what four do, and none of it is new work
//   softmax      repeated with the scores; the accumulator is rescaled every tile
//   values       BLOCK_H x 576 x BLOCK_T, columns shared by the warps without repeats
// This is why doubling num_warps need not help. The shared-memory bytes counted here rise as the
// time of a kernel of this structure did on an H200: 1.67 from w4 to w8 at BLOCK_H 16 (measured
// 1.67), 1.45 from BLOCK_H 16 to 32 per head group (measured 1.45). In absolute time that kernel
// took about four times what these bytes cost at full rate; bank conflicts are not modelled.
#pragma once

#include <cstdint>

#include "kernels/descriptor.hpp"
#include "kernels/triton_compiler.hpp"

namespace smtwin {

struct SparseDecodeShape {
  double heads_per_cta = 16;  // real ones, on average: the last head group may have fewer
  std::int64_t block_h = 16;
  std::int64_t block_t = 16;
  std::int64_t num_warps = 4;
  std::int64_t num_stages = 2;
  std::int64_t tokens = 512;  // of one split
};

struct SparseDecodeWork {
  CtaWork cta;
  double score_repeats = 1;       // how often each score product is computed
  double score_shared_bytes = 0;  // operand loads of the scores, per token
  double warp_instructions_per_token = 0;
};
SparseDecodeWork sparse_decode_work(const SparseDecodeShape& shape);

inline constexpr double kSparseDecodeCacheRowBytes = 584;
inline constexpr double kSparseDecodeIndexBytes = 4;
inline constexpr double kSparseDecodeHeadDim = 512;  // values of a head, of Q and of the output

}  // namespace smtwin
