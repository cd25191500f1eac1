// SPDX-License-Identifier: Apache-2.0
// What each dense family of hf_dense.cpp adds to Llama's shapes, by hand on small configs: norms,
// biases, windows, defaults. The small Llama has hidden 64, 8 + 2 heads of 8, MLP 160, 2 layers.
#include "tests/catch.hpp"
#include "tests/validate/hf_test_models.hpp"

using namespace smtwin;
using namespace smtwin::test;

namespace {

Fields family(const std::string& model_type, const Fields& changes = {}) {
  return with(with(llama(), {{"model_type", '"' + model_type + '"'}}), changes);
}

std::string windows(const Fields& fields) {  // one letter a layer: L = window, G = all tokens
  std::string letters;
  for (const LayerSpec& layer : read(fields).layers) {
    letters += layer.attention.window > 0 ? 'L' : 'G';
  }
  return letters;
}

const Fields kWindow{{"sliding_window", "512"}, {"num_hidden_layers", "8"}};

}  // namespace

TEST_CASE("norms: vectors of each dense family", "[unit]") {
  const auto vectors = [](const std::string& type, const Fields& changes = {}) {
    return read(family(type, with(kWindow, changes))).layers[0].vector_parameters;
  };
  CHECK(vectors("gemma") == 2 * 64);
  CHECK(vectors("granite") == 2 * 64);
  CHECK(vectors("seed_oss") == 2 * 64);
  CHECK(vectors("smollm3") == 2 * 64);
  CHECK(vectors("glm") == 2 * 64);
  CHECK(vectors("glm4") == 4 * 64);
  CHECK(vectors("glm4v_text") == 4 * 64);
  CHECK(vectors("gemma2") == 4 * 64);
  CHECK(vectors("gemma3_text", {{"head_dim", "16"}}) == 4 * 64 + 2 * 16);
  CHECK(vectors("exaone4") == 2 * 64 + 2 * 8);
  CHECK(vectors("olmo2") == 2 * 64 + (8 + 2) * 8);  // one norm over all heads
  CHECK(vectors("olmo3") == 2 * 64 + (8 + 2) * 8);
  CHECK(vectors("cohere2") == 64);  // one for attention and MLP together
  CHECK(vectors("cohere") == 64);
  CHECK(vectors("cohere", {{"use_qk_norm", "true"}}) == 64 + (8 + 2) * 8);
  CHECK(read(family("cohere", {{"use_qk_norm", "true"}})).layers[0].attention.qk_norm);
  CHECK_FALSE(read(family("glm4")).layers[0].attention.qk_norm);
}

TEST_CASE("biases and fused modules", "[unit]") {
  const Fields bias{{"attention_bias", "true"}};
  const LayerSpec glm = read(family("glm4", bias)).layers[0];
  check_shape(glm, "qkv", 96, 64, Shard::columns, 1, 96);
  check_shape(glm, "o", 64, 64, Shard::rows, 1, 0);  // never
  CHECK(matrix(glm, "gate_up").module == "mlp.gate_up_proj");
  const LayerSpec seed = read(family("seed_oss", bias)).layers[0];
  check_shape(seed, "o", 64, 64, Shard::rows, 1, 0);
  const LayerSpec seed_out =
      read(family("seed_oss", {{"attention_out_bias", "true"}, {"mlp_bias", "true"}})).layers[0];
  check_shape(seed_out, "o", 64, 64, Shard::rows, 1, 64);
  check_shape(seed_out, "qkv", 96, 64, Shard::columns, 1, 0);
  check_shape(seed_out, "down", 64, 160, Shard::rows, 1, 64);
  check_shape(read(family("granite", bias)).layers[0], "o", 64, 64, Shard::rows, 1, 64);
}

TEST_CASE("windows in all layers but every second, fourth, sixth", "[unit]") {
  CHECK(windows(family("gemma2", kWindow)) == "LGLGLGLG");
  CHECK(windows(family("gemma3_text", kWindow)) == "LLLLLGLL");
  CHECK(windows(family("cohere2", kWindow)) == "LLLGLLLG");
  CHECK(windows(family("olmo3", kWindow)) == "LLLGLLLG");
  CHECK(windows(family("exaone4", kWindow)) == "LLLGLLLG");
  CHECK(windows(family("glm4", kWindow)) == "GGGGGGGG");
  CHECK(read(family("gemma2", kWindow)).layers[0].attention.window == 512);
  const auto pattern = [](const std::string& text) {
    return family("exaone4", with(kWindow, {{"sliding_window_pattern", text}}));
  };
  CHECK(windows(pattern("3")) == "LLGLLGLL");
  CHECK(windows(pattern("1")) == "GGGGGGGG");
  CHECK(windows(pattern("\"LLGL\"")) == "LLGLLLGL");
  CHECK(read_message(pattern("\"LxG\"")) ==
        "config.json: /sliding_window_pattern: \"LxG\" is not modelled; modelled: a number, or "
        "letters L (sliding) and G (all tokens)");
  CHECK(read_message(pattern("0")) ==
        "config.json: /sliding_window_pattern: found 0; allowed: an integer from 1 to 10000");
  // A list by layer says more than the pattern, and a window of all tokens is none.
  const std::string list = R"(["full_attention", "sliding_attention"])";
  CHECK(windows(family("gemma3_text", {{"sliding_window", "512"}, {"layer_types", list}})) == "GL");
  CHECK(windows(family("gemma2", {{"sliding_window", "4096"}})) == "GG");
  // EXAONE 4 has small models without windows; the others never come without.
  CHECK(windows(family("exaone4")) == "GG");
  for (const char* type : {"gemma2", "gemma3_text", "cohere2", "olmo3"}) {
    CHECK(read_message(family(type)) ==
          "config.json: /sliding_window: missing; needed: an integer from 1 to 10000000000");
  }
  CHECK(read_message(family("smollm3", {{"use_sliding_window", "true"}})) ==
        "config.json: /use_sliding_window: true is not modelled; modelled: false");
}

