// SPDX-License-Identifier: Apache-2.0
#include "kernels/external/sparse_decode_fieldnotes/work.hpp"

#include <algorithm>

#include "arch/units.hpp"

namespace smtwin {
namespace {

constexpr int kBf16Bytes = 2;
constexpr double kSumBytes = 4;                // log-sum-exp of a head, FP32
constexpr std::int64_t kPaddedDim = 512 + 64;  // 448 FP8 values padded to 512, and 64 rope values
constexpr double kQuantizedDim = 512;          // padded lanes are converted as well
constexpr double kScalesPerToken = 8;
// Conversion through FP32 with a scale: 44 to 49 values per clock and SM on an H200, whose FP32
// lanes do 256 flops per clock, so 256 / 46.5 flops of pipe time a value.
constexpr double kDequantizeFlopsPerValue = 5.5;
constexpr double kDequantizeInstructionsPerValue = 3;  // two conversions and a product, a lane
constexpr double kSoftmaxFlopsPerScore = 6;            // scale, mask, maximum, subtract, sum
constexpr double kLanes = 32;
constexpr double kBytesPerWarpAccess = 512;  // 16 B a lane

double as_double(std::int64_t value) { return static_cast<double>(value); }

}  // namespace

SparseDecodeWork sparse_decode_work(const SparseDecodeShape& shape) {
  const double steps = as_double(ceil_div(shape.tokens, shape.block_t));
  const double tokens = as_double(shape.tokens);
  const double heads = shape.heads_per_cta;
  const double tile_t = as_double(shape.block_t);
  const double warps = as_double(shape.num_warps);
  const double row = as_double(kPaddedDim * kBf16Bytes);

  const DotTile score_tile{shape.block_h, shape.block_t, kPaddedDim, kBf16Bytes, shape.num_warps};
  const DotTile value_tile{shape.block_h, kPaddedDim, shape.block_t, kBf16Bytes, shape.num_warps};
  // One grid for both dots, all warps along the 576 columns of the accumulator.
  const WarpGrid along_columns{1, shape.num_warps};
  const DotWork scores = mma_sync_work(score_tile, along_columns);
  const DotWork values = mma_sync_work(value_tile, along_columns);

  const double score_count = as_double(shape.block_h * shape.block_t) * scores.repeats;
  const double accumulators = as_double(shape.block_h * kPaddedDim);
  const double gathered = tile_t * kSparseDecodeCacheRowBytes;
  const double dequantized = tile_t * kQuantizedDim;
  const double probabilities = as_double(shape.block_h * shape.block_t) * kBf16Bytes;

  SparseDecodeWork work;
  CtaWork& cta = work.cta;
  const double query_bytes = heads * kSparseDecodeHeadDim * kBf16Bytes;
  cta.global_read_bytes =
      tokens * (kSparseDecodeCacheRowBytes + kSparseDecodeIndexBytes) + query_bytes;
  cta.global_write_bytes = query_bytes + heads * kSumBytes;
  // Raw rows in and out, BF16 rows in, operands of both products, probabilities in.
  cta.shared_bytes = steps * (2 * gathered + tile_t * row + scores.shared_read_bytes +
                              values.shared_read_bytes + probabilities);
  cta.math_flops = steps * (scores.flops + values.flops);
  cta.fp32_flops = steps * (dequantized * kDequantizeFlopsPerValue +
                            score_count * kSoftmaxFlopsPerScore + accumulators);
  cta.sfu_ops =
      steps * (score_count + as_double(shape.block_h) * scores.repeats + tile_t * kScalesPerToken);
  const double per_step = scores.warp_instructions + values.warp_instructions +
                          copy_instructions(gathered) +
                          (gathered + tile_t * row) / kBytesPerWarpAccess +
                          dequantized * kDequantizeInstructionsPerValue / kLanes +
                          score_count * kSoftmaxFlopsPerScore / kLanes + accumulators / kLanes +
                          warps * kLoopInstructionsPerWarpStep;
  cta.warp_instructions = steps * per_step;
  cta.steps = steps;
  cta.step_read_bytes = tile_t * (kSparseDecodeCacheRowBytes + kSparseDecodeIndexBytes);
  cta.loads_in_flight = as_double(std::max<std::int64_t>(shape.num_stages - 1, 0));

  work.score_repeats = scores.repeats;
  work.score_shared_bytes = scores.shared_read_bytes / tile_t;
  work.warp_instructions_per_token = per_step / tile_t;
  return work;
}

}  // namespace smtwin
