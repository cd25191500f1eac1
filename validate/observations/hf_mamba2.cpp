// SPDX-License-Identifier: Apache-2.0
// Hybrids of Mamba-2, which keeps a fixed state per sequence instead of a cache, and GQA in a few
// layers: Nemotron-H (one block a layer) and Granite 4 (a Mamba or attention block and an MLP).
// Shapes: the public model sources in transformers. Modelled as projections, convolution, state.
#include "validate/observations/hf_builder.hpp"

namespace smtwin {
namespace {

struct Mamba2 {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t groups = 0;
  std::int64_t state = 0;
  std::int64_t kernel = 0;
  bool projection_bias = false;
  bool convolution_bias = true;
  NumberFormat state_format = NumberFormat::fp32;
  std::string module;
};

void add_mamba2(HfLayerBuilder& builder, const Mamba2& m) {
  const std::int64_t hidden = builder.model().spec.hidden;
  const std::int64_t inner = m.heads * m.head_dim;
  const std::int64_t channels = inner + 2 * m.groups * m.state;
  AttentionSpec& a = builder.layer.attention;
  a.kind = AttentionKind::mamba2;
  a.key_heads = m.groups;
  a.value_heads = m.heads;
  a.key_dim = m.state;
  a.value_dim = m.head_dim;
  a.output_gate = true;
  a.state_format = m.state_format;

  const std::int64_t rows = inner + channels + m.heads;  // gate; x, B, C; dt
  builder.add({.name = "linear_in",
               .parts = {{rows, {m.module + "in_proj"}}},
               .in = hidden,
               .shard = Shard::columns,
               .bias = m.projection_bias ? rows : 0});
  add_convolution(builder, channels, m.kernel, m.module + "conv1d", m.convolution_bias);
  builder.add({.name = "linear_out",
               .parts = {{hidden, {m.module + "out_proj"}}},
               .in = inner,
               .shard = Shard::rows,
               .bias = m.projection_bias ? hidden : 0});
  builder.add_vectors(3 * m.heads + inner);  // A_log, D, dt_bias, norm of the output
}

HfGqa read_attention(const HfObject& config, const std::string& module) {
  HfGqa gqa = read_gqa(config);
  gqa.qkv_bias = config.boolean_or("attention_bias", false);
  gqa.o_bias = gqa.qkv_bias;
  gqa.module = module;
  return gqa;
}

Mamba2 read_nemotron_mamba(const HfObject& config) {
  Mamba2 m;
  m.heads = config.integer("mamba_num_heads", kHeadCount);
  m.head_dim = config.integer("mamba_head_dim", kHeadDim);
  m.groups = config.integer("n_groups", kHeadCount);
  m.state = config.integer("ssm_state_size", kHeadDim);
  m.kernel = config.integer("conv_kernel", kKernel);
  m.projection_bias = config.boolean_or("mamba_proj_bias", config.boolean_or("use_bias", false));
  m.convolution_bias = config.boolean_or("use_conv_bias", true);
  m.state_format = read_dtype(config, "mamba_ssm_cache_dtype").value_or(NumberFormat::fp32);
  m.module = "mixer.";
  return m;
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

Mamba2 read_granite_mamba(const HfObject& config) {
  Mamba2 m;
  m.heads = config.integer("mamba_n_heads", kHeadCount);
  m.head_dim = config.integer("mamba_d_head", kHeadDim);
  m.groups = config.integer("mamba_n_groups", kHeadCount);
  m.state = config.integer("mamba_d_state", kHeadDim);
  m.kernel = config.integer("mamba_d_conv", kKernel);
  m.projection_bias = config.boolean_or("mamba_proj_bias", false);
  m.convolution_bias = config.boolean_or("mamba_conv_bias", true);
  m.module = "mamba.";
  return m;
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
      add_mamba2(builder, read_nemotron_mamba(config));
    } else if (kind == '*') {
      add_gqa(builder, read_attention(config, "mixer."));
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

void read_granite_hybrid(HfModel& model) {
  const HfObject& config = model.config;
  const auto types = config.optional_texts("layer_types");
  if (!types || static_cast<std::int64_t>(types->size()) < model.layers) {
    config.fail("layer_types", "found " + std::to_string(types ? types->size() : 0) +
                                   " entries; needed: \"mamba\" or \"attention\" for each of the " +
                                   std::to_string(model.layers) + " layers (num_hidden_layers)");
  }
  HfMlpModules modules;
  modules.dense = "shared_mlp.";
  modules.shared = "shared_mlp.";
  modules.router = "block_sparse_moe.router.layer";
  modules.experts = "block_sparse_moe.";
  modules.fused_gate_up = "input_linear";
  modules.fused_shared_gate_up = "input_linear";
  modules.down = "output_linear";
  const std::int64_t shared = config.integer("shared_intermediate_size", kWidth);
  const bool experts = config.integer_or("num_local_experts", 0, kSmallCount) > 0;
  HfMoe moe;
  if (experts) {
    moe = read_moe(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
    moe.shared_intermediate = shared;
  }
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    const std::string& type = (*types)[static_cast<std::size_t>(i)];
    if (type == "mamba") {
      add_mamba2(builder, read_granite_mamba(config));
    } else if (type == "attention") {
      add_gqa(builder, read_attention(config, "self_attn."));
    } else {
      config.fail("layer_types", "type \"" + type.substr(0, 40) + "\" of layer " +
                                     std::to_string(i) +
                                     " is not modelled; modelled: mamba, attention");
    }
    if (experts) {
      add_moe(builder, moe, modules);
    } else {
      add_dense_mlp(builder, shared, true, false, modules);
    }
    builder.add_vectors(2 * model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
}

}  // namespace smtwin
