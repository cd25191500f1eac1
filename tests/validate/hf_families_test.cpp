// SPDX-License-Identifier: Apache-2.0
// Shapes that the readers of GQA families make, by hand on small configs.
#include "tests/catch.hpp"
#include "tests/validate/hf_test_models.hpp"

using namespace smtwin;
using namespace smtwin::test;

namespace {

Fields gpt_oss() {
  return with(llama(), {{"model_type", "\"gpt_oss\""},
                        {"num_local_experts", "4"},
                        {"num_experts_per_tok", "2"},
                        {"sliding_window", "128"}});
}

Fields gemma4() {
  return with(llama(), {{"model_type", "\"gemma4_text\""},
                        {"head_dim", "16"},
                        {"global_head_dim", "32"},
                        {"num_global_key_value_heads", "1"},
                        {"attention_k_eq_v", "true"},
                        {"enable_moe_block", "true"},
                        {"num_experts", "4"},
                        {"top_k_experts", "2"},
                        {"moe_intermediate_size", "24"},
                        {"sliding_window", "1024"},
                        {"layer_types", R"(["sliding_attention", "full_attention"])"}});
}

Fields mimo() {
  return with(llama(), {{"model_type", "\"mimo_v2_flash\""},
                        {"head_dim", "24"},
                        {"v_head_dim", "16"},
                        {"swa_num_key_value_heads", "4"},
                        {"swa_num_attention_heads", "8"},
                        {"swa_head_dim", "24"},
                        {"swa_v_head_dim", "16"},
                        {"add_swa_attention_sink_bias", "true"},
                        {"sliding_window", "128"},
                        {"hybrid_layer_pattern", "[0, 1]"},
                        {"moe_layer_freq", "[0, 1]"},
                        {"n_routed_experts", "8"},
                        {"num_experts_per_tok", "2"},
                        {"moe_intermediate_size", "32"}});
}

}  // namespace

