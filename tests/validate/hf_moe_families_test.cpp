// SPDX-License-Identifier: Apache-2.0
// Shapes that the readers of hf_moe.cpp, of vision MoEs and of the newer hybrids make, by hand on
// small configs (hidden 64, 8 + 2 heads of 8, MLP 160).
#include "tests/catch.hpp"
#include "tests/validate/hf_test_models.hpp"

using namespace smtwin;
using namespace smtwin::test;

namespace {

Fields family(const std::string& model_type, const Fields& changes) {
  return with(with(llama(), {{"model_type", '"' + model_type + '"'}}), changes);
}

const Fields kDeepSeekMoe{{"n_routed_experts", "8"},
                          {"num_experts_per_tok", "2"},
                          {"n_shared_experts", "2"},
                          {"moe_intermediate_size", "32"},
                          {"first_k_dense_replace", "1"}};

const Fields kBailing{{"num_experts", "8"},
                      {"num_experts_per_tok", "2"},
                      {"num_shared_experts", "2"},
                      {"moe_intermediate_size", "32"},
                      {"first_k_dense_replace", "1"}};

const Fields kErnie{{"moe_num_experts", "8"},        {"moe_k", "2"},
                    {"moe_num_shared_experts", "2"}, {"moe_intermediate_size", "32"},
                    {"moe_layer_start_index", "1"},  {"num_hidden_layers", "4"}};

const Fields kHunyuan{{"num_experts", "8"},
                      {"moe_topk", "[2, 1]"},
                      {"moe_intermediate_size", "[32, 48]"},
                      {"num_shared_expert", "[1, 2]"}};

const Fields kGraniteHybrid{{"layer_types", R"(["mamba", "attention"])"},
                            {"mamba_n_heads", "16"},
                            {"mamba_d_head", "8"},
                            {"mamba_n_groups", "1"},
                            {"mamba_d_state", "16"},
                            {"mamba_d_conv", "4"},
                            {"shared_intermediate_size", "96"},
                            {"num_local_experts", "4"},
                            {"num_experts_per_tok", "2"}};

std::string kinds(const Fields& fields) {
  std::string letters;
  for (const LayerSpec& l : read(fields).layers) letters += l.mlp.kind == MlpKind::moe ? 'E' : 'd';
  return letters;
}

}  // namespace

TEST_CASE("dots1: norms of Q and K, experts as in DeepSeek", "[unit]") {
  const ModelSpec model = read(family("dots1", kDeepSeekMoe));
  CHECK(kinds(family("dots1", kDeepSeekMoe)) == "dE");
  CHECK(model.layers[0].vector_parameters == 2 * 64 + 2 * 8);
  CHECK(model.layers[1].vector_parameters == 2 * 64 + 2 * 8 + 8);  // a bias an expert
  check_shape(model.layers[1], "shared_gate_up", 2 * 64, 64, Shard::columns);
  CHECK(read_message(family("dots1", with(kDeepSeekMoe, {{"sliding_window", "4096"}}))) ==
        "config.json: /sliding_window: 4096 is not modelled; modelled: null");
}

TEST_CASE("glm4v_moe_text: GLM-4.5 with biases and without norms of Q and K", "[unit]") {
  const LayerSpec layer =
      read(family("glm4v_moe_text", with(kDeepSeekMoe, {{"use_qk_norm", "true"}}))).layers[0];
  check_shape(layer, "qkv", 96, 64, Shard::columns, 1, 96);
  check_shape(layer, "o", 64, 64, Shard::rows, 1, 0);
  CHECK_FALSE(layer.attention.qk_norm);
}

TEST_CASE("bailing_moe: Ling and Ring", "[unit]") {
  const ModelSpec model = read(family("bailing_moe", kBailing));
  CHECK(kinds(family("bailing_moe", kBailing)) == "dE");
  const LayerSpec& layer = model.layers[1];
  CHECK(matrix(layer, "qkv").module == "attention.query_key_value");
  CHECK(matrix(layer, "o").module == "attention.dense");
  check_shape(layer, "qkv", 96, 64, Shard::columns);
  check_shape(layer, "shared_gate_up", 2 * 2 * 32, 64, Shard::columns);
  CHECK(matrix(layer, "router").format == NumberFormat::bf16);
  CHECK(layer.vector_parameters == 2 * 64);
  // Version 2 adds norms of Q and K, a routing bias, a router in fp32.
  const LayerSpec two =
      read(family("bailing_moe", with(kBailing, {{"use_qk_norm", "true"},
                                                 {"router_dtype", "\"fp32\""},
                                                 {"moe_router_enable_expert_bias", "true"},
                                                 {"moe_shared_expert_intermediate_size", "24"}})))
          .layers[1];
  CHECK(two.vector_parameters == 2 * 64 + 2 * 8 + 8);
  CHECK(matrix(two, "router").format == NumberFormat::fp32);
  check_shape(two, "shared_down", 64, 2 * 24, Shard::rows);
  CHECK(read_message(family("bailing_moe", with(kBailing, {{"use_bias", "true"}}))) ==
        "config.json: /use_bias: true is not modelled; modelled: false");
}

