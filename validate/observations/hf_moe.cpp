// SPDX-License-Identifier: Apache-2.0
// Families of GQA attention and experts whose files use names of their own: Ling and Ring
// (bailing_moe), ERNIE 4.5, K-EXAONE, Granite 3 MoE, Hunyuan, OLMoE, Phi-3.5-MoE.
// Sources: the modelling files of these names in vLLM and transformers.
#include <algorithm>

#include "validate/observations/hf_builder.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kNormsPerLayer = 2;

// Experts in a layer, or the dense MLP of `intermediate_size`.
void finish_layer(HfLayerBuilder& builder, bool experts, const HfMoe& moe, bool bias,
                  const HfMlpModules& modules = {}) {
  HfModel& model = builder.model();
  if (experts) {
    add_moe(builder, moe, modules);
  } else {
    add_dense_mlp(builder, model.config.integer("intermediate_size", kWidth), true, bias, modules);
  }
  builder.add_vectors(kNormsPerLayer * model.spec.hidden);
  model.spec.layers.push_back(std::move(builder.layer));
}

HfMlpModules block_sparse_modules() {
  HfMlpModules modules;
  modules.router = "block_sparse_moe.gate";
  modules.experts = "block_sparse_moe.experts.0.";
  modules.gate = "w1";
  modules.up = "w3";
  modules.down = "w2";
  return modules;
}

}  // namespace

void read_bailing(HfModel& model) {
  const HfObject& config = model.config;
  if (config.boolean_or("use_bias", false)) config.not_modelled("use_bias", "false");
  HfGqa gqa = read_gqa(config);
  gqa.qkv_bias = config.boolean_or("use_qkv_bias", false);
  gqa.module = "attention.";
  gqa.fused_qkv_module = "query_key_value";
  gqa.o_module = "dense";
  if (config.boolean_or("use_qk_norm", false)) norm_each_head(gqa);
  if (config.optional_text("router_dtype") == "fp32") model.router_format = NumberFormat::fp32;
  HfMoe moe = read_moe(config, "num_experts");
  const std::int64_t shared = config.integer("num_shared_experts", kSmallCount);
  moe.shared_intermediate =
      shared * config.integer_or("moe_shared_expert_intermediate_size", moe.intermediate, kWidth);
  moe.correction_bias = config.boolean_or("moe_router_enable_expert_bias", false);
  const std::int64_t dense_layers = config.integer("first_k_dense_replace", kSmallCount);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    add_gqa(builder, gqa);
    finish_layer(builder, i >= dense_layers, moe, false);
  }
}

void read_ernie(HfModel& model) {
  const HfObject& config = model.config;
  const bool experts = model.model_type == "ernie4_5_moe";
  const bool bias = config.boolean_or("use_bias", false);
  if (bias && experts) config.not_modelled("use_bias", "false");
  HfGqa gqa = read_gqa(config);
  gqa.qkv_bias = bias;
  gqa.o_bias = bias;
  HfMoe moe;
  std::int64_t first = model.layers;
  std::int64_t last = model.layers - 1;
  std::int64_t interval = 1;
  if (experts) {
    model.router_format = NumberFormat::fp32;
    moe = read_moe(config, "moe_num_experts", "moe_k");
    moe.shared_intermediate =
        config.integer("moe_num_shared_experts", kSmallCount) * moe.intermediate;
    moe.correction_bias = true;
    first = config.integer("moe_layer_start_index", kSmallCount);
    const std::int64_t end =
        config.integer_or("moe_layer_end_index", -1, {.minimum = -1, .maximum = 10'000});
    if (end >= 0) last = end;
    interval = config.integer_or("moe_layer_interval", 1, kLayerCount);
  }
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    add_gqa(builder, gqa);
    finish_layer(builder, i >= first && i <= last && (i + 1) % interval == 0, moe, bias);
  }
}

void read_exaone_moe(HfModel& model) {
  const HfObject& config = model.config;
  HfGqa gqa = read_gqa(config);
  norm_each_head(gqa);
  HfMoe moe = read_moe(config, "num_experts");
  moe.shared_intermediate = config.integer("num_shared_experts", kSmallCount) * moe.intermediate;
  moe.correction_bias = true;
  const std::vector<bool> sparse = read_expert_layers(model, 1);
  const std::vector<std::int64_t> windows =
      read_periodic_windows(model, config.integer("sliding_window", kTokens), 4);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    HfLayerBuilder builder(model, i);
    gqa.window = windows[at];
    add_gqa(builder, gqa);
    finish_layer(builder, sparse[at], moe, false);
  }
}

