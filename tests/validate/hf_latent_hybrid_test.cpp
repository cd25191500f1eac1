// SPDX-License-Identifier: Apache-2.0
// Shapes that the readers of latent attention (DeepSeek, GLM-5) and of hybrids with a state
// (Qwen3.5, Nemotron-H) make, by hand on small configs.
#include "tests/catch.hpp"
#include "tests/validate/hf_test_models.hpp"

using namespace smtwin;
using namespace smtwin::test;

namespace {

Fields qwen3_5() {
  return with(qwen3_moe(), {{"model_type", "\"qwen3_5_moe_text\""},
                            {"shared_expert_intermediate_size", "48"},
                            {"linear_num_key_heads", "2"},
                            {"linear_num_value_heads", "4"},
                            {"linear_key_head_dim", "16"},
                            {"linear_value_head_dim", "8"},
                            {"linear_conv_kernel_dim", "4"},
                            {"layer_types", R"(["linear_attention", "full_attention"])"}});
}

Fields nemotron() {
  return with(llama(), {{"model_type", "\"nemotron_h\""},
                        {"num_hidden_layers", "4"},
                        {"hybrid_override_pattern", "\"ME*-\""},
                        {"mamba_num_heads", "4"},
                        {"mamba_head_dim", "16"},
                        {"n_groups", "2"},
                        {"ssm_state_size", "32"},
                        {"conv_kernel", "4"},
                        {"n_routed_experts", "8"},
                        {"num_experts_per_tok", "2"},
                        {"n_shared_experts", "1"},
                        {"moe_intermediate_size", "32"},
                        {"moe_shared_expert_intermediate_size", "96"}});
}

}  // namespace

TEST_CASE("deepseek_v3: low-rank query, latent KV, absorbed projections", "[unit]") {
  const ModelSpec model = read(deepseek_v3());
  const LayerSpec& layer = model.layers[1];
  CHECK(layer.attention.kind == AttentionKind::mla);
  CHECK(layer.attention.kv_heads == 1);
  CHECK(layer.attention.head_dim == 36);  // 32 + 4
  CHECK(layer.attention.v_head_dim == 10);
  check_shape(layer, "qkv_a", 24 + 32 + 4, 64, Shard::replicated);
  check_shape(layer, "q_b", 8 * 16, 24, Shard::columns);
  check_shape(layer, "kv_b_k", 32, 12, Shard::heads, 8);
  check_shape(layer, "kv_b_v", 10, 32, Shard::heads, 8);
  check_shape(layer, "o", 64, 80, Shard::rows);
  check_shape(layer, "shared_gate_up", 64, 64, Shard::columns);
  CHECK(model.layers[0].mlp.kind == MlpKind::dense);
  CHECK_FALSE(layer.attention.indexer.has_value());
  const LayerSpec direct = read(with(deepseek_v3(), {{"q_lora_rank", "null"}})).layers[0];
  check_shape(direct, "qkv_a", 36, 64, Shard::replicated);
  check_shape(direct, "q", 128, 64, Shard::columns);
  CHECK_FALSE(has_matrix(direct, "q_b"));
}

TEST_CASE("an indexer, where the config has one", "[unit]") {
  const Fields fields = with(deepseek_v3(), {{"model_type", "\"glm_moe_dsa\""},
                                             {"index_n_heads", "4"},
                                             {"index_head_dim", "16"},
                                             {"index_topk", "2048"}});
  const LayerSpec layer = read(fields).layers[0];
  REQUIRE(layer.attention.indexer.has_value());
  CHECK(layer.attention.indexer->topk == 2048);
  CHECK(layer.attention.indexer->key_bytes_per_token == 20);
  check_shape(layer, "index_q_b", 64, 24, Shard::replicated);
  check_shape(layer, "index_k", 16, 64, Shard::replicated);
  check_shape(layer, "index_weights", 4, 64, Shard::replicated);
}