TEST_CASE("ernie4_5_moe: which layers have experts", "[unit]") {
  const auto ernie = [](const Fields& changes) {
    return family("ernie4_5_moe", with(kErnie, changes));
  };
  CHECK(kinds(ernie({})) == "dEEE");
  CHECK(kinds(ernie({{"moe_layer_end_index", "2"}})) == "dEEd");
  CHECK(kinds(ernie({{"moe_layer_end_index", "-1"}, {"moe_layer_interval", "2"}})) == "dEdE");
  const LayerSpec layer = read(ernie({})).layers[1];
  check_shape(layer, "experts_gate_up", 64, 64, Shard::experts, 8);
  check_shape(layer, "shared_down", 64, 64, Shard::rows);
  CHECK(matrix(layer, "router").format == NumberFormat::fp32);
  CHECK(layer.vector_parameters == 2 * 64 + 8);
  CHECK(read_message(ernie({{"moe_k", "9"}})) ==
        "config.json: /moe_k: found 9; allowed: an integer from 1 to 8");
  // ERNIE-4.5-VL has two kinds of experts.
  CHECK(read_message(ernie({{"moe_num_experts", "[64, 64]"}})) ==
        "config.json: /moe_num_experts: found a list of 2; allowed: an integer from 1 to 1000000");
  CHECK(kinds(family("ernie4_5", {{"use_bias", "true"}})) == "dd");
}

TEST_CASE("hunyuan_v1_moe: one number, or one for each layer", "[unit]") {
  const ModelSpec model = read(family("hunyuan_v1_moe", kHunyuan));
  CHECK(model.layers[0].mlp.experts_per_token == 2);
  CHECK(model.layers[1].mlp.experts_per_token == 1);
  check_shape(model.layers[0], "experts_down", 64, 32, Shard::experts, 8);
  check_shape(model.layers[1], "experts_down", 64, 48, Shard::experts, 8);
  check_shape(model.layers[1], "shared_down", 64, 2 * 160, Shard::rows);
  CHECK(model.layers[0].vector_parameters == 2 * 64 + 2 * 8);
  const ModelSpec wide =
      read(family("hunyuan_v1_moe", with(kHunyuan, {{"attention_head_dim", "16"}})));
  CHECK(wide.layers[0].attention.head_dim == 16);
  const auto message = [](const Fields& changes) {
    return read_message(family("hunyuan_v1_moe", with(kHunyuan, changes)));
  };
  CHECK(message({{"moe_topk", "2"}, {"num_experts", "[8, 8]"}}) == "no error");
  CHECK(message({{"moe_topk", "[2, 9]"}}) ==
        "config.json: /moe_topk: found 9 for layer 1; allowed: up to num_experts 8");
  CHECK(message({{"moe_topk", "[2]"}}) ==
        "config.json: /moe_topk: found 1 entries; needed: one for each of the 2 layers "
        "(num_hidden_layers)");
  CHECK(message({{"use_cla", "true"}}) ==
        "config.json: /use_cla: true is not modelled; modelled: false");
}

TEST_CASE("exaone_moe: windows, a dense first layer, a shared expert", "[unit]") {
  Fields fields =
      family("exaone_moe", with(kBailing, {{"num_hidden_layers", "4"}, {"sliding_window", "128"}}));
  fields.erase("first_k_dense_replace");
  CHECK(kinds(fields) == "dEEE");
  const ModelSpec model = read(fields);
  for (std::size_t i = 0; i < 4; ++i) CHECK(model.layers[i].attention.window == (i == 3 ? 0 : 128));
  check_shape(model.layers[1], "shared_down", 64, 2 * 32, Shard::rows);
  CHECK(model.layers[1].vector_parameters == 2 * 64 + 2 * 8 + 8);
  CHECK(kinds(with(fields, {{"mlp_layer_types", R"(["sparse", "dense", "sparse", "dense"])"}})) ==
        "EdEd");
}

TEST_CASE("olmoe: one norm over all heads", "[unit]") {
  const LayerSpec layer =
      read(family("olmoe", {{"num_experts", "8"}, {"num_experts_per_tok", "2"}})).layers[0];
  check_shape(layer, "experts_down", 64, 160, Shard::experts, 8);
  CHECK(layer.vector_parameters == 2 * 64 + (8 + 2) * 8);
}

