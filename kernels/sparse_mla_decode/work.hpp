// SPDX-License-Identifier: Apache-2.0
// Work of one CTA of sparse_mla_decode, counted from its loops. Per 16 tokens and 64 dimensions
// ("a segment") of one compute warp, with M = heads of a pass / 16:
//
//   scores  FP8: 2 ldmatrix, 16 conversions to f16, 8 M mma, 4 M products with the group's scale,
//           M stores of partial scores; rope: 4 ldmatrix, 8 M mma, 4 M to pack, M stores
//   values  FP8: 2 transposed ldmatrix, 8 permutes, 16 conversions, M loads of P, 4 M products with
//           the scale, 8 M mma; rope: 4 ldmatrix, M loads, 8 M mma
//   softmax every score is the sum of num_warps partial scores; then about 8 instructions each
// Each cached byte is thus read from shared memory once for scores and once for values, and
// converted twice, whatever the number of warps; only the partial scores grow with it.
#pragma once

#include <cstdint>

#include "kernels/descriptor.hpp"
#include "kernels/sparse_mla_decode/config.hpp"

namespace smtwin {

struct SparseMlaCtaShape {
  double heads = 16;          // real ones, on average: the last head group may have fewer
  std::int64_t tokens = 512;  // of one split, padding to whole tiles not included
  bool splits = false;        // the output is a partial one
};

struct SparseMlaWork {
  CtaWork cta;
  // Of one token of one CTA, in all its passes.
  double conversion_instructions = 0;  // FP8 pair -> f16 pair, warp instructions
  double mma_instructions = 0;
  double warp_instructions = 0;
  double gather_shared_bytes = 0;   // written
  double operand_shared_bytes = 0;  // rows read for both products
  double score_shared_bytes = 0;    // partial scores and P, written and read
};
SparseMlaWork sparse_mla_work(const SparseMlaTile& tile, const SparseMlaCtaShape& shape);

// Bytes of a split's partial output of one head: BF16 values and an FP32 log-sum.
inline constexpr double kSparseMlaPartialBytes = kMlaHeadDim * 2 + 4;

}  // namespace smtwin
