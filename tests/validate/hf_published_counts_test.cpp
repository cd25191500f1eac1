// SPDX-License-Identifier: Apache-2.0
// Configs written here with the published dimensions of public models: our count is the published
// one within 1 %. Counts of the makers' model cards and reports, or of the published checkpoints
// where those say more digits; without vision towers and layers for multi-token prediction.
#include <cmath>
#include <sstream>

#include "model/step_ops.hpp"
#include "tests/catch.hpp"
#include "tests/validate/hf_test_models.hpp"

using namespace smtwin;
using namespace smtwin::test;

namespace {

struct Shape {
  std::string model_type;
  int layers, hidden, heads, kv_heads, head_dim, intermediate, vocabulary;
  bool tied;
};

// "num_experts 8 moe_topk 2": fields and their values in turn.
Fields set(const std::string& words) {
  std::istringstream in(words);
  Fields fields;
  for (std::string key, value; in >> key >> value;) fields[key] = value;
  return fields;
}

Fields config(const Shape& s, const Fields& changes = {}) {
  const auto text = [](int value) { return std::to_string(value); };
  return with({{"model_type", '"' + s.model_type + '"'},
               {"num_hidden_layers", text(s.layers)},
               {"hidden_size", text(s.hidden)},
               {"num_attention_heads", text(s.heads)},
               {"num_key_value_heads", text(s.kv_heads)},
               {"head_dim", text(s.head_dim)},
               {"intermediate_size", text(s.intermediate)},
               {"vocab_size", text(s.vocabulary)},
               {"tie_word_embeddings", s.tied ? "true" : "false"},
               {"max_position_embeddings", "131072"},
               {"sliding_window", "4096"}},
              changes);
}

// The step model finds every matrix by its name: with so many tokens that every expert is chosen,
// its ops read the bytes of all of them.
double bytes_of_step(const ModelSpec& model) {
  StepOptions options;
  options.batch = 8192;
  options.context = 1024;
  double bytes = 0;
  for (const LayerOps& layer : step_ops(model, {}, options).layers) {
    for (const StepOp& op : layer.ops) bytes += layer.count * op.weight_bytes;
  }
  return bytes;
}

double bytes_of_matrices(const ModelSpec& model) {
  double bytes = 0;
  for (const LayerSpec& layer : model.layers) {
    for (const WeightMatrix& m : layer.weights) bytes += m.bytes();
  }
  return bytes;
}

void check(const std::string& name, const Fields& fields, double total, double active = 0) {
  const ModelSpec model = read(fields);
  const double ours = active_parameters(model);
  INFO(name << std::fixed << ": " << total_parameters(model) << " / " << ours);
  CHECK(std::abs(total_parameters(model) / total - 1) < 0.01);
  if (active > 0) CHECK(std::abs(ours / active - 1) < 0.01);
  CHECK(bytes_of_step(model) == Approx(bytes_of_matrices(model)).epsilon(0.001));
}

const Fields kNoWindow = set("sliding_window null");
const Fields kBias = set("attention_bias true");

}  // namespace

