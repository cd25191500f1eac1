// SPDX-License-Identifier: Apache-2.0
// Families that mix sliding-window and full attention in their own ways: gpt-oss (sinks, biases
// everywhere), Llama-4 (chunks, shared expert), Gemma-4 (wider heads in full layers, a dense MLP
// beside the experts), MiMo-V2 (other head counts in window layers, V narrower than K).
#include <algorithm>

#include "validate/observations/hf_builder.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kNormsPerLayer = 2;

// Llama-4 without layer_types: layers without RoPE (every fourth) see all tokens.
std::vector<std::int64_t> llama4_windows(const HfModel& model) {
  const HfObject& config = model.config;
  const std::int64_t chunk = config.integer_or("attention_chunk_size", 0, kTokens);
  std::vector<std::int64_t> windows = read_windows(model, chunk);
  if (config.has("layer_types")) return windows;
  const std::int64_t interval = config.integer_or("no_rope_layer_interval", 4, kLayerCount);
  std::vector<std::int64_t> rope(static_cast<std::size_t>(model.layers));
  for (std::int64_t i = 0; i < model.layers; ++i) {
    rope[static_cast<std::size_t>(i)] = (i + 1) % interval != 0 ? 1 : 0;
  }
  const auto listed = config.optional_integers("no_rope_layers", {.minimum = 0, .maximum = 1});
  if (listed && !listed->empty()) {
    rope = read_layer_list(model, "no_rope_layers", {.minimum = 0, .maximum = 1});
  }
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (rope[i] == 0) windows[i] = 0;
  }
  return windows;
}

// Which layers of Llama-4 have experts.
std::vector<bool> llama4_expert_layers(const HfModel& model) {
  std::vector<bool> sparse(static_cast<std::size_t>(model.layers), false);
  const HfRange index{.minimum = 0, .maximum = kLayerCount.maximum};
  if (const auto listed = model.config.optional_integers("moe_layers", index)) {
    for (const std::int64_t layer : *listed) {
      if (layer < model.layers) sparse[static_cast<std::size_t>(layer)] = true;
    }
    return sparse;
  }
  const std::int64_t step = model.config.integer_or("interleave_moe_layer_step", 1, kLayerCount);
  for (std::int64_t i = step - 1; i < model.layers; i += step) {
    sparse[static_cast<std::size_t>(i)] = true;
  }
  return sparse;
}

}  // namespace