TEST_CASE("a Gemma-3 file says only what differs from its class", "[unit]") {
  const Fields text{{"model_type", "\"gemma3_text\""},
                    {"hidden_size", "2560"},
                    {"intermediate_size", "10240"},
                    {"num_hidden_layers", "34"},
                    {"sliding_window", "1024"}};
  const ModelSpec model =
      read({{"model_type", "\"gemma3\""}, {"text_config", json(text)}, {"vision_config", "{}"}});
  const AttentionSpec& a = model.layers[0].attention;
  CHECK(a.heads == 8);
  CHECK(a.kv_heads == 4);
  CHECK(a.head_dim == 256);
  CHECK(model.vocabulary == 262'208);
  CHECK(model.max_context == 131'072);
  CHECK(model.tied_embeddings);
  check_shape(model.layers[0], "qkv", (8 + 2 * 4) * 256, 2560, Shard::columns);
  Fields without = family("gemma2", kWindow);
  without.erase("num_attention_heads");
  CHECK(read_message(without) ==
        "config.json: /num_attention_heads: missing; needed: an integer from 1 to 65536");
}

TEST_CASE("tied output projections where the file does not say", "[unit]") {
  for (const char* type : {"gemma", "gemma2", "cohere", "cohere2", "smollm3", "ernie4_5"}) {
    INFO(type);
    CHECK(read(family(type, kWindow)).tied_embeddings);
    CHECK_FALSE(
        read(family(type, with(kWindow, {{"tie_word_embeddings", "false"}}))).tied_embeddings);
  }
  for (const char* type : {"glm4", "olmo3", "exaone4", "seed_oss", "granite", "ministral3"}) {
    INFO(type);
    CHECK_FALSE(read(family(type, kWindow)).tied_embeddings);
  }
}

TEST_CASE("language models of vision checkpoints", "[unit]") {
  // Qwen2-VL's older files have the fields of the language model at the top.
  const ModelSpec flat = read(family("qwen2_5_vl", {{"vision_config", "{}"}}));
  check_shape(flat.layers[0], "qkv", 96, 64, Shard::columns, 1, 96);
  REQUIRE(flat.notes.size() == 1);
  CHECK(flat.notes[0] == "the language model alone is counted, without vision and audio towers");
  const ModelSpec listed =
      read(family("qwen2_5_vl", {{"vision_config", "{}"},
                                 {"quantization_config", R"({"quant_method": "fp8", "ignore":
                         ["model.language_model.layers.0.self_attn.o_proj"]})"}}));
  CHECK(matrix(listed.layers[0], "o").format == NumberFormat::bf16);
  CHECK(matrix(listed.layers[1], "o").format == NumberFormat::fp8);
  const auto nested = [](const std::string& type, const Fields& text) {
    return read({{"model_type", "\"vision\""},
                 {"text_config", json(with(text, {{"model_type", '"' + type + '"'}}))}});
  };
  check_shape(nested("qwen2_vl_text", llama()).layers[0], "qkv", 96, 64, Shard::columns, 1, 96);
  const LayerSpec qwen3 = nested("qwen3_vl_text", llama()).layers[0];
  check_shape(qwen3, "qkv", 96, 64, Shard::columns);
  CHECK(qwen3.vector_parameters == 2 * 64 + 2 * 8);
  const LayerSpec experts = nested("qwen3_vl_moe_text", qwen3_moe()).layers[0];
  CHECK(experts.mlp.kind == MlpKind::moe);
  CHECK(experts.attention.qk_norm);
  check_shape(nested("ministral3", llama()).layers[0], "qkv", 96, 64, Shard::columns);

  // InternVL calls it llm_config.
  const Fields intern{{"model_type", "\"internvl_chat\""},
                      {"llm_config", json(family("qwen3", {{"vocab_size", "-1"}}))}};
  CHECK(read_message(intern) ==
        "config.json: /llm_config/vocab_size: found -1; allowed: an integer from 1 to 100000000");
  HfFiles files;
  files.config_text = json(intern);
  files.config_name = "config.json";
  files.overrides = {"vocab_size=500", "num_hidden_layers=3"};
  const ModelSpec set = read_hf_config(files);
  CHECK(set.vocabulary == 500);
  CHECK(set.layers.size() == 3);
  CHECK(set.layers[0].attention.qk_norm);
}
