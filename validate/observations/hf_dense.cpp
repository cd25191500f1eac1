// SPDX-License-Identifier: Apache-2.0
// Dense families with GQA attention that differ from Llama in norms, biases or windows: Command R,
// EXAONE 4, Gemma 1 to 3, GLM-4, Granite 3, OLMo 2 and 3, Seed-OSS, SmolLM3. Which sizes a file
// states is the same for all; the table says what each family's public code adds.
// Sources: the modelling files of these names in transformers; Command R+ norms in vLLM.
// Left out: soft caps, multipliers and RoPE variants, which have no weights and little time.
#include <map>

#include "validate/observations/hf_builder.hpp"

namespace smtwin {
namespace {

enum class QkNorm { none, each_head, all_heads, all_heads_behind_flag };
enum class Window { none, required, optional };

struct DenseFamily {
  QkNorm qk_norm = QkNorm::none;
  std::int64_t norms_per_layer = 2;  // vectors of the hidden size
  Window window = Window::none;
  std::int64_t full_every = 1;  // of the layers, see read_periodic_windows()
  bool fused_gate_up = false;
  const char* o_bias_key = "attention_bias";  // "" = never
};

const DenseFamily& family_of(const std::string& model_type) {
  static const std::map<std::string, DenseFamily> kFamilies{
      // One norm feeds attention and MLP, which run side by side.
      {"cohere", {.qk_norm = QkNorm::all_heads_behind_flag, .norms_per_layer = 1}},
      {"cohere2", {.norms_per_layer = 1, .window = Window::required, .full_every = 4}},
      {"exaone4", {.qk_norm = QkNorm::each_head, .window = Window::optional, .full_every = 4}},
      {"gemma", {}},
      {"gemma2", {.norms_per_layer = 4, .window = Window::required, .full_every = 2}},
      {"gemma3_text",
       {.qk_norm = QkNorm::each_head,
        .norms_per_layer = 4,
        .window = Window::required,
        .full_every = 6}},
      {"glm", {.fused_gate_up = true, .o_bias_key = ""}},
      {"glm4", {.norms_per_layer = 4, .fused_gate_up = true, .o_bias_key = ""}},
      {"glm4v_text", {.norms_per_layer = 4, .fused_gate_up = true, .o_bias_key = ""}},
      {"granite", {}},
      {"olmo2", {.qk_norm = QkNorm::all_heads}},
      {"olmo3", {.qk_norm = QkNorm::all_heads, .window = Window::required, .full_every = 4}},
      {"seed_oss", {.o_bias_key = "attention_out_bias"}},
      {"smollm3", {}},
  };
  return kFamilies.at(model_type);
}

std::vector<std::int64_t> windows_of(const HfModel& model, const DenseFamily& family) {
  const HfObject& config = model.config;
  if (family.window == Window::none) {
    if (config.boolean_or("use_sliding_window", false)) {
      config.not_modelled("use_sliding_window", "false");
    }
    return read_windows(model, 0);
  }
  const std::int64_t window = family.window == Window::required
                                  ? config.integer("sliding_window", kTokens)
                                  : config.integer_or("sliding_window", 0, kTokens);
  return read_periodic_windows(model, window, family.full_every);
}

}  // namespace

void read_more_dense(HfModel& model) {
  const HfObject& config = model.config;
  const DenseFamily& family = family_of(model.model_type);
  // Published Gemma-3 files leave out what equals the defaults of its class in transformers.
  HfGqaDefaults defaults;
  if (model.model_type == "gemma3_text") defaults = {.heads = 8, .kv_heads = 4, .head_dim = 256};
  HfGqa gqa = read_gqa(config, defaults);
  gqa.qkv_bias = config.boolean_or("attention_bias", false);
  gqa.o_bias = family.o_bias_key[0] != '\0' && config.boolean_or(family.o_bias_key, false);
  if (family.qk_norm == QkNorm::each_head) norm_each_head(gqa);
  const bool all_heads =
      family.qk_norm == QkNorm::all_heads ||
      (family.qk_norm == QkNorm::all_heads_behind_flag && config.boolean_or("use_qk_norm", false));
  if (all_heads) norm_all_heads(gqa);
  HfMlpModules modules;
  if (family.fused_gate_up) modules.fused_gate_up = "gate_up_proj";
  const std::int64_t intermediate = config.integer("intermediate_size", kWidth);
  const bool mlp_bias = config.boolean_or("mlp_bias", false);
  const std::vector<std::int64_t> windows = windows_of(model, family);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    gqa.window = windows[static_cast<std::size_t>(i)];
    add_gqa(builder, gqa);
    add_dense_mlp(builder, intermediate, true, mlp_bias, modules);
    builder.add_vectors(family.norms_per_layer * model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
}

}  // namespace smtwin