TEST_CASE("granitemoe and phimoe", "[unit]") {
  const Fields experts{{"num_local_experts", "8"}, {"num_experts_per_tok", "2"}};
  const LayerSpec granite = read(family("granitemoe", experts)).layers[0];
  check_shape(granite, "experts_gate_up", 320, 64, Shard::experts, 8);
  CHECK(matrix(granite, "experts_gate_up").module == "block_sparse_moe.input_linear");
  CHECK(matrix(granite, "experts_down").module == "block_sparse_moe.output_linear");
  const ModelSpec phi =
      read(family("phimoe", with(experts, {{"attention_bias", "true"}, {"lm_head_bias", "true"}})));
  check_shape(phi.layers[0], "o", 64, 64, Shard::rows, 1, 64);
  CHECK(phi.layers[0].vector_parameters == 4 * 64);  // norms with biases
  CHECK(phi.vector_parameters == 2 * 64);
  CHECK(phi.lm_head.bias == 1000);
}

TEST_CASE("granitemoehybrid: Mamba-2 or attention, then experts beside a shared MLP", "[unit]") {
  const ModelSpec model = read(family("granitemoehybrid", kGraniteHybrid));
  const LayerSpec& mamba = model.layers[0];
  CHECK(mamba.attention.kind == AttentionKind::mamba2);
  // inner 16 x 8 = 128; channels 128 + 2 x 16 = 160; rows 128 + 160 + 16 = 304
  check_shape(mamba, "linear_in", 304, 64, Shard::columns);
  check_shape(mamba, "linear_conv", 160, 4, Shard::columns, 1, 160);
  check_shape(mamba, "linear_out", 64, 128, Shard::rows);
  CHECK(mamba.vector_parameters == 3 * 16 + 128 + 2 * 64);
  CHECK(model.layers[1].attention.kind == AttentionKind::gqa);
  for (const LayerSpec& layer : model.layers) {
    check_shape(layer, "experts_gate_up", 320, 64, Shard::experts, 4);
    check_shape(layer, "shared_gate_up", 192, 64, Shard::columns);
    CHECK(matrix(layer, "shared_gate_up").module == "shared_mlp.input_linear");
  }
  const LayerSpec dense =
      read(family("granitemoehybrid", with(kGraniteHybrid, {{"num_local_experts", "0"}})))
          .layers[0];
  CHECK(dense.mlp.kind == MlpKind::dense);
  check_shape(dense, "down", 64, 96, Shard::rows);
  CHECK(read_message(family("granitemoehybrid",
                            with(kGraniteHybrid, {{"layer_types", R"(["mamba", "rwkv"])"}}))) ==
        "config.json: /layer_types: type \"rwkv\" of layer 1 is not modelled; modelled: mamba, "
        "attention");
  CHECK(read_message(family("granitemoehybrid", with(kGraniteHybrid, {{"layer_types", "null"}}))) ==
        "config.json: /layer_types: found 0 entries; needed: \"mamba\" or \"attention\" for each "
        "of the 2 layers (num_hidden_layers)");
}

TEST_CASE("MLA: the layers with experts may be listed", "[unit]") {
  const auto mla = [](const Fields& changes) {
    Fields fields = with(deepseek_v3(), {{"model_type", "\"glm4_moe_lite\""}});
    fields.erase("first_k_dense_replace");
    return with(fields, changes);
  };
  CHECK(kinds(mla({})) == "dE");  // this family's default; DeepSeek's is experts everywhere
  CHECK(kinds(mla({{"model_type", "\"deepseek_v3\""}})) == "EE");
  CHECK(kinds(mla({{"first_k_dense_replace", "0"}})) == "EE");
  CHECK(kinds(mla({{"mlp_layer_types", R"(["sparse", "dense"])"}})) == "Ed");
  CHECK(read_message(mla({{"mlp_layer_types", R"(["sparse", "wide"])"}})) ==
        "config.json: /mlp_layer_types: type \"wide\" of layer 1 is not modelled; modelled: dense, "
        "sparse");
}

TEST_CASE("a field gone or of another type is an error of one line, or has a default",
          "[property]") {
  for (const Fields& whole :
       {family("dots1", kDeepSeekMoe), family("glm4v_moe_text", kDeepSeekMoe),
        family("bailing_moe", kBailing), family("ernie4_5_moe", kErnie),
        family("hunyuan_v1_moe", kHunyuan), family("granitemoehybrid", kGraniteHybrid)}) {
    CHECK(read_message(whole) == "no error");
    for (const auto& [key, value] : whole) {
      INFO(whole.at("model_type") << ": " << key);
      for (const char* other : {"null", "-1", "1.5", "\"x\"", "[]", "[[]]", "{\"a\": 1}"}) {
        const std::string got = read_message(with(whole, {{key, other}}));
        const bool absent = std::string(other) == "null";
        CHECK(((absent && got == "no error") || got.rfind("config.json: /", 0) == 0));
        CHECK(got.find('\n') == std::string::npos);
      }
    }
  }
}