TEST_CASE("published counts: dense models", "[unit]") {
  // Gemma 2 and 3 reports: embedding + the rest.
  check("Gemma 7B", config({"gemma", 28, 3072, 16, 16, 256, 24576, 256000, true}), 8.54e9);
  check("Gemma 2 9B", config({"gemma2", 42, 3584, 16, 8, 256, 14336, 256000, true}),
        917'962'752.0 + 8'324'201'984.0);
  check("Gemma 3 1B", config({"gemma3_text", 26, 1152, 4, 1, 256, 6912, 262144, true}), 1.000e9);
  check("Gemma 3 4B", config({"gemma3_text", 34, 2560, 8, 4, 256, 10240, 262208, true}), 3.884e9);
  check("Gemma 3 12B", config({"gemma3_text", 48, 3840, 16, 8, 256, 15360, 262208, true}),
        11.771e9);
  check("Gemma 3 27B", config({"gemma3_text", 62, 5376, 32, 16, 128, 21504, 262208, true}),
        27.016e9);
  check("Command R+",
        config({"cohere", 64, 12288, 96, 8, 128, 33792, 256000, true}, set("use_qk_norm true")),
        104e9);
  check("Command R7B", config({"cohere2", 32, 4096, 32, 8, 128, 14336, 256000, true}), 8.03e9);
  check("Command A", config({"cohere2", 64, 12288, 96, 8, 128, 36864, 256000, true}), 111e9);
  check("ERNIE-4.5-0.3B", config({"ernie4_5", 18, 1024, 16, 2, 128, 3072, 103424, true}), 0.36e9);
  check("EXAONE 4.0 32B", config({"exaone4", 64, 5120, 40, 8, 128, 27392, 102400, false}),
        30.95e9 + 2 * 102400.0 * 5120);
  check("GLM-4 9B", config({"glm", 40, 4096, 32, 2, 128, 13696, 151552, false}, kBias), 9.40e9);
  check("GLM-4-9B-0414", config({"glm4", 40, 4096, 32, 2, 128, 13696, 151552, false}, kBias),
        9.40e9);
  check("Granite 3.3 8B", config({"granite", 40, 4096, 32, 8, 128, 12800, 49159, true}), 8.17e9);
  check("OLMo 2 7B", config({"olmo2", 32, 4096, 32, 32, 128, 11008, 100352, false}), 7.30e9);
  check("OLMo 3 32B", config({"olmo3", 64, 5120, 40, 8, 128, 27648, 100278, false}), 32.2e9);
  check("Seed-OSS-36B", config({"seed_oss", 64, 5120, 80, 8, 128, 27648, 155136, false}, kBias),
        36'151'104'512.0);
  check("SmolLM3-3B", config({"smollm3", 36, 2048, 16, 4, 128, 11008, 128256, true}), 3.08e9);
}

TEST_CASE("published counts: decoders of vision models", "[unit]") {
  const auto nested = [](const Fields& text) {
    return Fields{{"model_type", "\"vision\""}, {"text_config", json(text)}};
  };
  check("Mistral Small 3.1 24B",
        nested(config({"mistral", 40, 5120, 32, 8, 128, 32768, 131072, false}, kNoWindow)),
        23.57e9);
  check("Ministral 3 14B",
        nested(config({"ministral3", 40, 5120, 32, 8, 128, 16384, 131072, false}, kNoWindow)),
        13.5e9);
  for (const char* type : {"qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"}) {
    check("Qwen2-VL-7B, Qwen2.5-VL-7B: the decoder of Qwen2.5-7B",
          config({type, 28, 3584, 28, 4, 128, 18944, 152064, false}), 7.61e9);
  }
  check("Qwen3-VL-8B: the decoder of Qwen3-8B",
        nested(config({"qwen3_vl_text", 36, 4096, 32, 8, 128, 12288, 151936, false})), 8.19e9);
  check("Qwen3-VL-30B-A3B: the decoder of Qwen3-30B-A3B",
        nested(config({"qwen3_vl_moe_text", 48, 2048, 32, 4, 128, 6144, 151936, false},
                      set("num_experts 128 num_experts_per_tok 8 moe_intermediate_size 768"))),
        30.53e9, 3.35e9);
  check("GLM-4.1V-9B: the decoder of GLM-4-9B-0414",
        nested(config({"glm4v_text", 40, 4096, 32, 2, 128, 13696, 151552, false}, kBias)), 9.40e9);
  // GLM-4.5-Air, whose decoder it is.
  check("GLM-4.5V",
        nested(config({"glm4v_moe_text", 46, 4096, 96, 8, 128, 10944, 151552, false},
                      set("n_routed_experts 128 num_experts_per_tok 8 n_shared_experts 1 "
                          "moe_intermediate_size 1408 first_k_dense_replace 1"))),
        106e9);
  const Fields maverick = config({"llama4_text", 48, 5120, 40, 8, 128, 8192, 202048, false},
                                 set("num_local_experts 128 num_experts_per_tok 1 "
                                     "intermediate_size_mlp 16384 interleave_moe_layer_step 2 "
                                     "attention_chunk_size 8192"));
  check("Llama 4 Maverick", nested(maverick), 400e9);
  CHECK(std::round(active_parameters(read(nested(maverick))) / 1e9) == 17);
}

TEST_CASE("published counts: mixtures of experts", "[unit]") {
  check("dots.llm1",
        config({"dots1", 62, 4096, 32, 32, 128, 10944, 152064, false},
               with(kNoWindow, set("n_routed_experts 128 num_experts_per_tok 6 n_shared_experts 2 "
                                   "moe_intermediate_size 1408 first_k_dense_replace 1"))),
        142e9);
  check("Ling-lite-1.5",
        config({"bailing_moe", 28, 2048, 16, 4, 128, 1408, 126464, false},
               set("num_experts 64 num_experts_per_tok 6 num_shared_experts 2 "
                   "moe_intermediate_size 1408 first_k_dense_replace 0")),
        16.8e9, 2.75e9);
  for (const char* type : {"bailing_moe", "bailing_moe_v2"}) {
    check(
        "Ling-mini-2.0",
        config({type, 20, 2048, 16, 4, 128, 5120, 157184, false},
               set("num_experts 256 num_experts_per_tok 8 num_shared_experts 1 "
                   "moe_intermediate_size 512 moe_shared_expert_intermediate_size 512 "
                   "first_k_dense_replace 1 use_qk_norm true moe_router_enable_expert_bias true")),
        16.26e9, 1.43e9);
  }
  check("ERNIE-4.5-21B-A3B",
        config({"ernie4_5_moe", 28, 2560, 20, 4, 128, 12288, 103424, true},
               set("moe_num_experts 64 moe_k 6 moe_num_shared_experts 2 "
                   "moe_intermediate_size 1536 moe_layer_start_index 1 "
                   "moe_layer_end_index 27")),
        21.83e9);
  check("K-EXAONE-236B-A23B",
        config({"exaone_moe", 48, 6144, 64, 8, 128, 18432, 153600, false},
               set("num_experts 128 num_experts_per_tok 8 num_shared_experts 1 "
                   "moe_intermediate_size 2048")),
        236e9);
  check("OLMoE-1B-7B",
        config({"olmoe", 16, 2048, 16, 16, 128, 1024, 50304, false},
               set("num_experts 64 num_experts_per_tok 8")),
        6.92e9);
  check("Granite 3.0 3B-A800M",
        config({"granitemoe", 32, 1536, 24, 8, 64, 512, 49155, true},
               set("num_local_experts 40 num_experts_per_tok 8")),
        3.3e9);
  check("Hunyuan-A13B",
        config({"hunyuan_v1_moe", 32, 4096, 32, 8, 128, 3072, 128167, true},
               set("num_experts 64 moe_topk 8 num_shared_expert 1 "
                   "moe_intermediate_size 3072")),
        80.4e9);
  check("Phi-3.5-MoE",
        config({"phimoe", 32, 4096, 32, 8, 128, 6400, 32064, false},
               set("num_local_experts 16 num_experts_per_tok 2 attention_bias true "
                   "lm_head_bias true sliding_window 131072")),
        41.9e9, 6.6e9);
}

TEST_CASE("published counts: latent attention and hybrids", "[unit]") {
  const Fields latent =
      set("kv_lora_rank 512 qk_nope_head_dim 128 qk_rope_head_dim 64 "
          "v_head_dim 128 n_shared_experts 2 first_k_dense_replace 1 "
          "num_experts_per_tok 6");
  check(
      "DeepSeek-V2-Lite",
      config({"deepseek_v2", 27, 2048, 16, 16, 192, 10944, 102400, false},
             with(latent, set("q_lora_rank null n_routed_experts 64 moe_intermediate_size 1408"))),
      15.7e9);
  check("GLM-4.7-Flash",
        config({"glm4_moe_lite", 47, 2048, 20, 20, 64, 10240, 154880, false},
               with(latent, set("q_lora_rank 768 qk_nope_head_dim 192 v_head_dim 256 "
                                "n_routed_experts 64 n_shared_experts 1 num_experts_per_tok 4 "
                                "moe_intermediate_size 1536"))),
        30e9);
  check("Qwen3-Next-80B-A3B",
        config({"qwen3_next", 48, 2048, 16, 2, 256, 5120, 151936, false},
               set("full_attention_interval 4 linear_num_key_heads 16 "
                   "linear_num_value_heads 32 linear_key_head_dim 128 "
                   "linear_value_head_dim 128 linear_conv_kernel_dim 4 num_experts 512 "
                   "num_experts_per_tok 10 moe_intermediate_size 512 "
                   "shared_expert_intermediate_size 512")),
        80e9);
  std::string types;
  for (int i = 0; i < 40; ++i) {
    types += i == 0 ? "[" : ", ";
    types += i % 10 == 5 ? "\"attention\"" : "\"mamba\"";
  }
  const Fields granite = config({"granitemoehybrid", 40, 4096, 32, 8, 128, 768, 100352, true},
                                {{"layer_types", types + ']'},
                                 {"mamba_n_heads", "128"},
                                 {"mamba_d_head", "64"},
                                 {"mamba_n_groups", "1"},
                                 {"mamba_d_state", "128"},
                                 {"mamba_d_conv", "4"},
                                 {"shared_intermediate_size", "1536"},
                                 {"num_local_experts", "72"},
                                 {"num_experts_per_tok", "10"}});
  check("Granite 4.0 H Small", granite, 32e9);
  CHECK(std::round(active_parameters(read(granite)) / 1e9) == 9);
}
