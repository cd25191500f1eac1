// SPDX-License-Identifier: Apache-2.0
// A model as kinds of layers: those that differ in nothing the step reads are listed and timed
// once. DeepSeek-V4-Flash has 43 layers of four kinds.
#include <algorithm>
#include <tuple>

#include "model/step_builder.hpp"

namespace smtwin {
namespace {

auto attention_key(const AttentionSpec& a) {
  const IndexerSpec index = a.indexer.value_or(IndexerSpec{});
  return std::make_tuple(
      std::make_tuple(a.kind, a.heads, a.kv_heads, a.head_dim, a.v_head_dim, a.window, a.qk_norm,
                      a.k_is_v, a.output_gate),
      std::make_tuple(a.q_lora_rank, a.kv_lora_rank, a.qk_nope_head_dim, a.qk_rope_head_dim,
                      a.compress_ratio, a.o_groups, a.o_lora_rank, a.indexer.has_value(),
                      index.heads, index.head_dim, index.topk, index.key_bytes_per_token),
      std::make_tuple(a.key_heads, a.value_heads, a.key_dim, a.value_dim, a.conv_kernel,
                      a.conv_channels, a.state_format));
}

auto mlp_key(const MlpSpec& m) {
  return std::make_tuple(m.kind, m.gated, m.intermediate, m.experts, m.experts_per_token,
                         m.expert_intermediate, m.shared_intermediate, m.hash_routed);
}

bool same_matrix(const WeightMatrix& a, const WeightMatrix& b) {
  return std::tie(a.name, a.out, a.in, a.copies, a.format, a.scale_group, a.shard, a.bias) ==
         std::tie(b.name, b.out, b.in, b.copies, b.format, b.scale_group, b.shard, b.bias);
}

bool same_kind(const LayerSpec& a, const LayerSpec& b) {
  return attention_key(a.attention) == attention_key(b.attention) &&
         mlp_key(a.mlp) == mlp_key(b.mlp) && a.weights.size() == b.weights.size() &&
         std::equal(a.weights.begin(), a.weights.end(), b.weights.begin(), same_matrix);
}

std::string kind_name(const LayerSpec& layer) {
  const AttentionSpec& a = layer.attention;
  std::string name(to_string(a.kind));
  if (a.kind == AttentionKind::gqa && a.window > 0) name += " window " + std::to_string(a.window);
  if (a.kind == AttentionKind::dsv4) name += " ratio " + std::to_string(a.compress_ratio);
  if (a.kind == AttentionKind::mla && a.indexer) name += " sparse";
  switch (layer.mlp.kind) {
    case MlpKind::none:
      return name;
    case MlpKind::dense:
      return a.kind == AttentionKind::none ? "dense MLP" : name + " + dense MLP";
    case MlpKind::moe:
      break;
  }
  if (layer.mlp.hash_routed) return name + " + experts (by table)";
  return a.kind == AttentionKind::none ? "experts" : name + " + experts";
}

}  // namespace

std::vector<std::vector<int>> layer_kinds(const ModelSpec& model) {
  std::vector<std::vector<int>> kinds;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const std::vector<int>& kind) {
      return same_kind(model.layers[static_cast<std::size_t>(kind.front())], model.layers[i]);
    });
    if (known == kinds.end()) {
      kinds.push_back({static_cast<int>(i)});
    } else {
      known->push_back(static_cast<int>(i));
    }
  }
  return kinds;
}

OpList layer_ops(const ModelSpec& model, const LayerSpec& layer, const Layout& layout,
                 const StepOptions& options) {
  StepBuilder b(model, layer, layout, options);
  switch (layer.attention.kind) {
    case AttentionKind::none:
      break;
    case AttentionKind::gqa:
      build_gqa_attention(b);
      break;
    case AttentionKind::mla:
      build_mla_attention(b);
      break;
    case AttentionKind::dsv4:
      build_dsv4_attention(b);
      break;
    case AttentionKind::gated_delta:
    case AttentionKind::mamba2:
      build_linear_attention(b);
      break;
  }
  build_mlp(b);
  return b.take();
}

StepOps step_ops(const ModelSpec& model, const Layout& layout, const StepOptions& options) {
  StepOps step;
  step.before = embedding_ops(model, layout, options);
  for (const std::vector<int>& kind : layer_kinds(model)) {
    const LayerSpec& layer = model.layers[static_cast<std::size_t>(kind.front())];
    step.layers.push_back({.ops = layer_ops(model, layer, layout, options),
                           .count = static_cast<int>(kind.size()),
                           .kind = kind_name(layer)});
  }
  step.after = output_ops(model, layout, options);
  return step;
}

}  // namespace smtwin
