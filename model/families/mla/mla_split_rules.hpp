// SPDX-License-Identifier: Apache-2.0
// How each library cuts the KV cache of one decode step of latent attention into CTAs' work.
// Sources (read in public repositories; the measured builds may be newer):
//   FlashAttention 3   hopper/heuristics.h and the scheduler kernel that sets splits per batch
//   FlashMLA           get_mla_metadata: equal payloads of 64-token blocks, 5 blocks' overhead each
//   SGLang Triton      metadata.py (get_num_kv_splits), triton_backend.py (cap for latent heads)
//   vLLM Triton        mla/triton_mla.py (512 tokens a split, power of two, twice the SMs)
// Inferred from rows: one CTA an SM of the Hopper kernels, two of the Triton kernels.
// Left out: unequal contexts in a batch.
#pragma once

#include "model/families/mla/mla_shape.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

inline constexpr double kMlaQueryTile = 64;  // query heads of a Hopper or fused tile
inline constexpr double kMlaKvBlock = 64;    // tokens a step of the inner loop

// What the busiest CTA does, and what is left for the combine kernel.
struct MlaRounds {
  double pieces = 1;    // (sequence, split) pieces or rounds of tiles
  double blocks = 1;    // 64-token blocks over all pieces
  double splits = 1;    // of one sequence, the largest
  double partials = 0;  // (sequence, split) results written for the combine kernel, all heads
};

// `captured_bound`: vLLM passes 32 as upper bound for batches up to 512, its CUDA-graph buffers.
MlaRounds flash_attention3_rounds(const MlaShape& shape, double sm_count, bool captured_bound);
MlaRounds flashmla_rounds(const MlaShape& shape, double sm_count);

struct TritonMlaPlan {
  double head_tiles = 1;  // of 16 heads; a lone head runs another kernel
  double tokens_per_split = 1;
  double splits = 1;           // that hold tokens
  double launched_splits = 1;  // of the grid: SGLang launches its cap, the rest exit at once
};
TritonMlaPlan sglang_triton_plan(const MlaShape& shape, double sm_count);
TritonMlaPlan vllm_triton_plan(const MlaShape& shape, double sm_count);

}  // namespace smtwin
