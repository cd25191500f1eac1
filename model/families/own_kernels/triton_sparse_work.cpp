// SPDX-License-Identifier: Apache-2.0
#include "model/families/own_kernels/triton_sparse_work.hpp"

#include <algorithm>

#include "arch/units.hpp"

namespace smtwin {
namespace {

constexpr double kLanes = 32;
constexpr double kQuantizedDim = 512;       // padded: 448 values are there
constexpr std::int64_t kPaddedDim = 576;    // with 64 rope values
constexpr std::int64_t kMultiplyRows = 16;  // mma.sync m16n8k16
constexpr std::int64_t kMultiplyColumns = 8;
constexpr std::int64_t kMultiplyDepth = 16;
// Warp instructions per item, from compiled code (header).
constexpr double kPerRepeatedValue = 10.6;
constexpr double kPerSplitValue = 16.7;
constexpr double kPerToken = 34.3;  // addresses, of every warp
constexpr double kPerScoreMultiply = 6.4;
constexpr double kPerValueMultiply = 15.1;
// Bytes of the stack, from the same code.
constexpr double kStackPerSplitValue = 15;
constexpr double kStackPerAccumulator = 4;
constexpr double kStackPerRepeatedValue = 9;
constexpr double kColumnValues = 128;
constexpr double kStackFree = 1060;

double as_double(std::int64_t value) { return static_cast<double>(value); }

}  // namespace

TritonSparseWarpWork triton_sparse_warp_work(const TritonSparseTile& t) {
  const auto rows = ceil_div(t.block_h, kMultiplyRows);
  const auto columns = ceil_div(ceil_div(t.block_t, kMultiplyColumns), t.num_warps);
  const double warps = as_double(t.num_warps);
  TritonSparseWarpWork w;
  w.repeated_values = as_double(columns * kMultiplyColumns) * kQuantizedDim / kLanes;
  w.split_values = as_double(t.block_t) * kQuantizedDim / kLanes / warps;
  w.score_multiplies = as_double(rows * columns * (kPaddedDim / kMultiplyDepth));
  w.value_multiplies = as_double(rows * ceil_div(kPaddedDim / kMultiplyColumns, t.num_warps) *
                                 ceil_div(t.block_t, kMultiplyDepth));
  w.instructions = kPerRepeatedValue * w.repeated_values + kPerSplitValue * w.split_values +
                   kPerToken * as_double(t.block_t) + kPerScoreMultiply * w.score_multiplies +
                   kPerValueMultiply * w.value_multiplies;
  w.accumulators = as_double(t.block_h * kPaddedDim) / kLanes / warps;
  w.spilled_bytes =
      std::max(0.0, kStackPerSplitValue * w.split_values + kStackPerAccumulator * w.accumulators +
                        kStackPerRepeatedValue * (w.repeated_values - kColumnValues) - kStackFree);
  return w;
}

}  // namespace smtwin
