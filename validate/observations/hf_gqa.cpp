// SPDX-License-Identifier: Apache-2.0
// Families with plain GQA attention and nothing unusual: Llama, Mistral, Qwen2, Qwen3, Phi-3
// (dense); Qwen2-MoE, Qwen3-MoE, GLM-4.5, dots.llm1, Mixtral, MiniMax-M2 (experts); and the
// decoders of their vision models. What differs is where biases and norms of Q and K are, which
// layers have experts, and what the modules are called.
#include <algorithm>

#include "validate/observations/hf_builder.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kNormsPerLayer = 2;  // before attention and before the MLP

// Qwen configs carry a window that only use_sliding_window turns on, for the last layers.
std::vector<std::int64_t> sliding_windows(const HfModel& model, bool behind_flag) {
  const HfObject& config = model.config;
  std::int64_t window = config.integer_or("sliding_window", 0, kTokens);
  if (behind_flag && !config.boolean_or("use_sliding_window", false)) window = 0;
  std::vector<std::int64_t> windows = read_windows(model, window);
  if (behind_flag && window > 0 && !config.has("layer_types")) {
    const std::int64_t full =
        std::min(model.layers, config.integer("max_window_layers", kSmallCount));
    std::fill_n(windows.begin(), full, 0);
  }
  for (std::int64_t& w : windows) {
    if (w >= model.spec.max_context) w = 0;
  }
  return windows;
}

bool is_of(const HfModel& model, const char* family) {
  return model.model_type.rfind(family, 0) == 0;
}

}  // namespace

// Experts in layers decoder_sparse_step - 1, 2 decoder_sparse_step - 1, ... but mlp_only_layers.
std::vector<bool> qwen_expert_layers(const HfModel& model) {
  const HfObject& config = model.config;
  std::vector<bool> sparse(static_cast<std::size_t>(model.layers), false);
  if (!config.has("num_experts")) return sparse;
  const HfRange index{.minimum = 0, .maximum = kLayerCount.maximum};
  const std::int64_t step = config.integer_or("decoder_sparse_step", 1, kLayerCount);
  for (std::int64_t i = step - 1; i < model.layers; i += step) {
    sparse[static_cast<std::size_t>(i)] = true;
  }
  for (const std::int64_t layer :
       config.optional_integers("mlp_only_layers", index).value_or(std::vector<std::int64_t>{})) {
    if (layer < model.layers) sparse[static_cast<std::size_t>(layer)] = false;
  }
  return sparse;
}

void add_qwen_mlp(HfLayerBuilder& builder, bool experts) {
  const HfObject& config = builder.model().config;
  if (!experts) {
    add_dense_mlp(builder, config.integer("intermediate_size", kWidth), true, false);
    return;
  }
  HfMoe moe = read_moe(config, "num_experts");
  moe.shared_intermediate = config.integer_or("shared_expert_intermediate_size", 0, kOptionalWidth);
  moe.shared_gate = moe.shared_intermediate > 0;
  HfMlpModules modules;
  modules.shared = "mlp.shared_expert.";
  add_moe(builder, moe, modules);
}

