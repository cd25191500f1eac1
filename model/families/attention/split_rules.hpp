// SPDX-License-Identifier: Apache-2.0
// How each library cuts the KV cache of one decode step: pure functions of the shape. "Units" are
// the CTAs that exist without splitting (sequences x heads or head tiles).
// Sources: public source code of FlashAttention (heuristics of 2.x and 3), TensorRT-LLM (XQA and
// masked multi-head attention launchers), FlashInfer (decode plan), SGLang and vLLM (Triton decode
// attention), read in the revisions named in docs/families/attention.md. Left out: rules for
// speculative decoding, beams and prefix sharing.
#pragma once

namespace smtwin {

double ceil_ratio(double a, double b);

// FlashAttention 2: fewest splits whose last round of CTAs is at least 85 % as full as the best
// reachable; splits that leave the same blocks a CTA as one fewer do not count.
double fa2_splits(double units, double slots, double blocks);

// FlashAttention 3, upper bound of a variable-length call: the same aim for ONE sequence; 1 when
// its heads fill 80 % of the SMs or there are at most 4 blocks.
double fa3_split_bound(double units, double blocks, double sm_count);
// Splits that the prepare kernel gives one sequence: every SM gets 1.1 x its share of blocks.
double fa3_splits(double bound, double sequence_blocks, double all_blocks, double sm_count);

// TensorRT-LLM XQA: a part per 128 tokens, damped to sqrt(8 parts), at most 8 waves of CTAs.
double xqa_splits(double units, double kv_tokens, double sm_count);

// TensorRT-LLM masked multi-head attention: 256-thread CTAs double up to 1024 threads while the
// grid leaves room, then KV parts fill the SMs once.
struct MmhaLaunch {
  double ctas_per_sm = 1;
  double threads = 256;
  double splits = 1;
};
MmhaLaunch mmha_launch(double units, double head_dim, double kv_tokens, double sm_count,
                       double small_ctas_per_sm);

// FlashInfer decode plan: smallest KV chunk of at least 128 tokens whose CTAs fit `slots`.
double flashinfer_splits(double units, double kv_tokens, double slots);

// SGLang Triton: SMs * log2(tokens / 64) CTAs wanted, at most `limit` splits.
double sglang_triton_splits(double units, double kv_tokens, double sm_count, double limit);

}  // namespace smtwin