void read_gpt_oss(HfModel& model) {
  const HfObject& config = model.config;
  HfGqa gqa = read_gqa(config);
  gqa.qkv_bias = config.boolean_or("attention_bias", true);
  gqa.o_bias = gqa.qkv_bias;
  gqa.sink = true;
  HfMoe moe = read_moe(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  moe.router_bias = true;
  moe.expert_bias = true;
  HfMlpModules modules;
  modules.router = "mlp.router";
  modules.experts = "mlp.experts.";
  modules.fused_gate_up = "gate_up_proj";
  const std::int64_t window = config.integer("sliding_window", kTokens);
  std::vector<std::int64_t> windows = read_windows(model, window);
  if (!config.has("layer_types")) {
    for (std::size_t i = 1; i < windows.size(); i += 2) windows[i] = 0;  // alternate, window first
  }
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    gqa.window = windows[static_cast<std::size_t>(i)];
    add_gqa(builder, gqa);
    add_moe(builder, moe, modules);
    builder.add_vectors(kNormsPerLayer * model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
  model.spec.active_includes_embedding = false;
  model.note("the active count leaves out the input embedding, as OpenAI's model card does");
}

void read_llama4(HfModel& model) {
  const HfObject& config = model.config;
  HfGqa gqa = read_gqa(config);
  gqa.qkv_bias = config.boolean_or("attention_bias", false);
  gqa.o_bias = gqa.qkv_bias;
  const bool qk_norm = config.boolean_or("use_qk_norm", false);  // without a weight vector
  HfMoe moe = read_moe(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  moe.shared_intermediate = moe.intermediate;
  HfMlpModules modules;
  modules.dense = "feed_forward.";
  modules.router = "feed_forward.router";
  modules.experts = "feed_forward.experts.";
  modules.shared = "feed_forward.shared_expert.";
  modules.fused_gate_up = "gate_up_proj";
  const std::vector<std::int64_t> windows = llama4_windows(model);
  const std::vector<bool> sparse = llama4_expert_layers(model);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    HfLayerBuilder builder(model, i);
    gqa.window = windows[at];
    gqa.qk_norm = qk_norm && (windows[at] > 0 || !config.has("attention_chunk_size"));
    add_gqa(builder, gqa);
    if (sparse[at]) {
      add_moe(builder, moe, modules);
    } else {
      HfMlpModules dense = modules;
      dense.fused_gate_up.clear();
      add_dense_mlp(builder, config.integer("intermediate_size_mlp", kWidth), true, false, dense);
    }
    builder.add_vectors(kNormsPerLayer * model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
  if (config.has("attention_chunk_size")) {
    model.note(
        "chunked attention is counted as a window of a whole chunk; a token sees half on average");
  }
}

void read_gemma4(HfModel& model) {
  const HfObject& config = model.config;
  for (const char* key : {"num_kv_shared_layers", "hidden_size_per_layer_input"}) {
    if (config.integer_or(key, 0, kOptionalWidth) != 0) config.not_modelled(key, "0");
  }
  if (config.boolean_or("use_double_wide_mlp", false))
    config.not_modelled("use_double_wide_mlp", "false");
  HfGqa local = read_gqa(config);
  local.qkv_bias = config.boolean_or("attention_bias", false);
  local.o_bias = local.qkv_bias;
  local.qk_norm = true;
  HfGqa global = local;
  if (!config.has("layer_types")) config.fail("layer_types", "missing; needed: a list of texts");
  global.head_dim = config.integer("global_head_dim", kHeadDim);
  global.v_head_dim = global.head_dim;
  if (config.boolean_or("attention_k_eq_v", false)) {
    // V is the projected K with another norm and no RoPE: no matrix of its own, but cached.
    global.v_projection = false;
    global.kv_heads = config.integer_or("num_global_key_value_heads", local.kv_heads, kHeadCount);
    if (global.heads % global.kv_heads != 0) {
      config.fail("num_global_key_value_heads", "found " + std::to_string(global.kv_heads) +
                                                    "; allowed: a divisor of num_attention_heads " +
                                                    std::to_string(global.heads));
    }
  }
  local.qk_norm_elements = 2 * local.head_dim;
  global.qk_norm_elements = 2 * global.head_dim;
  local.window = config.integer("sliding_window", kTokens);
  const std::vector<std::int64_t> windows = read_windows(model, local.window);
  const bool experts = config.boolean_or("enable_moe_block", false);
  HfMoe moe;
  if (experts) moe = read_moe(config, "num_experts", "top_k_experts");
  HfMlpModules modules;
  modules.router = "router.proj";
  modules.experts = "experts.";
  modules.fused_gate_up = "gate_up_proj";
  const std::int64_t intermediate = config.integer("intermediate_size", kWidth);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    add_gqa(builder, windows[static_cast<std::size_t>(i)] > 0 ? local : global);
    add_dense_mlp(builder, intermediate, true, false);
    if (experts) add_moe(builder, moe, modules);
    // Norms before and after attention and MLP; with experts three more and the router's scales.
    builder.add_vectors(4 * model.spec.hidden + 1);
    if (experts) builder.add_vectors(4 * model.spec.hidden + moe.experts);
    model.spec.layers.push_back(std::move(builder.layer));
  }
}

void read_mimo(HfModel& model) {
  const HfObject& config = model.config;
  const bool bias = config.boolean_or("attention_bias", false);
  HfGqa global = read_gqa(config);
  global.v_head_dim = config.integer_or("v_head_dim", global.head_dim, kHeadDim);
  global.qkv_bias = bias;
  global.sink = config.boolean_or("add_full_attention_sink_bias", false);
  HfGqa local = global;
  local.heads = config.integer_or("swa_num_attention_heads", global.heads, kHeadCount);
  local.kv_heads = config.integer_or("swa_num_key_value_heads", global.kv_heads, kHeadCount);
  local.head_dim = config.integer_or("swa_head_dim", global.head_dim, kHeadDim);
  local.v_head_dim = config.integer_or("swa_v_head_dim", global.v_head_dim, kHeadDim);
  local.sink = config.boolean_or("add_swa_attention_sink_bias", false);
  if (local.heads % local.kv_heads != 0) {
    config.fail("swa_num_key_value_heads", "found " + std::to_string(local.kv_heads) +
                                               "; allowed: a divisor of swa_num_attention_heads " +
                                               std::to_string(local.heads));
  }
  local.window = config.has("sliding_window_size") ? config.integer("sliding_window_size", kTokens)
                                                   : config.integer("sliding_window", kTokens);
  const HfRange flag{.minimum = 0, .maximum = 1};
  const std::vector<std::int64_t> sliding = read_layer_list(model, "hybrid_layer_pattern", flag);
  const std::vector<std::int64_t> sparse = read_layer_list(model, "moe_layer_freq", flag);
  if (config.integer_or("n_shared_experts", 0, kSmallCount) != 0)
    config.not_modelled("n_shared_experts", "0, null");
  model.router_format = NumberFormat::fp32;
  HfMoe moe = read_moe(config, "n_routed_experts");
  moe.correction_bias = true;
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    HfLayerBuilder builder(model, i);
    add_gqa(builder, sliding[at] == 1 ? local : global);
    if (sparse[at] == 1) {
      add_moe(builder, moe);
    } else {
      add_dense_mlp(builder, config.integer("intermediate_size", kWidth), true, false);
    }
    builder.add_vectors(kNormsPerLayer * model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
}

}  // namespace smtwin