void read_gqa_dense(HfModel& model) {
  const HfObject& config = model.config;
  HfGqa gqa = read_gqa(config);
  const bool bias = config.boolean_or("attention_bias", false);
  gqa.qkv_bias = bias || is_of(model, "qwen2");
  gqa.o_bias = bias;
  if (is_of(model, "qwen3")) norm_each_head(gqa);
  HfMlpModules modules;
  if (model.model_type == "phi3") {
    gqa.fused_qkv_module = "qkv_proj";
    modules.fused_gate_up = "gate_up_proj";
  }
  const bool mlp_bias = config.boolean_or("mlp_bias", false);
  const std::int64_t intermediate = config.integer("intermediate_size", kWidth);
  const bool windowed = model.model_type != "llama";
  const std::vector<std::int64_t> windows =
      windowed ? sliding_windows(model, is_of(model, "qwen")) : read_windows(model, 0);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    gqa.window = windows[static_cast<std::size_t>(i)];
    add_gqa(builder, gqa);
    add_dense_mlp(builder, intermediate, true, mlp_bias, modules);
    builder.add_vectors(kNormsPerLayer * model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
}

void read_gqa_moe(HfModel& model) {
  const HfObject& config = model.config;
  const bool vision_glm = model.model_type == "glm4v_moe_text";  // never norms Q and K
  const bool glm = model.model_type == "glm4_moe" || vision_glm;
  const bool dots = model.model_type == "dots1";
  HfGqa gqa = read_gqa(config);
  const bool bias =
      config.boolean_or("attention_bias", model.model_type == "qwen2_moe" || vision_glm);
  gqa.qkv_bias = bias;
  gqa.o_bias = bias && (is_of(model, "qwen3") || dots);
  if (is_of(model, "qwen3") || dots ||
      (glm && !vision_glm && config.boolean_or("use_qk_norm", false))) {
    norm_each_head(gqa);
  }
  if (glm) model.router_format = NumberFormat::fp32;
  if (dots && config.has("sliding_window")) config.not_modelled("sliding_window", "null");
  const std::vector<std::int64_t> windows = sliding_windows(model, true);
  const std::vector<bool> sparse = qwen_expert_layers(model);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    gqa.window = windows[static_cast<std::size_t>(i)];
    add_gqa(builder, gqa);
    if (!glm && !dots) {
      add_qwen_mlp(builder, sparse[static_cast<std::size_t>(i)]);
    } else if (i < config.integer("first_k_dense_replace", kSmallCount)) {
      add_dense_mlp(builder, config.integer("intermediate_size", kWidth), true, false);
    } else {
      HfMoe moe = read_moe(config, "n_routed_experts");
      moe.shared_intermediate =
          config.integer_or("n_shared_experts", 0, kSmallCount) * moe.intermediate;
      moe.correction_bias = true;
      add_moe(builder, moe);
    }
    builder.add_vectors(kNormsPerLayer * model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
}

void read_mixtral(HfModel& model) {
  const HfObject& config = model.config;
  const bool minimax = model.model_type == "minimax_m2";
  HfGqa gqa = read_gqa(config);
  HfMoe moe = read_moe(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  if (minimax) {
    model.router_format = NumberFormat::fp32;
    moe.correction_bias = config.boolean_or("use_routing_bias", false);
    if (config.boolean_or("use_qk_norm", false)) {
      // "per_layer": one vector over all heads, not one a head.
      const bool per_layer =
          config.optional_text("qk_norm_type").value_or("per_layer") == "per_layer";
      if (!per_layer) config.not_modelled("qk_norm_type", "\"per_layer\"");
      norm_all_heads(gqa);
    }
    if (config.integer_or("shared_intermediate_size", 0, kOptionalWidth) != 0) {
      config.not_modelled("shared_intermediate_size", "0");
    }
    if (config.has("attn_type_list")) {
      const auto types = read_layer_list(model, "attn_type_list", {.minimum = 0, .maximum = 9});
      if (std::any_of(types.begin(), types.end(), [](std::int64_t t) { return t != 1; })) {
        config.fail("attn_type_list", "only 1 (full attention) in every layer is modelled");
      }
    }
  }
  HfMlpModules modules;
  modules.router = "block_sparse_moe.gate";
  modules.experts = "block_sparse_moe.experts.0.";
  modules.gate = "w1";
  modules.up = "w3";
  modules.down = "w2";
  const std::vector<std::int64_t> windows = sliding_windows(model, false);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    gqa.window = windows[static_cast<std::size_t>(i)];
    add_gqa(builder, gqa);
    add_moe(builder, moe, modules);
    builder.add_vectors(kNormsPerLayer * model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
}

}  // namespace smtwin
