// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse_mla_decode/work.hpp"

#include "arch/units.hpp"

namespace smtwin {
namespace {

constexpr double kBf16 = 2;
constexpr double kHalf = 2;
constexpr double kIndexBytes = 4;
constexpr double kLanes = kSparseMlaLanes;
constexpr double kSegmentTokens = 16;
constexpr double kSegments = static_cast<double>(kMlaHeadDim) / kMlaGroupDims;
constexpr double kQuantizedSegments = kSegments - 1;
constexpr double kMmaFlops = 2.0 * 16 * 8 * 16;
// Per score, beyond adding the partial ones: unpack, scale, mask, maximum, exponent, sum, pack
// twice. Per row of a tile and thread: shuffles of the maximum and its update.
constexpr double kSoftmaxInstructions = 8;
constexpr double kSoftmaxFlops = 5;
constexpr double kRowInstructions = 24;
// Scale factors of a warp's tokens: two byte loads, four to make f16 powers, shuffles.
constexpr double kFactorInstructions = 8;
constexpr double kBarrierInstructions = 20;  // per warp and tile: barriers, addresses, loop
// 16-byte copies of a row: 36, each five or six instructions (row, address, copy), and the scales'.
// Producers that gave their registers away compute the places of the copies anew.
constexpr double kCopyInstructions = 5.5;
constexpr double kCopyInstructionsFewRegisters = 12;

double as_double(std::int64_t value) { return static_cast<double>(value); }

}  // namespace

SparseMlaWork sparse_mla_work(const SparseMlaTile& tile, const SparseMlaCtaShape& shape) {
  const double passes = sparse_mla_head_passes(tile);
  const double pass_heads = sparse_mla_pass_heads(tile);
  const double m = pass_heads / 16;
  const double warps = tile.num_warps;
  const double tokens = as_double(shape.tokens);
  const double tiles = as_double(ceil_div<std::int64_t>(shape.tokens, tile.block_t));
  const double padded_tokens = tiles * tile.block_t;
  const double scores = pass_heads;  // per token

  // Per 16 tokens, all compute warps.
  const double segments_of_warp = kSegments / warps;
  const double stores = m * warps;  // a warp adds its own segments before it stores
  const double mma = 2 * 8 * m * kSegments;
  const double conversions = 2 * 16 * kQuantizedSegments;
  const double quantized = 2 * 2 + 8 + 2 * 4 * m;  // ldmatrix, permutes, products with the scale
  const double rope = 2 * 4 + 4 * m;
  const double products = mma + conversions + quantized * kQuantizedSegments + rope + stores +
                          m * kSegments;  // loads of P
  const double per_16 = products + kSoftmaxInstructions * scores * kSegmentTokens / kLanes +
                        warps * scores * kSegmentTokens / (2 * kLanes);  // partial scores, packed
  const double per_tile =
      warps * (kRowInstructions + kBarrierInstructions + segments_of_warp * kFactorInstructions);

  const double copies =
      (kMlaRowBytes / 16.0 + 1) / kLanes *
      (sparse_mla_moves_registers(tile) ? kCopyInstructionsFewRegisters : kCopyInstructions);

  SparseMlaWork work;
  work.conversion_instructions = passes * conversions / kSegmentTokens;
  work.mma_instructions = passes * mma / kSegmentTokens;
  work.warp_instructions = passes * (per_16 / kSegmentTokens + per_tile / tile.block_t + copies);
  work.gather_shared_bytes = passes * kMlaTokenBytes;
  work.operand_shared_bytes = passes * 2 * kMlaRowBytes;
  // Partial scores in and out; P in f16 and BF16 in, out once per segment.
  work.score_shared_bytes = passes * scores * kHalf * (2 * warps + 2 + kSegments);

  CtaWork& cta = work.cta;
  const double query_bytes = shape.heads * kMlaHeadDim * kBf16;
  cta.global_read_bytes = passes * tokens * (kMlaTokenBytes + kIndexBytes) + query_bytes;
  cta.global_write_bytes = shape.splits ? shape.heads * kSparseMlaPartialBytes : query_bytes;
  cta.shared_bytes = padded_tokens * (work.gather_shared_bytes + work.operand_shared_bytes +
                                      work.score_shared_bytes);
  cta.math_flops = padded_tokens * work.mma_instructions * kMmaFlops;
  const double scaled = 2 * 2 * scores * kQuantizedSegments;  // scores and P by the scale
  cta.fp32_flops = passes * padded_tokens * (scores * (warps + kSoftmaxFlops) + scaled);
  cta.sfu_ops = passes * padded_tokens * scores;
  cta.warp_instructions = padded_tokens * work.warp_instructions;
  cta.steps = passes * tiles;
  cta.step_read_bytes = tile.block_t * (kMlaTokenBytes + kIndexBytes);
  cta.loads_in_flight = tile.num_stages - 1;
  return work;
}

}  // namespace smtwin