void read_granite_moe(HfModel& model) {
  const HfObject& config = model.config;
  HfGqa gqa = read_gqa(config);
  gqa.qkv_bias = config.boolean_or("attention_bias", false);
  gqa.o_bias = gqa.qkv_bias;
  const HfMoe moe =
      read_moe(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  HfMlpModules modules;
  modules.router = "block_sparse_moe.router.layer";
  modules.experts = "block_sparse_moe.";
  modules.fused_gate_up = "input_linear";
  modules.down = "output_linear";
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    add_gqa(builder, gqa);
    finish_layer(builder, true, moe, false, modules);
  }
}

// Hunyuan states what may differ by layer as one number or as a list.
void read_hunyuan(HfModel& model) {
  const HfObject& config = model.config;
  if (config.boolean_or("use_cla", false)) config.not_modelled("use_cla", "false");
  if (config.boolean_or("attention_bias", false)) config.not_modelled("attention_bias", "false");
  if (config.integer_or("moe_layer_num_skipped", 0, kSmallCount) != 0) {
    config.not_modelled("moe_layer_num_skipped", "0");
  }
  if (!config.boolean_or("use_mixed_mlp_moe", true)) {
    config.not_modelled("use_mixed_mlp_moe", "true");
  }
  HfGqa gqa = read_gqa(config, {.head_dim = config.integer_or("attention_head_dim", 0, kHeadDim)});
  if (config.boolean_or("use_qk_norm", true)) norm_each_head(gqa);
  const std::int64_t shared_width = config.integer("intermediate_size", kWidth);
  const auto experts = read_layer_values(model, "num_experts", kExpertCount);
  const auto chosen = read_layer_values(model, "moe_topk", kExpertCount);
  const auto widths = read_layer_values(model, "moe_intermediate_size", kWidth);
  const auto shared = read_layer_values(model, "num_shared_expert", kSmallCount);
  HfMlpModules modules;
  modules.router = "mlp.gate.wg";
  modules.shared = "mlp.shared_mlp.";
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (chosen[at] > experts[at]) {
      config.fail("moe_topk", "found " + std::to_string(chosen[at]) + " for layer " +
                                  std::to_string(i) + "; allowed: up to num_experts " +
                                  std::to_string(experts[at]));
    }
    HfMoe moe;
    moe.experts = experts[at];
    moe.experts_per_token = chosen[at];
    moe.intermediate = widths[at];
    moe.shared_intermediate = shared[at] * shared_width;
    HfLayerBuilder builder(model, i);
    add_gqa(builder, gqa);
    finish_layer(builder, true, moe, false, modules);
  }
}

void read_olmoe(HfModel& model) {
  const HfObject& config = model.config;
  HfGqa gqa = read_gqa(config);
  gqa.qkv_bias = config.boolean_or("attention_bias", false);
  gqa.o_bias = gqa.qkv_bias;
  norm_all_heads(gqa);
  const HfMoe moe = read_moe(config, "num_experts", "num_experts_per_tok", "intermediate_size");
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    add_gqa(builder, gqa);
    finish_layer(builder, true, moe, false);
  }
}

void read_phimoe(HfModel& model) {
  const HfObject& config = model.config;
  HfGqa gqa = read_gqa(config);
  gqa.qkv_bias = config.boolean_or("attention_bias", false);
  gqa.o_bias = gqa.qkv_bias;
  const HfMoe moe =
      read_moe(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  std::vector<std::int64_t> windows =
      read_windows(model, config.integer_or("sliding_window", 0, kTokens));
  const HfMlpModules modules = block_sparse_modules();
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    const std::int64_t window = windows[static_cast<std::size_t>(i)];
    gqa.window = window < model.spec.max_context ? window : 0;
    add_gqa(builder, gqa);
    builder.add_vectors(kNormsPerLayer * model.spec.hidden);  // LayerNorm: biases too
    finish_layer(builder, true, moe, false, modules);
  }
  model.spec.vector_parameters += model.spec.hidden;
  if (config.boolean_or("lm_head_bias", false)) model.spec.lm_head.bias = model.spec.vocabulary;
}

}  // namespace smtwin
