// SPDX-License-Identifier: Apache-2.0
// What one warp of a Triton split sparse-MLA decode kernel does in one tile of BLOCK_T tokens.
// Triton gives both products one warp grid, all warps along the columns. The score product has
// BLOCK_T / 8 columns of 8, so each warp converts its columns' 512 values from FP8 once more, and
// reads all of Q, however many warps share the tile; only the value product and what follows from
// it are split:
//   score columns  c   = ceil(BLOCK_T / 8 / warps)
//   repeated values    = c x 8 x 512 / 32        a lane converts for the scores, whatever the warps
//   split values       = BLOCK_T x 512 / 32 / warps
//   score multiplies   = ceil(BLOCK_H / 16) x c x 36              (576 = 36 x 16)
//   value multiplies   = ceil(BLOCK_H / 16) x ceil(72 / warps) x ceil(BLOCK_T / 16)
//   instructions       = 10.6 repeated + 16.7 split + 34.3 BLOCK_T + 6.4 score + 15.1 value
//   spilled bytes      = 15 split + 4 accumulators + 9 (repeated - 128) - 1060, of a lane, >= 0
// The instruction counts per item are those of the main loop that Triton 3.6.0 compiles for sm_90
// from a kernel of this structure: 14 configurations with BLOCK_H 16 and 32, BLOCK_T 16 to 64 and 2
// to 16 warps are met within 4.2 %; their stacks, 0 to 4224 B, within 52 B but for two (140 and
// 460). num_stages changes nothing there: the gathers wait for an index that the loop itself reads.
// Left out: BLOCK_H 64 (wgmma on Hopper).
#pragma once

#include <cstdint>

namespace smtwin {

struct TritonSparseTile {
  std::int64_t block_h = 16;
  std::int64_t block_t = 16;
  std::int64_t num_warps = 4;
};

struct TritonSparseWarpWork {
  double repeated_values = 0;  // converted by a lane for the scores
  double split_values = 0;     // converted by a lane for the value product
  double score_multiplies = 0;
  double value_multiplies = 0;
  double instructions = 0;
  double accumulators = 0;   // of a lane
  double spilled_bytes = 0;  // of a lane, to local memory
};
TritonSparseWarpWork triton_sparse_warp_work(const TritonSparseTile& tile);

}  // namespace smtwin
