// SPDX-License-Identifier: Apache-2.0
// The tile that a library's own rule takes for a shape: one function a rule. Thresholds and tiles
// of the rules marked [read] are those of the library's dispatch source; [inferred] ones were
// recognised in measured rows (steps of the time over M, N and K). A rule is pure: the shape and
// the number of SMs in, a tile out.
#pragma once

#include "model/families/gemm/gemm_tile.hpp"

namespace smtwin {

using GemmTileRule = GemmTile (*)(const GemmShape& shape, double sm_count);

// [inferred] FlashInfer and TensorRT-LLM NVFP4 GEMM on SM120: one tile for every shape.
GemmTile nvfp4_tile_sm120(const GemmShape& shape, double sm_count);

// [read] vLLM's CUTLASS FP8 GEMM (scaled_mm): ladders in M, on SM90 also in N and K.
GemmTile vllm_fp8_tile_sm120(const GemmShape& shape, double sm_count);
GemmTile vllm_fp8_tile_sm90(const GemmShape& shape, double sm_count);

// [inferred] SGLang's CUTLASS FP8 GEMM (fp8_scaled_mm of sgl-kernel). The dispatch of earlier
// releases, read in its source, fits the rows worse than vLLM's ladder does.
GemmTile sglang_fp8_tile_sm120(const GemmShape& shape, double sm_count);
GemmTile sglang_fp8_tile_sm90(const GemmShape& shape, double sm_count);

// [inferred] TensorRT-LLM's block-scaled FP8 GEMM on SM120; its batched form is the same kernel.
// vLLM's and SGLang's on SM120 get the same rule for want of rows that show theirs.
GemmTile fp8_block_tile_sm120(const GemmShape& shape, double sm_count);

// [read] DeepGEMM on SM90 (heuristics/sm90.hpp, 2026): legal tiles and clusters of up to two CTAs,
// the least cycles by the library's cost function. Clusters only share loads; they pad nothing.
// DataError for a K of several million, whose scales leave no room for a tile in shared memory.
GemmTile deepgemm_tile_sm90(const GemmShape& shape, double sm_count);

// [read] TensorRT-LLM's and FlashInfer's copy of the first DeepGEMM: the tile with the fewest
// waves, then the fullest last wave, then the smallest; swapped operands below 32 rows.
GemmTile trtllm_fp8_block_tile_sm90(const GemmShape& shape, double sm_count);
// Its batched form never swaps.
GemmTile trtllm_fp8_block_bmm_tile_sm90(const GemmShape& shape, double sm_count);

}  // namespace smtwin