TEST_CASE("deepseek_v4: window, compressors, grouped output, hyper-connections", "[unit]") {
  const ModelSpec model = read(deepseek_v4());
  REQUIRE(model.layers.size() == 3);
  CHECK(model.hyper_streams == 4);
  CHECK(model.hyper_iterations == 20);
  CHECK(model.kv_format == NumberFormat::fp8);
  const LayerSpec& window = model.layers[0];
  check_shape(window, "qkv_a", 24 + 32, 64, Shard::replicated);
  check_shape(window, "q_b", 256, 24, Shard::columns);
  check_shape(window, "o_a", 6, 64, Shard::heads, 4);  // 8 heads x 32 / 4 groups
  check_shape(window, "o_b", 64, 24, Shard::rows);
  check_shape(window, "hyper_attention", 24, 256, Shard::replicated);
  CHECK_FALSE(has_matrix(window, "compressor_kv"));
  CHECK(window.mlp.hash_routed);
  CHECK(window.attention.window == 16);
  const LayerSpec& csa = model.layers[1];
  check_shape(csa, "compressor_kv", 64, 64, Shard::replicated);  // overlapping: twice 32
  check_shape(csa, "compressor_gate", 64, 64, Shard::replicated);
  check_shape(csa, "index_q_b", 64, 24, Shard::replicated);
  check_shape(csa, "index_compressor_kv", 32, 64, Shard::replicated);
  CHECK(csa.attention.indexer.has_value());
  CHECK_FALSE(csa.mlp.hash_routed);
  const LayerSpec& hca = model.layers[2];
  check_shape(hca, "compressor_kv", 32, 64, Shard::replicated);
  CHECK_FALSE(hca.attention.indexer.has_value());
  CHECK_FALSE(has_matrix(hca, "index_q_b"));
  CHECK(read_message(with(deepseek_v4(), {{"compress_ratios", "[0, 8, 4]"}})) ==
        "config.json: /compress_ratios/1: 8 is not modelled; modelled: 0, 4, 128");
  CHECK(read_message(with(deepseek_v4(), {{"compress_ratios", "[0, 4]"}})) ==
        "config.json: /compress_ratios: found 2 entries; needed: one for each of the 3 layers "
        "(num_hidden_layers)");
}

TEST_CASE("qwen3_5_moe: gated delta rule and gated attention", "[unit]") {
  const ModelSpec model = read(qwen3_5());
  const LayerSpec& linear = model.layers[0];
  CHECK(linear.attention.kind == AttentionKind::gated_delta);
  // Q and K 2 x 16 each, V and gate 4 x 8 each, decay and strength a value head.
  check_shape(linear, "linear_in", 2 * 32 + 2 * 32 + 2 * 4, 64, Shard::columns);
  check_shape(linear, "linear_conv", 96, 4, Shard::columns);
  check_shape(linear, "linear_out", 64, 32, Shard::rows);
  check_shape(linear, "shared_gate", 1, 64, Shard::replicated);
  const LayerSpec& full = model.layers[1];
  CHECK(full.attention.output_gate);
  check_shape(full, "qkv", 2 * 128 + 2 * 32, 64, Shard::columns);
  check_shape(full, "o", 64, 128, Shard::rows);
  // The interval says the same as the list.
  Fields by_interval = with(qwen3_5(), {{"full_attention_interval", "2"}});
  by_interval.erase("layer_types");
  CHECK(read(by_interval).layers[0].attention.kind == AttentionKind::gated_delta);
  CHECK(read(by_interval).layers[1].attention.kind == AttentionKind::gqa);
  CHECK(total_parameters(read(by_interval)) == total_parameters(model));
}

TEST_CASE("nemotron_h: one mixer a layer, MLPs without a gate", "[unit]") {
  const ModelSpec model = read(nemotron());
  const LayerSpec& mamba = model.layers[0];
  CHECK(mamba.attention.kind == AttentionKind::mamba2);
  CHECK(mamba.mlp.kind == MlpKind::none);
  // Inner 4 x 16 = 64, channels 64 + 2 x 2 x 32 = 192, a dt a head.
  check_shape(mamba, "linear_in", 64 + 192 + 4, 64, Shard::columns);
  check_shape(mamba, "linear_conv", 192, 4, Shard::columns, 1, 192);
  check_shape(mamba, "linear_out", 64, 64, Shard::rows);
  // 4 heads x 16 x 32 in fp32, three past inputs of 192 channels in bf16.
  CHECK(state_bytes_per_sequence(mamba, NumberFormat::bf16) == 4 * 16 * 32 * 4 + 3 * 192 * 2);
  const LayerSpec& experts = model.layers[1];
  CHECK(experts.attention.kind == AttentionKind::none);
  CHECK_FALSE(experts.mlp.gated);
  check_shape(experts, "experts_gate_up", 32, 64, Shard::experts, 8);
  check_shape(experts, "shared_gate_up", 96, 64, Shard::columns);
  CHECK(model.layers[2].attention.kind == AttentionKind::gqa);
  check_shape(model.layers[3], "gate_up", 160, 64, Shard::columns);
  CHECK(read_message(with(nemotron(), {{"hybrid_override_pattern", "\"MEX-\""}})) ==
        "config.json: /hybrid_override_pattern: letter 2 is none of M (Mamba-2), * (attention), "
        "E (experts), - (MLP)");
  CHECK(read_message(with(nemotron(), {{"hybrid_override_pattern", "\"ME\""}})) ==
        "config.json: /hybrid_override_pattern: found 2 letters; needed: one for each of the 4 "
        "layers (num_hidden_layers)");
  CHECK(read_message(with(nemotron(), {{"moe_latent_size", "64"}})) ==
        "config.json: /moe_latent_size: 64 is not modelled; modelled: null");
}
