// SPDX-License-Identifier: Apache-2.0
// What the readers of the model families (hf_gqa.cpp, hf_mla.cpp, ...) share: the fields that every
// config.json has, and building a layer out of blocks (a matrix, a GQA attention, an MLP).
// Matrix names are a contract with the step model; data/SCHEMA.md lists them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model_spec.hpp"
#include "validate/observations/hf_json.hpp"
#include "validate/observations/hf_quantization.hpp"

namespace smtwin {

// Bounds of what is read: far above anything built, far below where products overflow.
inline constexpr HfRange kLayerCount{.minimum = 1, .maximum = 10'000};
inline constexpr HfRange kHeadCount{.minimum = 1, .maximum = 65'536};
inline constexpr HfRange kHeadDim{.minimum = 1, .maximum = 65'536};
inline constexpr HfRange kWidth{.minimum = 1, .maximum = 100'000'000};
inline constexpr HfRange kOptionalWidth{.minimum = 0, .maximum = 100'000'000};
inline constexpr HfRange kExpertCount{.minimum = 1, .maximum = 1'000'000};
inline constexpr HfRange kTokens{.minimum = 1, .maximum = 10'000'000'000};
inline constexpr HfRange kKernel{.minimum = 1, .maximum = 1'024};
inline constexpr HfRange kSmallCount{.minimum = 0, .maximum = 10'000};

struct HfModel {
  HfObject root;    // the whole config.json
  HfObject config;  // the part that describes the language model
  HfQuantization quantization;
  std::string model_type;
  std::int64_t layers = 0;
  // Where the checkpoint keeps layer N: every spelling of "model.layers." that lists may use.
  std::vector<std::string> layer_prefixes{"model.layers."};
  NumberFormat router_format = NumberFormat::bf16;
  ModelSpec spec;

  void note(const std::string& text);  // once
};

// Some of the output rows of a matrix, and the checkpoint modules that hold them: spellings
// relative to the layer, of which an ignore list may use any.
struct HfPart {
  std::int64_t rows = 0;
  std::vector<std::string> modules;
};

struct HfMatrix {
  std::string name;
  std::vector<HfPart> parts;  // fused; engines stack their rows
  std::int64_t in = 0;
  Shard shard = Shard::replicated;
  std::int64_t copies = 1;
  std::int64_t bias = 0;
  bool expert = false;
};

class HfLayerBuilder {
 public:
  HfLayerBuilder(HfModel& model, std::int64_t index) : model_(model), index_(index) {}

  // A matrix in the format that the checkpoint's quantization gives it.
  void add(const HfMatrix& matrix);
  // A matrix that is never quantized.
  void add_as(NumberFormat format, const HfMatrix& matrix);
  void add_vectors(std::int64_t elements) { layer.vector_parameters += elements; }
  std::int64_t index() const { return index_; }
  HfModel& model() { return model_; }

  LayerSpec layer;

 private:
  NumberFormat format_of(const HfMatrix& matrix);
  HfModel& model_;
  std::int64_t index_;
};

// GQA, MHA and MQA attention: qkv and o.
struct HfGqa {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t v_head_dim = 0;
  std::int64_t window = 0;
  std::int64_t qk_norm_elements = 0;  // of the q and k norm vectors together
  bool qk_norm = false;
  bool qkv_bias = false;
  bool o_bias = false;
  bool sink = false;
  bool output_gate = false;  // the query projection also makes a gate of the output
  bool v_projection = true;  // false: V is computed from the projected K
  std::string module = "self_attn.";
  std::string fused_qkv_module;  // "" = q_proj, k_proj, v_proj
  std::string o_module = "o_proj";
};
// What a field is where the file leaves it out; 0 = the family says nothing.
struct HfGqaDefaults {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
};
// Reads num_attention_heads, num_key_value_heads, head_dim and checks that they go together.
HfGqa read_gqa(const HfObject& config, const HfGqaDefaults& defaults = {});
// Q and K normed a head at a time by one vector of head_dim each, or all heads by one vector.
void norm_each_head(HfGqa& gqa);
void norm_all_heads(HfGqa& gqa);
void add_gqa(HfLayerBuilder& builder, const HfGqa& gqa);

struct HfMlpModules {
  std::string dense = "mlp.";
  std::string router = "mlp.gate";
  std::string experts = "mlp.experts.0.";
  std::string shared = "mlp.shared_experts.";
  std::string shared_gate = "mlp.shared_expert_gate";
  std::string gate = "gate_proj";
  std::string up = "up_proj";
  std::string down = "down_proj";
  std::string fused_gate_up;         // "" = gate and up are separate modules
  std::string fused_shared_gate_up;  // the same of the shared experts
};

struct HfMoe {
  std::int64_t experts = 0;
  std::int64_t experts_per_token = 0;
  std::int64_t intermediate = 0;
  std::int64_t shared_intermediate = 0;
  bool gated = true;
  bool shared_gate = false;  // a scalar gate of the shared expert's output
  bool router_bias = false;
  bool expert_bias = false;
  bool correction_bias = false;  // added to the scores for the choice alone
  bool hash_routed = false;
};
// `experts_key`: where the family keeps the number of experts. Checks top-k <= experts.
HfMoe read_moe(const HfObject& config, const char* experts_key,
               const char* top_k_key = "num_experts_per_tok",
               const char* width_key = "moe_intermediate_size");

void add_dense_mlp(HfLayerBuilder& builder, std::int64_t intermediate, bool gated, bool bias,
                   const HfMlpModules& modules = {});
// Beside a dense branch when one was added before.
void add_moe(HfLayerBuilder& builder, const HfMoe& moe, const HfMlpModules& modules = {});

// A depthwise convolution over the last few tokens of each channel.
void add_convolution(HfLayerBuilder& builder, std::int64_t channels, std::int64_t kernel,
                     const std::string& module, bool bias);

// The layers of a Qwen model that have experts (decoder_sparse_step, mlp_only_layers), and the MLP
// of one: dense, or experts with a gated shared expert where the config has one.
std::vector<bool> qwen_expert_layers(const HfModel& model);
void add_qwen_mlp(HfLayerBuilder& builder, bool experts);

// Window of each layer, 0 = all tokens: `window` for those that layer_types calls sliding or
// chunked, for all layers without that list.
std::vector<std::int64_t> read_windows(const HfModel& model, std::int64_t window);

// The same where every `full_every`-th layer sees all tokens unless layer_types or
// sliding_window_pattern (a number, or letters such as "LLLG") says otherwise.
std::vector<std::int64_t> read_periodic_windows(const HfModel& model, std::int64_t window,
                                                std::int64_t full_every);

// One number for all layers, or a list with one for each.
std::vector<std::int64_t> read_layer_values(const HfModel& model, const char* key, HfRange range);

// Which layers have experts: mlp_layer_types, or all but the first_k_dense_replace first, of which
// there are `dense_unsaid` where the file does not say.
std::vector<bool> read_expert_layers(const HfModel& model, std::int64_t dense_unsaid);

// A per-layer list of at least num_hidden_layers entries; longer ones describe MTP layers too.
std::vector<std::int64_t> read_layer_list(const HfModel& model, const char* key, HfRange range);

// "fp32", "bf16" ... from "float32", "bfloat16"; nullopt where absent.
std::optional<NumberFormat> read_dtype(const HfObject& where, const char* key);

// Families. Each fills spec.layers from model.config. nullptr for a model_type that none knows.
using HfFamilyReader = void (*)(HfModel&);
HfFamilyReader find_family_reader(const std::string& model_type);
void read_gqa_dense(HfModel& model);   // llama, mistral, qwen2, qwen3, phi3
void read_more_dense(HfModel& model);  // cohere, exaone4, gemma, glm4, granite, olmo2, seed_oss
void read_gqa_moe(HfModel& model);     // qwen2_moe, qwen3_moe, glm4_moe, dots1
void read_mixtral(HfModel& model);     // mixtral, minimax_m2
void read_bailing(HfModel& model);
void read_ernie(HfModel& model);  // ernie4_5, ernie4_5_moe
void read_exaone_moe(HfModel& model);
void read_granite_moe(HfModel& model);
void read_hunyuan(HfModel& model);
void read_nemotron_nas(HfModel& model);
void read_olmoe(HfModel& model);
void read_phimoe(HfModel& model);
void read_gpt_oss(HfModel& model);
void read_llama4(HfModel& model);
void read_gemma4(HfModel& model);
void read_mimo(HfModel& model);
void read_mla(HfModel& model);          // deepseek_v2, v3, v32, kimi_k2, glm_moe_dsa, glm4_moe_lite
void read_dsv4(HfModel& model);         // deepseek_v4, deepseek_ref
void read_gated_delta(HfModel& model);  // qwen3_next, qwen3_5, qwen3_5_moe
void read_nemotron_h(HfModel& model);
void read_granite_hybrid(HfModel& model);

}  // namespace smtwin
