// SPDX-License-Identifier: Apache-2.0
// Shapes of one rank's part of each matrix. The rules of what may be split are in
// sharding_rules.cpp.
#include "model/sharding.hpp"

#include <algorithm>

#include "arch/units.hpp"

namespace smtwin {
namespace {

bool is_down_projection(const WeightMatrix& matrix) { return matrix.name.ends_with("_down"); }

// Width of an expert on one rank. MXFP4 experts are dealt in whole scale blocks, so the last rank
// may hold padding; every other format must divide (sharding_rules.cpp).
std::int64_t expert_width(std::int64_t width, NumberFormat format, int ranks) {
  if (format != NumberFormat::mxfp4) return ceil_div<std::int64_t>(width, ranks);
  const std::int64_t block = scale_block(format).in;
  return ceil_div<std::int64_t>(ceil_div(width, block), ranks) * block;
}

MatrixShard shard_experts(const WeightMatrix& m, const LayerSpec& layer, const Layout& layout) {
  MatrixShard shard{
      .out = m.out, .in = m.in, .copies = ceil_div<std::int64_t>(m.copies, layout.ep)};
  const std::int64_t width =
      expert_width(layer.mlp.expert_intermediate, m.format, layout.expert_tp());
  if (is_down_projection(m)) {
    shard.in = width;
  } else {
    shard.out = width * (m.out / std::max<std::int64_t>(1, layer.mlp.expert_intermediate));
  }
  return shard;
}

// The fused QKV: query columns (and a gate of theirs) divide by T, the columns of K and V only
// until one KV head a rank is left.
std::int64_t qkv_columns(const WeightMatrix& m, const AttentionSpec& a, int tp) {
  const std::int64_t query_columns = a.heads * a.head_dim * (a.output_gate ? 2 : 1);
  const std::int64_t per_kv_head = (m.out - query_columns) / std::max<std::int64_t>(1, a.kv_heads);
  return ceil_div<std::int64_t>(query_columns, tp) + kv_heads_per_rank(a, tp) * per_kv_head;
}

}  // namespace

std::string to_string(const Layout& layout) {
  std::string text = layout.dp > 1 ? std::to_string(layout.dp) + " x " : "";
  text += "TP" + std::to_string(layout.tp);
  if (layout.ep > 1) text += " EP" + std::to_string(layout.ep);
  return text;
}

std::int64_t kv_heads_per_rank(const AttentionSpec& attention, int tp) {
  return std::max<std::int64_t>(1, attention.kv_heads / tp);
}

const WeightMatrix* find_matrix(const LayerSpec& layer, const std::string& name) {
  const auto found = std::find_if(layer.weights.begin(), layer.weights.end(),
                                  [&](const WeightMatrix& m) { return m.name == name; });
  return found == layer.weights.end() ? nullptr : &*found;
}

MatrixShard shard_matrix(const WeightMatrix& m, const LayerSpec& layer, const Layout& layout) {
  MatrixShard shard{.out = m.out, .in = m.in, .copies = m.copies};
  switch (m.shard) {
    case Shard::replicated:
      break;
    case Shard::columns:
      shard.out = m.name == "qkv" ? qkv_columns(m, layer.attention, layout.tp)
                                  : ceil_div<std::int64_t>(m.out, layout.tp);
      break;
    case Shard::rows:
      shard.in = ceil_div<std::int64_t>(m.in, layout.tp);
      break;
    case Shard::heads:
      shard.copies = ceil_div<std::int64_t>(m.copies, layout.tp);
      break;
    case Shard::kv_heads:
      shard.out = m.name == "qkv" ? qkv_columns(m, layer.attention, layout.tp)
                                  : m.out / std::max<std::int64_t>(1, layer.attention.kv_heads) *
                                        kv_heads_per_rank(layer.attention, layout.tp);
      break;
    case Shard::experts:
      shard = shard_experts(m, layer, layout);
      break;
    case Shard::vocabulary:
      return shard_vocabulary(m, layout);
  }
  // A bias follows its output columns; where the input is split, one rank adds it.
  const double out_share = static_cast<double>(shard.out) * static_cast<double>(shard.copies) /
                           (static_cast<double>(m.out) * static_cast<double>(m.copies));
  WeightMatrix mine = m;
  mine.out = shard.out;
  mine.in = shard.in;
  mine.copies = shard.copies;
  mine.bias = static_cast<std::int64_t>(static_cast<double>(m.bias) * out_share);
  shard.bytes = mine.bytes();
  return shard;
}

MatrixShard shard_vocabulary(const WeightMatrix& matrix, const Layout& layout) {
  const std::int64_t ranks = layout.tp;
  MatrixShard shard{.out = round_up<std::int64_t>(matrix.out, kVocabularyPadding * ranks) / ranks,
                    .in = matrix.in,
                    .copies = 1};
  shard.bytes =
      static_cast<double>(shard.out) * static_cast<double>(shard.in) * matrix.element_bytes();
  return shard;
}

}  // namespace smtwin
