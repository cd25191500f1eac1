// SPDX-License-Identifier: Apache-2.0
// Hybrids that keep a fixed state per sequence in most layers instead of a cache: gated delta rule
// (Qwen3-Next, Qwen3.5) and Mamba-2 (Nemotron-H), between some layers of GQA attention.
// Shapes: the public model sources in transformers. Modelled as projections, convolution, state.
#include "validate/observations/hf_builder.hpp"

namespace smtwin {
namespace {

constexpr HfRange kKernel{.minimum = 1, .maximum = 1'024};

// A depthwise convolution over the last few tokens of each channel.
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

struct GatedDelta {
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t kernel = 0;
  NumberFormat state = NumberFormat::fp32;
};

GatedDelta read_shape(const HfObject& config) {
  GatedDelta g;
  g.key_heads = config.integer("linear_num_key_heads", kHeadCount);
  g.value_heads = config.integer("linear_num_value_heads", kHeadCount);
  g.key_dim = config.integer("linear_key_head_dim", kHeadDim);
  g.value_dim = config.integer("linear_value_head_dim", kHeadDim);
  g.kernel = config.integer("linear_conv_kernel_dim", kKernel);
  g.state = read_dtype(config, "mamba_ssm_dtype").value_or(NumberFormat::fp32);
  if (g.value_heads % g.key_heads != 0) {
    config.fail("linear_num_value_heads", "found " + std::to_string(g.value_heads) +
                                              "; allowed: a multiple of linear_num_key_heads " +
                                              std::to_string(g.key_heads));
  }
  return g;
}

void add_gated_delta(HfLayerBuilder& builder, const GatedDelta& g) {
  const std::int64_t hidden = builder.model().spec.hidden;
  const std::int64_t keys = g.key_heads * g.key_dim;
  const std::int64_t values = g.value_heads * g.value_dim;
  AttentionSpec& a = builder.layer.attention;
  a.kind = AttentionKind::gated_delta;
  a.key_heads = g.key_heads;
  a.value_heads = g.value_heads;
  a.key_dim = g.key_dim;
  a.value_dim = g.value_dim;
  a.state_format = g.state;
  a.output_gate = true;

  // Q, K, V and the output gate z; then the decay a and the write strength b of each value head.
  HfMatrix in{.name = "linear_in", .parts = {}, .in = hidden, .shard = Shard::columns};
  if (builder.model().model_type.rfind("qwen3_next", 0) == 0) {
    in.parts = {{2 * keys + 2 * values, {"linear_attn.in_proj_qkvz"}},
                {2 * g.value_heads, {"linear_attn.in_proj_ba"}}};
  } else {
    in.parts = {{2 * keys + values, {"linear_attn.in_proj_qkv"}},
                {values, {"linear_attn.in_proj_z"}},
                {g.value_heads, {"linear_attn.in_proj_b"}},
                {g.value_heads, {"linear_attn.in_proj_a"}}};
  }
  builder.add(in);
  add_convolution(builder, 2 * keys + values, g.kernel, "linear_attn.conv1d", false);
  builder.add({.name = "linear_out",
               .parts = {{hidden, {"linear_attn.out_proj"}}},
               .in = values,
               .shard = Shard::rows});
  builder.add_vectors(2 * g.value_heads + g.value_dim);  // A_log, dt_bias, norm of the output
}

// True where a layer is linear attention.
std::vector<bool> linear_layers(const HfModel& model) {
  const HfObject& config = model.config;
  std::vector<bool> linear(static_cast<std::size_t>(model.layers));
  if (const auto types = config.optional_texts("layer_types")) {
    read_windows(model, 0);  // complains about unknown types and a short list
    for (std::size_t i = 0; i < linear.size(); ++i) linear[i] = (*types)[i] == "linear_attention";
    return linear;
  }
  const std::int64_t interval = config.integer("full_attention_interval", kLayerCount);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    linear[static_cast<std::size_t>(i)] = (i + 1) % interval != 0;
  }
  return linear;
}

}  // namespace

void read_gated_delta(HfModel& model) {
  const HfObject& config = model.config;
  HfGqa gqa = read_gqa(config);
  gqa.qkv_bias = config.boolean_or("attention_bias", false);
  gqa.o_bias = gqa.qkv_bias;
  gqa.output_gate = config.boolean_or("attn_output_gate", true);
  gqa.qk_norm = true;
  gqa.qk_norm_elements = 2 * gqa.head_dim;
  const GatedDelta shape = read_shape(config);
  const std::vector<bool> linear = linear_layers(model);
  const std::vector<bool> sparse = qwen_expert_layers(model);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    HfLayerBuilder builder(model, i);
    if (linear[at]) {
      add_gated_delta(builder, shape);
    } else {
      add_gqa(builder, gqa);
    }
    add_qwen_mlp(builder, sparse[at]);
    builder.add_vectors(2 * model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
}

namespace {

void add_mamba2(HfLayerBuilder& builder) {
  HfModel& model = builder.model();
  const HfObject& config = model.config;
  const std::int64_t heads = config.integer("mamba_num_heads", kHeadCount);
  const std::int64_t head_dim = config.integer("mamba_head_dim", kHeadDim);
  const std::int64_t groups = config.integer("n_groups", kHeadCount);
  const std::int64_t state = config.integer("ssm_state_size", kHeadDim);
  const std::int64_t inner = heads * head_dim;
  const std::int64_t channels = inner + 2 * groups * state;
  const bool bias = config.boolean_or("mamba_proj_bias", config.boolean_or("use_bias", false));
  AttentionSpec& a = builder.layer.attention;
  a.kind = AttentionKind::mamba2;
  a.key_heads = groups;
  a.value_heads = heads;
  a.key_dim = state;
  a.value_dim = head_dim;
  a.output_gate = true;
  a.state_format = read_dtype(config, "mamba_ssm_cache_dtype").value_or(NumberFormat::fp32);

  const std::int64_t rows = inner + channels + heads;  // gate; x, B, C; dt
  builder.add({.name = "linear_in",
               .parts = {{rows, {"mixer.in_proj"}}},
               .in = model.spec.hidden,
               .shard = Shard::columns,
               .bias = bias ? rows : 0});
  add_convolution(builder, channels, config.integer("conv_kernel", kKernel), "mixer.conv1d",
                  config.boolean_or("use_conv_bias", true));
  builder.add({.name = "linear_out",
               .parts = {{model.spec.hidden, {"mixer.out_proj"}}},
               .in = inner,
               .shard = Shard::rows,
               .bias = bias ? model.spec.hidden : 0});
  builder.add_vectors(3 * heads + inner);  // A_log, D, dt_bias, norm of the output
}

void add_nemotron_experts(HfLayerBuilder& builder, const HfMlpModules& modules) {
  const HfObject& config = builder.model().config;
  if (config.has("moe_latent_size")) config.not_modelled("moe_latent_size", "null");
  HfMoe moe = read_moe(config, "n_routed_experts");
  moe.gated = false;
  moe.correction_bias = true;
  if (config.integer_or("n_shared_experts", 0, kSmallCount) > 0) {
    moe.shared_intermediate = config.integer("moe_shared_expert_intermediate_size", kWidth);
  }
  add_moe(builder, moe, modules);
}

}  // namespace

void read_nemotron_h(HfModel& model) {
  const HfObject& config = model.config;
  model.layer_prefixes = {"backbone.layers.", "model.layers."};
  model.router_format = NumberFormat::fp32;
  const std::string pattern = config.text("hybrid_override_pattern");
  if (static_cast<std::int64_t>(pattern.size()) < model.layers) {
    config.fail("hybrid_override_pattern", "found " + std::to_string(pattern.size()) +
                                               " letters; needed: one for each of the " +
                                               std::to_string(model.layers) +
                                               " layers (num_hidden_layers)");
  }
  const std::string activation = config.optional_text("mlp_hidden_act").value_or("relu2");
  if (activation != "relu2") config.not_modelled("mlp_hidden_act", "\"relu2\"");
  HfMlpModules modules;
  modules.dense = "mixer.";
  modules.router = "mixer.gate";
  modules.experts = "mixer.experts.0.";
  modules.shared = "mixer.shared_experts.";
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    const char kind = pattern[static_cast<std::size_t>(i)];
    if (kind == 'M') {
      add_mamba2(builder);
    } else if (kind == '*') {
      HfGqa gqa = read_gqa(config);
      gqa.qkv_bias = config.boolean_or("attention_bias", false);
      gqa.o_bias = gqa.qkv_bias;
      gqa.module = "mixer.";
      add_gqa(builder, gqa);
    } else if (kind == 'E') {
      add_nemotron_experts(builder, modules);
    } else if (kind == '-') {
      add_dense_mlp(builder, config.integer("intermediate_size", kWidth), false,
                    config.boolean_or("mlp_bias", false), modules);
    } else {
      config.fail("hybrid_override_pattern",
                  "letter " + std::to_string(i) +
                      " is none of M (Mamba-2), * (attention), E (experts), - (MLP)");
    }
    builder.add_vectors(model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
}

}  // namespace smtwin
