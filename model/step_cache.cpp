// SPDX-License-Identifier: Apache-2.0
// What attention reads of the cache in a step: how many entries, of how many bytes, in how many
// parts. The bytes of an entry are those of model_spec.cpp.
#include <algorithm>

#include "arch/units.hpp"
#include "kernels/external/sparse_decode_fieldnotes/descriptor.hpp"
#include "model/step_builder.hpp"

namespace smtwin {

std::int64_t attended_tokens(const AttentionSpec& a, std::int64_t context) {
  const std::int64_t visible = a.window > 0 ? std::min(a.window, context) : context;
  switch (a.kind) {
    case AttentionKind::none:
    case AttentionKind::gated_delta:
    case AttentionKind::mamba2:
      return 0;
    case AttentionKind::gqa:
      return visible;
    case AttentionKind::mla:
      return a.indexer ? std::min(visible, a.indexer->topk) : visible;
    case AttentionKind::dsv4:
      break;
  }
  if (a.compress_ratio == 0) return visible;
  const std::int64_t compressed = context / a.compress_ratio;
  return visible + (a.indexer ? std::min(a.indexer->topk, compressed) : compressed);
}

double cache_entry_bytes(const AttentionSpec& a, NumberFormat kv, int tp) {
  const double whole = kv_entry_bytes(a, kv);
  if (a.kind != AttentionKind::gqa || a.kv_heads == 0) return whole;
  return whole * static_cast<double>(kv_heads_per_rank(a, tp)) / static_cast<double>(a.kv_heads);
}

std::int64_t attention_splits(std::int64_t ctas, std::int64_t tokens, int sm_count) {
  constexpr std::int64_t kTokensPerPart = 256;
  constexpr double kFullEnough = 0.8;
  const std::int64_t slots = 2 * static_cast<std::int64_t>(sm_count);
  if (ctas <= 0 || static_cast<double>(ctas) >= kFullEnough * static_cast<double>(slots)) return 1;
  return std::max<std::int64_t>(1, std::min(slots / ctas, tokens / kTokensPerPart));
}

std::int64_t sparse_attention_splits(const StepOp& op, int sm_count) {
  constexpr std::int64_t kLargestBlockH = 32;
  constexpr std::int64_t kBlockT = 16;
  if (sm_count <= 0) return 1;
  return assumed_split_count({.batch = op.sequences,
                              .head_groups = ceil_div(op.heads, kLargestBlockH),
                              .topk = op.tokens,
                              .block_t = kBlockT,
                              .sm_count = sm_count});
}

}  // namespace smtwin