TEST_CASE("llama: fused qkv and gate-up", "[unit]") {
  const ModelSpec model = read(llama());
  REQUIRE(model.layers.size() == 2);
  const LayerSpec& layer = model.layers[1];
  CHECK(layer.attention.kind == AttentionKind::gqa);
  CHECK(layer.attention.head_dim == 8);  // 64 / 8 heads
  CHECK_FALSE(layer.attention.qk_norm);
  check_shape(layer, "qkv", 64 + 2 * 16, 64, Shard::columns);
  check_shape(layer, "o", 64, 64, Shard::rows);
  check_shape(layer, "gate_up", 320, 64, Shard::columns);
  check_shape(layer, "down", 64, 160, Shard::rows);
  CHECK(layer.weights.size() == 4);
  CHECK(layer.vector_parameters == 128);
  CHECK(model.embedding.out == 1000);
  CHECK(model.embedding.in == 64);
  CHECK(model.lm_head.copies == 1);
  // 2 x (96 x 64 + 64 x 64 + 320 x 64 + 64 x 160 + 128) + 2 x 64,000 + 64
  CHECK(total_parameters(model) == 2 * (6144 + 4096 + 20480 + 10240 + 128) + 128'000 + 64);
  CHECK(active_parameters(model) == total_parameters(model));
}

TEST_CASE("biases and norms of the dense families", "[unit]") {
  const LayerSpec qwen2 = read(with(llama(), {{"model_type", "\"qwen2\""}})).layers[0];
  check_shape(qwen2, "qkv", 96, 64, Shard::columns, 1, 96);
  check_shape(qwen2, "o", 64, 64, Shard::rows, 1, 0);
  const LayerSpec biased =
      read(with(llama(), {{"attention_bias", "true"}, {"mlp_bias", "true"}})).layers[0];
  check_shape(biased, "qkv", 96, 64, Shard::columns, 1, 96);
  check_shape(biased, "o", 64, 64, Shard::rows, 1, 64);
  check_shape(biased, "gate_up", 320, 64, Shard::columns, 1, 320);
  check_shape(biased, "down", 64, 160, Shard::rows, 1, 64);
  // Qwen3: head_dim need not be hidden / heads; a norm of 16 for Q and K each.
  const LayerSpec qwen3 =
      read(with(llama(), {{"model_type", "\"qwen3\""}, {"head_dim", "16"}})).layers[0];
  check_shape(qwen3, "qkv", 128 + 2 * 32, 64, Shard::columns);
  check_shape(qwen3, "o", 64, 128, Shard::rows);
  CHECK(qwen3.attention.qk_norm);
  CHECK(qwen3.vector_parameters == 128 + 32);
  const LayerSpec phi3 = read(with(llama(), {{"model_type", "\"phi3\""}})).layers[0];
  CHECK(matrix(phi3, "qkv").module == "self_attn.qkv_proj");
  check_shape(phi3, "gate_up", 320, 64, Shard::columns);
}

TEST_CASE("windows: for all layers, behind a flag, or by layer", "[unit]") {
  const auto windows = [](const Fields& fields) {
    std::vector<std::int64_t> result;
    for (const LayerSpec& layer : read(fields).layers) result.push_back(layer.attention.window);
    return result;
  };
  using Windows = std::vector<std::int64_t>;
  const Fields mistral = with(llama(), {{"model_type", "\"mistral\""}, {"sliding_window", "512"}});
  CHECK(windows(mistral) == Windows{512, 512});
  CHECK(windows(with(mistral, {{"sliding_window", "null"}})) == Windows{0, 0});
  CHECK(windows(with(mistral, {{"sliding_window", "4096"}})) == Windows{0, 0});  // all of it
  const Fields qwen = with(llama(), {{"model_type", "\"qwen3\""}, {"sliding_window", "512"}});
  CHECK(windows(qwen) == Windows{0, 0});
  const Fields on = with(qwen, {{"use_sliding_window", "true"}, {"max_window_layers", "1"}});
  CHECK(windows(on) == Windows{0, 512});
  CHECK(windows(with(on, {{"layer_types", R"(["sliding_attention", "full_attention"])"}})) ==
        Windows{512, 0});
  CHECK(windows(gpt_oss()) == Windows{128, 0});
  CHECK(read_message(with(on, {{"layer_types", R"(["full_attention"])"}})) ==
        "config.json: /layer_types: found 1 entries; needed: one for each of the 2 layers "
        "(num_hidden_layers)");
  CHECK(read_message(with(on, {{"layer_types", R"(["full_attention", "mamba"])"}})) ==
        "config.json: /layer_types: type \"mamba\" of layer 1 is not modelled; modelled: "
        "full_attention, sliding_attention, chunked_attention, linear_attention");
}

TEST_CASE("qwen3_moe: which layers have experts", "[unit]") {
  const ModelSpec model = read(qwen3_moe());
  const LayerSpec& layer = model.layers[0];
  CHECK(layer.mlp.kind == MlpKind::moe);
  CHECK(layer.mlp.experts == 8);
  CHECK(layer.mlp.experts_per_token == 2);
  CHECK(layer.mlp.expert_intermediate == 32);
  check_shape(layer, "router", 8, 64, Shard::replicated);
  check_shape(layer, "experts_gate_up", 64, 64, Shard::experts, 8);
  check_shape(layer, "experts_down", 64, 32, Shard::experts, 8);
  CHECK_FALSE(has_matrix(layer, "shared_down"));
  const auto kinds = [](const Fields& fields) {
    std::string letters;
    for (const LayerSpec& l : read(fields).layers)
      letters += l.mlp.kind == MlpKind::moe ? 'E' : 'd';
    return letters;
  };
  const Fields four = with(qwen3_moe(), {{"num_hidden_layers", "4"}});
  CHECK(kinds(four) == "EEEE");
  CHECK(kinds(with(four, {{"decoder_sparse_step", "2"}})) == "dEdE");
  CHECK(kinds(with(four, {{"mlp_only_layers", "[0, 3, 9]"}})) == "dEEd");
}

TEST_CASE("qwen2_moe and glm4_moe: shared experts", "[unit]") {
  const LayerSpec qwen = read(with(qwen3_moe(), {{"model_type", "\"qwen2_moe\""},
                                                 {"shared_expert_intermediate_size", "96"}}))
                             .layers[0];
  check_shape(qwen, "shared_gate_up", 192, 64, Shard::columns);
  check_shape(qwen, "shared_down", 64, 96, Shard::rows);
  check_shape(qwen, "shared_gate", 1, 64, Shard::replicated);
  check_shape(qwen, "qkv", 128 + 64, 64, Shard::columns, 1, 192);
  const ModelSpec glm = read(with(qwen3_moe(), {{"model_type", "\"glm4_moe\""},
                                                {"n_routed_experts", "8"},
                                                {"n_shared_experts", "2"},
                                                {"attention_bias", "true"},
                                                {"first_k_dense_replace", "1"}}));
  CHECK(glm.layers[0].mlp.kind == MlpKind::dense);
  check_shape(glm.layers[1], "shared_gate_up", 128, 64, Shard::columns);
  CHECK_FALSE(has_matrix(glm.layers[1], "shared_gate"));
  CHECK(matrix(glm.layers[1], "router").format == NumberFormat::fp32);
  check_shape(glm.layers[1], "o", 64, 128, Shard::rows, 1, 0);
}

TEST_CASE("mixtral and minimax_m2", "[unit]") {
  const Fields mixtral = with(
      llama(),
      {{"model_type", "\"mixtral\""}, {"num_local_experts", "8"}, {"num_experts_per_tok", "2"}});
  const LayerSpec layer = read(mixtral).layers[0];
  check_shape(layer, "experts_gate_up", 320, 64, Shard::experts, 8);
  CHECK(matrix(layer, "experts_down").module == "block_sparse_moe.experts.0.w2");
  const Fields minimax = with(mixtral, {{"model_type", "\"minimax_m2\""},
                                        {"use_qk_norm", "true"},
                                        {"qk_norm_type", "\"per_layer\""},
                                        {"use_routing_bias", "true"}});
  // Norms: 2 x 64, one over all heads of Q (64) and of K (16), and a bias for 8 experts.
  CHECK(read(minimax).layers[0].vector_parameters == 128 + 80 + 8);
  CHECK(read_message(with(minimax, {{"attn_type_list", "[1, 0]"}})) ==
        "config.json: /attn_type_list: only 1 (full attention) in every layer is modelled");
  CHECK(read_message(with(minimax, {{"shared_intermediate_size", "8"}})) ==
        "config.json: /shared_intermediate_size: 8 is not modelled; modelled: 0");
}

TEST_CASE("gpt_oss: biases, sinks, and its maker's active count", "[unit]") {
  const ModelSpec model = read(gpt_oss());
  const LayerSpec& layer = model.layers[0];
  CHECK(layer.attention.sink);
  check_shape(layer, "qkv", 96, 64, Shard::columns, 1, 96);
  check_shape(layer, "o", 64, 64, Shard::rows, 1, 64);
  check_shape(layer, "router", 4, 64, Shard::replicated, 1, 4);
  check_shape(layer, "experts_gate_up", 320, 64, Shard::experts, 4, 4 * 320);
  check_shape(layer, "experts_down", 64, 160, Shard::experts, 4, 4 * 64);
  CHECK(layer.vector_parameters == 128 + 8);  // two norms, a sink a head
  // Half of the experts, biases too, and one of two tables of 64,000.
  const double experts = 2 * (4 * (320 * 64 + 320) + 4 * (64 * 160 + 64));
  CHECK(active_parameters(model) == total_parameters(model) - experts / 2 - 64'000);
}

TEST_CASE("llama4: chunks in three of four layers, experts in some", "[unit]") {
  const Fields fields = with(llama(), {{"model_type", "\"llama4_text\""},
                                       {"num_hidden_layers", "8"},
                                       {"num_local_experts", "4"},
                                       {"num_experts_per_tok", "1"},
                                       {"intermediate_size_mlp", "320"},
                                       {"attention_chunk_size", "512"},
                                       {"interleave_moe_layer_step", "2"}});
  const ModelSpec model = read(fields);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(model.layers[i].attention.window == (i % 4 == 3 ? 0 : 512));
    CHECK((model.layers[i].mlp.kind == MlpKind::moe) == (i % 2 == 1));
  }
  check_shape(model.layers[0], "gate_up", 640, 64, Shard::columns);
  check_shape(model.layers[1], "experts_gate_up", 320, 64, Shard::experts, 4);
  check_shape(model.layers[1], "shared_gate_up", 320, 64, Shard::columns);
  CHECK(read(with(fields, {{"moe_layers", "[0]"}})).layers[0].mlp.kind == MlpKind::moe);
}

TEST_CASE("gemma4: wider heads in full layers, V from K, two MLPs", "[unit]") {
  const ModelSpec model = read(gemma4());
  check_shape(model.layers[0], "qkv", 8 * 16 + 2 * 2 * 16, 64, Shard::columns);
  check_shape(model.layers[1], "qkv", 8 * 32 + 32, 64, Shard::columns);  // no V matrix
  check_shape(model.layers[1], "o", 64, 256, Shard::rows);
  CHECK(kv_entry_bytes(model.layers[1].attention, NumberFormat::bf16) == 2 * 32 * 2);  // K and V
  CHECK(model.layers[0].attention.window == 1024);
  CHECK(model.layers[1].attention.window == 0);
  CHECK(model.layers[0].mlp.intermediate == 160);
  check_shape(model.layers[0], "gate_up", 320, 64, Shard::columns);
  check_shape(model.layers[0], "experts_gate_up", 48, 64, Shard::experts, 4);
  CHECK(model.tied_embeddings);  // the default of this family
  CHECK(model.lm_head.copies == 0);
  // Gemma-4 E models: K and V shared between layers, embeddings per layer.
  for (const char* key : {"num_kv_shared_layers", "hidden_size_per_layer_input"}) {
    CHECK(read_message(with(gemma4(), {{key, "2"}})) ==
          std::string("config.json: /") + key + ": 2 is not modelled; modelled: 0");
  }
}

TEST_CASE("mimo_v2_flash: other heads in window layers, V narrower than K", "[unit]") {
  const ModelSpec model = read(mimo());
  check_shape(model.layers[0], "qkv", 8 * 24 + 2 * (24 + 16), 64, Shard::columns);
  check_shape(model.layers[1], "qkv", 8 * 24 + 4 * (24 + 16), 64, Shard::columns);
  check_shape(model.layers[0], "o", 64, 128, Shard::rows);
  CHECK_FALSE(model.layers[0].attention.sink);
  CHECK(model.layers[1].attention.sink);
  CHECK(model.layers[1].attention.window == 128);
  CHECK(model.layers[0].mlp.kind == MlpKind::dense);
  CHECK(model.layers[1].mlp.kind == MlpKind::moe);
}

TEST_CASE("heads that do not go together are refused", "[unit]") {
  CHECK(read_message(with(llama(), {{"num_key_value_heads", "3"}})) ==
        "config.json: /num_key_value_heads: found 3; allowed: a divisor of num_attention_heads 8");
  CHECK(read_message(with(llama(), {{"num_attention_heads", "6"}})) ==
        "config.json: /head_dim: missing, and hidden_size 64 is not a multiple of "
        "num_attention_heads 6");
  CHECK(read_message(with(qwen3_moe(), {{"num_experts_per_tok", "9"}})) ==
        "config.json: /num_experts_per_tok: found 9; allowed: an integer from 1 to 8");
  CHECK(read_message(with(deepseek_v4(), {{"o_groups", "3"}})) ==
        "config.json: /o_groups: found 3; allowed: a divisor of num_attention_heads 8");
}
