// SPDX-License-Identifier: Apache-2.0
#include "model/step_ops.hpp"
#include "tests/catch.hpp"
#include "tests/model/example_models.hpp"
#include "tests/model/find_op.hpp"

namespace smtwin {
namespace {

using test::deepseek_v3;
using test::find_op;
using test::has_op;
using test::Shape;
using test::shape;
using test::step_options;
using test::waits_for;

OpList v3_layer(int layer, const Layout& layout, const StepOptions& options) {
  const ModelSpec model = deepseek_v3();
  return layer_ops(model, model.layers[static_cast<std::size_t>(layer)], layout, options);
}

TEST_CASE("shapes of DeepSeek-V3's attention over 8 ranks") {
  const OpList ops = v3_layer(60, {.tp = 8}, step_options(16, 1000));
  // 1536 + 512 + 64 = 2112 columns on every rank; 128 / 8 = 16 heads of 192, 16 of 128.
  CHECK(shape(find_op(ops, "qkv_a")) == Shape{16, 2112, 7168, 1});
  CHECK(shape(find_op(ops, "q_b")) == Shape{16, 3072, 1536, 1});
  CHECK(shape(find_op(ops, "kv_b_k")) == Shape{16, 512, 128, 16});
  CHECK(shape(find_op(ops, "kv_b_v")) == Shape{16, 128, 512, 16});
  CHECK(shape(find_op(ops, "o")) == Shape{16, 7168, 2048, 1});
  CHECK(find_op(ops, "qkv_a").weight_bytes == Approx(2112.0 * 7168 * (1 + 4.0 / 16384)));
}

TEST_CASE("every rank reads the whole latent cache") {
  for (const int tp : {1, 2, 8}) {
    const OpList ops = v3_layer(60, {.tp = tp}, step_options(16, 1000));
    const StepOp& attention = find_op(ops, "latent attention");
    CHECK(attention.kv_bytes == 16 * 1000 * 576 * 2);
    CHECK(attention.heads == 128 / tp);
    // Scores over 576, values over 512.
    CHECK(attention.flops == 2.0 * 16 * (128.0 / tp) * 1000 * (576 + 512));
  }
}

TEST_CASE("the first layers are dense, the others have experts") {
  const StepOptions options = step_options(16, 1000);
  const OpList dense = v3_layer(0, {.tp = 8}, options);
  CHECK(shape(find_op(dense, "gate_up")) == Shape{16, 4608, 7168, 1});
  CHECK_FALSE(has_op(dense, "router"));
  const OpList sparse = v3_layer(3, {.tp = 8}, options);
  CHECK(shape(find_op(sparse, "router")) == Shape{16, 256, 7168, 1});
  CHECK_FALSE(has_op(sparse, "gate_up"));
  CHECK(layer_kinds(deepseek_v3()).size() == 2);
}

TEST_CASE("norms quantize for the GEMM after them; attention cannot") {
  const OpList ops = v3_layer(0, {.tp = 1}, step_options(16, 1000));
  CHECK_FALSE(has_op(ops, "quantize for qkv_a"));
  CHECK_FALSE(has_op(ops, "quantize for q_b"));
  CHECK(has_op(ops, "quantize for o"));
}

TEST_CASE("a model without query compression has one query projection") {
  ModelSpec model = deepseek_v3();
  LayerSpec& layer = model.layers[0];
  layer.attention.q_lora_rank = 0;
  layer.weights = {test::matrix("qkv_a", 576, 7168, Shard::replicated),
                   test::matrix("q", 128 * 192, 7168, Shard::columns),
                   test::matrix("kv_b_k", 512, 128, Shard::heads, NumberFormat::bf16, 128),
                   test::matrix("kv_b_v", 128, 512, Shard::heads, NumberFormat::bf16, 128),
                   test::matrix("o", 7168, 128 * 128, Shard::rows)};
  const OpList ops = layer_ops(model, layer, {.tp = 8}, step_options(16, 1000));
  CHECK(shape(find_op(ops, "q")) == Shape{16, 3072, 7168, 1});
  CHECK_FALSE(has_op(ops, "q_b"));
  CHECK_FALSE(has_op(ops, "query norm"));
}

// GLM-5's indexer on V3's attention: 32 heads of 128, top 2048.
ModelSpec with_indexer() {
  ModelSpec model = deepseek_v3();
  for (LayerSpec& layer : model.layers) {
    layer.attention.indexer =
        IndexerSpec{.heads = 32, .head_dim = 128, .topk = 2048, .key_bytes_per_token = 132};
    layer.weights.push_back(test::matrix("index_q_b", 4096, 1536, Shard::replicated));
    layer.weights.push_back(test::matrix("index_k", 128, 7168, Shard::replicated));
    layer.weights.push_back(test::matrix("index_weights", 32, 7168, Shard::replicated));
  }
  return model;
}

TEST_CASE("the indexer reads every key, attention the chosen rows") {
  const ModelSpec model = with_indexer();
  StepOptions options = step_options(16, 10'000);
  options.kv_format = NumberFormat::fp8;
  const OpList ops = layer_ops(model, model.layers[60], {.tp = 8}, options);
  // Not divided by tp: 16 x 10,000 keys of 132 B, 32 heads x 128 products a key.
  CHECK(find_op(ops, "index scores").kv_bytes == 16 * 10'000 * 132.0);
  CHECK(find_op(ops, "index scores").flops == 2.0 * 16 * 10'000 * 32 * 128);
  CHECK(shape(find_op(ops, "index_q_b")) == Shape{16, 4096, 1536, 1});
  CHECK(shape(find_op(ops, "index_k")) == Shape{16, 128, 7168, 1});
  // 512 fp8 + 4 scales of 4 B + 64 bf16 = 656 B a row.
  const StepOp& attention = find_op(ops, "sparse attention");
  CHECK(attention.tokens == 2048);
  CHECK(attention.kv_bytes == 16 * 2048 * 656.0);
  CHECK(waits_for(ops, "sparse attention", "index top-k"));
  options.context = 1000;
  CHECK(find_op(layer_ops(model, model.layers[60], {}, options), "sparse attention").tokens ==
        1000);
  options.kv_format = NumberFormat::bf16;
  CHECK(find_op(layer_ops(model, model.layers[60], {}, options), "sparse attention").kv_bytes ==
        16 * 1000 * 576 * 2.0);
}

}  // namespace
}  // namespace smtwin
