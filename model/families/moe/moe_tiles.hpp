// SPDX-License-Identifier: Apache-2.0
// Which tile of the grouped GEMM an implementation runs: one where a rule decides, several where a
// tuner or a tuned file picks (the time model then takes the fastest).
//   Triton      framework's default rule. SGLang: bf16 (T <= local experts ? 16,32,64 : 64,64,32),
//               fp8_block 64,128,128 (rules read). vLLM: fp8_block BM 16 up to 64 tokens, else 64
//               (read); bf16 by token count (assumed, not verified). TensorRT-LLM: 16,32,128
//               (read). SGLang bf16 on the H200 has tuned files for some (local experts, width per
//               rank).
//   Marlin      the smallest BM that the mean expert fills to less than 90 % (assumed, not
//               verified).
//   CUTLASS     candidates of TensorRT-LLM's tuner per architecture and format (assumed, not
//               verified; the list for FP8 on SM120 agrees with a reported count of tactics).
//   triton_kernels  the candidates of CUTLASS for Hopper, the fastest on the real loads: its own
//               heuristics are not modelled (assumed, not verified).
//   FlashInfer  its benchmarks call no tuner, so one default tactic runs at every size: the one of
//               lowest cross-validated error (inferred).
#pragma once

#include <vector>

#include "model/families/moe/moe_shape.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

struct MoeTile {
  int rows = 64;           // BM, of tokens
  int columns = 64;        // BN, of weight rows
  int depth = 64;          // BK, of one step through K
  double ctas_per_sm = 1;  // from shared memory
};

// Longest list of candidates.
inline constexpr int kMostMoeTiles = 16;

// `tokens`: those the framework's rule sees.
std::vector<MoeTile> moe_tiles(const MoeImplementation& how, const TimingGpu& gpu,
                               const MoeShape& shape, double tokens);

// TensorRT-LLM tunes at powers of two up to this many tokens and rounds down to them (assumed, not
// verified; rows of whole models fit better with it, see docs/families/moe.md).
inline constexpr double kTunerMaxTokens = 8192;
double tuner_tokens(double tokens);

}  // namespace smtwin
