// SPDX-License-Identifier: Apache-2.0
// One layer prepared: what its kernels have to do, counted once from shape and routing, so that the
// time model only divides by rates. A GEMM is (N, K) = (gate and up width, hidden) and
// (hidden, width): CTAs = tiles of rows x ceil(N / BN), steps = ceil(K / BK).
//   CTAs that the busiest SM runs one after the other (n), and rounds of resident CTAs (w), with
//   c CTAs, S SMs, o CTAs resident an SM:
//     CUTLASS, persistent grid   n = ceil(c/S)                      w = ceil(c/(S o))
//     Triton, CTAs refill SMs    n = ceil(c/S) below 2 S, else c/S + 1/2
//                                w = 1, ceil(c/(S o)) up to 3, then c/(S o) + 1/2
//     Marlin, stream-K           n = w = max(1, c/S)
#pragma once

#include <array>
#include <vector>

#include "model/families/moe/moe_library.hpp"
#include "model/families/moe/moe_shape.hpp"
#include "model/families/moe/moe_tiles.hpp"
#include "model/families/moe/routing.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

struct MoeTileWork {
  double math_s = 0;       // padded flops of the busiest SM at the dense peak
  double feed_bytes = 0;   // operand tiles into the busiest SM
  double empty_bytes = 0;  // of them, rows of the activation tile without a token
  double rounds = 0;
  double steps = 0;              // K steps of one CTA in the unit of the latency constant
  double remote_cta_rounds = 0;  // CTAs of other ranks' rows, in rounds of resident CTAs
  // Seen to stream cold weights slower: a K step of less than a cache line of every weight row
  // (SGLang's BF16 tile of depth 32), TensorRT-LLM's Triton tile of 32 weight rows.
  bool narrow = false;
};

struct MoeGemmWork {
  double weight_bytes = 0;         // of active experts
  bool unaligned = false;          // K is no multiple of 16
  std::vector<MoeTileWork> tiles;  // one a candidate
};

struct MoeWork {
  MoeShape shape;
  std::vector<MoeTile> tiles;  // candidates, at least one
  std::array<MoeGemmWork, 2> gemms;
  // The same GEMMs as a tuner timed them; the tile is picked on these. Empty: on those above.
  std::array<MoeGemmWork, 2> tuned_gemms;
  double active_experts = 0;
  double weight_bytes = 0;
  double tuned_weight_bytes = 0;
  // Traffic of the kernels around the GEMMs.
  double row_bytes = 0;       // of rows, before row_traffic
  double token_elements = 0;  // tokens x hidden
  double pairs = 0;           // that sorting and summing kernels touch
  double align_passes = 0;    // of the one-CTA sorting kernel of small batches
  double sort_share = 0;      // of the full sorting time, 0..1
};

MoeWork moe_work(const MoeImplementation& how, const TimingGpu& gpu, const MoeShape& shape,
                 const MoeRouting& routing);

}  // namespace smtwin
