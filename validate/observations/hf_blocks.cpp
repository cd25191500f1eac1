// SPDX-License-Identifier: Apache-2.0
// The blocks that most families are made of: GQA attention, dense and mixture-of-experts MLPs, and
// the convolution of recurrent layers.
// Shapes follow the public model sources (transformers, vLLM); engines fuse q, k and v, and gate
// and up, into one matrix each.
#include "validate/observations/hf_builder.hpp"

namespace smtwin {
namespace {

// gate and up (or up alone) of an MLP that reads `width` and makes `intermediate`.
std::vector<HfPart> up_parts(const std::string& prefix, std::int64_t intermediate, bool gated,
                             const HfMlpModules& modules) {
  if (!modules.fused_gate_up.empty()) {
    return {{(gated ? 2 : 1) * intermediate, {prefix + modules.fused_gate_up}}};
  }
  std::vector<HfPart> parts;
  if (gated) parts.push_back({intermediate, {prefix + modules.gate}});
  parts.push_back({intermediate, {prefix + modules.up}});
  return parts;
}

}  // namespace

HfGqa read_gqa(const HfObject& config, const HfGqaDefaults& defaults) {
  const auto or_default = [&](const char* key, HfRange range, std::int64_t value) {
    const auto found = config.optional_integer(key, range);
    return found || value == 0 ? found : std::optional(value);
  };
  HfGqa gqa;
  gqa.heads = defaults.heads > 0
                  ? config.integer_or("num_attention_heads", defaults.heads, kHeadCount)
                  : config.integer("num_attention_heads", kHeadCount);
  gqa.kv_heads =
      or_default("num_key_value_heads", kHeadCount, defaults.kv_heads).value_or(gqa.heads);
  const auto head_dim = or_default("head_dim", kHeadDim, defaults.head_dim);
  const std::int64_t hidden = config.integer("hidden_size", kWidth);
  if (!head_dim && hidden % gqa.heads != 0) {
    config.fail("head_dim", "missing, and hidden_size " + std::to_string(hidden) +
                                " is not a multiple of num_attention_heads " +
                                std::to_string(gqa.heads));
  }
  gqa.head_dim = head_dim.value_or(hidden / gqa.heads);
  gqa.v_head_dim = gqa.head_dim;
  if (gqa.heads % gqa.kv_heads != 0) {
    config.fail("num_key_value_heads", "found " + std::to_string(gqa.kv_heads) +
                                           "; allowed: a divisor of num_attention_heads " +
                                           std::to_string(gqa.heads));
  }
  return gqa;
}

void norm_each_head(HfGqa& gqa) {
  gqa.qk_norm = true;
  gqa.qk_norm_elements = 2 * gqa.head_dim;
}

void norm_all_heads(HfGqa& gqa) {
  gqa.qk_norm = true;
  gqa.qk_norm_elements = (gqa.heads + gqa.kv_heads) * gqa.head_dim;
}

void add_gqa(HfLayerBuilder& builder, const HfGqa& gqa) {
  const std::int64_t hidden = builder.model().spec.hidden;
  AttentionSpec& a = builder.layer.attention;
  a.kind = AttentionKind::gqa;
  a.heads = gqa.heads;
  a.kv_heads = gqa.kv_heads;
  a.head_dim = gqa.head_dim;
  a.v_head_dim = gqa.v_head_dim;
  a.window = gqa.window;
  a.qk_norm = gqa.qk_norm;
  a.sink = gqa.sink;
  a.output_gate = gqa.output_gate;

  const std::int64_t q_rows = gqa.heads * gqa.head_dim * (gqa.output_gate ? 2 : 1);
  const std::int64_t k_rows = gqa.kv_heads * gqa.head_dim;
  const std::int64_t v_rows = gqa.v_projection ? gqa.kv_heads * gqa.v_head_dim : 0;
  HfMatrix qkv{.name = "qkv", .parts = {}, .in = hidden, .shard = Shard::columns};
  if (gqa.fused_qkv_module.empty()) {
    qkv.parts = {{q_rows, {gqa.module + "q_proj"}}, {k_rows, {gqa.module + "k_proj"}}};
    if (gqa.v_projection) qkv.parts.push_back({v_rows, {gqa.module + "v_proj"}});
  } else {
    qkv.parts = {{q_rows + k_rows + v_rows, {gqa.module + gqa.fused_qkv_module}}};
  }
  if (gqa.qkv_bias) qkv.bias = q_rows + k_rows + v_rows;
  builder.add(qkv);
  builder.add({.name = "o",
               .parts = {{hidden, {gqa.module + gqa.o_module}}},
               .in = gqa.heads * gqa.v_head_dim,
               .shard = Shard::rows,
               .bias = gqa.o_bias ? hidden : 0});
  builder.add_vectors(gqa.qk_norm_elements + (gqa.sink ? gqa.heads : 0));
}

void add_convolution(HfLayerBuilder& builder, std::int64_t channels, std::int64_t kernel,
                     const std::string& module, bool bias) {
  builder.layer.attention.conv_channels = channels;
  builder.layer.attention.conv_kernel = kernel;
  builder.add_as(builder.model().quantization.base(), {.name = "linear_conv",
                                                       .parts = {{channels, {module}}},
                                                       .in = kernel,
                                                       .shard = Shard::columns,
                                                       .bias = bias ? channels : 0});
}

HfMoe read_moe(const HfObject& config, const char* experts_key, const char* top_k_key,
               const char* width_key) {
  HfMoe moe;
  moe.experts = config.integer(experts_key, kExpertCount);
  moe.experts_per_token = config.integer(top_k_key, {.minimum = 1, .maximum = moe.experts});
  moe.intermediate = config.integer(width_key, kWidth);
  return moe;
}

void add_dense_mlp(HfLayerBuilder& builder, std::int64_t intermediate, bool gated, bool bias,
                   const HfMlpModules& modules) {
  const std::int64_t hidden = builder.model().spec.hidden;
  MlpSpec& mlp = builder.layer.mlp;
  mlp.kind = MlpKind::dense;
  mlp.gated = gated;
  mlp.intermediate = intermediate;
  builder.add({.name = "gate_up",
               .parts = up_parts(modules.dense, intermediate, gated, modules),
               .in = hidden,
               .shard = Shard::columns,
               .bias = bias ? (gated ? 2 : 1) * intermediate : 0});
  builder.add({.name = "down",
               .parts = {{hidden, {modules.dense + modules.down}}},
               .in = intermediate,
               .shard = Shard::rows,
               .bias = bias ? hidden : 0});
}

void add_moe(HfLayerBuilder& builder, const HfMoe& moe, const HfMlpModules& modules) {
  const std::int64_t hidden = builder.model().spec.hidden;
  const std::int64_t up_rows = (moe.gated ? 2 : 1) * moe.intermediate;
  MlpSpec& mlp = builder.layer.mlp;
  mlp.kind = MlpKind::moe;
  mlp.gated = moe.gated;
  mlp.experts = moe.experts;
  mlp.experts_per_token = moe.experts_per_token;
  mlp.expert_intermediate = moe.intermediate;
  mlp.shared_intermediate = moe.shared_intermediate;
  mlp.hash_routed = moe.hash_routed;

  builder.add_as(builder.model().router_format, {.name = "router",
                                                 .parts = {{moe.experts, {modules.router}}},
                                                 .in = hidden,
                                                 .bias = moe.router_bias ? moe.experts : 0});
  builder.add({.name = "experts_gate_up",
               .parts = up_parts(modules.experts, moe.intermediate, moe.gated, modules),
               .in = hidden,
               .shard = Shard::experts,
               .copies = moe.experts,
               .bias = moe.expert_bias ? moe.experts * up_rows : 0,
               .expert = true});
  builder.add({.name = "experts_down",
               .parts = {{hidden, {modules.experts + modules.down}}},
               .in = moe.intermediate,
               .shard = Shard::experts,
               .copies = moe.experts,
               .bias = moe.expert_bias ? moe.experts * hidden : 0,
               .expert = true});
  if (moe.correction_bias) builder.add_vectors(moe.experts);
  if (moe.shared_intermediate == 0) return;

  HfMlpModules shared = modules;
  shared.fused_gate_up = modules.fused_shared_gate_up;
  builder.add({.name = "shared_gate_up",
               .parts = up_parts(modules.shared, moe.shared_intermediate, moe.gated, shared),
               .in = hidden,
               .shard = Shard::columns});
  builder.add({.name = "shared_down",
               .parts = {{hidden, {modules.shared + modules.down}}},
               .in = moe.shared_intermediate,
               .shard = Shard::rows});
  if (moe.shared_gate) {
    builder.add_as(builder.model().quantization.base(),
                   {.name = "shared_gate", .parts = {{1, {modules.shared_gate}}}, .in = hidden});
  }
}

}  // namespace smtwin
