// SPDX-License-Identifier: Apache-2.0
#include "model/step_ops.hpp"
#include "tests/catch.hpp"
#include "tests/model/example_models.hpp"
#include "tests/model/find_op.hpp"

namespace smtwin {
namespace {

using test::find_op;
using test::Shape;
using test::shape;
using test::step_options;

// Qwen3.5-35B-A3B's linear attention: 16 key and 32 value heads of 128, hidden 2048.
LayerSpec gated_delta_layer() {
  LayerSpec layer;
  AttentionSpec& a = layer.attention;
  a.kind = AttentionKind::gated_delta;
  a.key_heads = 16;
  a.value_heads = 32;
  a.key_dim = 128;
  a.value_dim = 128;
  a.conv_kernel = 4;
  a.conv_channels = 2 * 16 * 128 + 32 * 128;
  layer.weights = {test::matrix("linear_in", 2 * 2048 + 2 * 4096 + 64, 2048, Shard::columns),
                   test::matrix("linear_conv", 8192, 4, Shard::columns),
                   test::matrix("linear_out", 2048, 4096, Shard::rows)};
  return layer;
}

ModelSpec one_layer(const LayerSpec& layer) {
  ModelSpec model;
  model.hidden = 2048;
  model.vocabulary = 1024;
  model.layers = {layer};
  test::add_embeddings(model);
  return model;
}

TEST_CASE("a state is read and written once a step, whatever the context") {
  const LayerSpec layer = gated_delta_layer();
  const ModelSpec model = one_layer(layer);
  for (const std::int64_t context : {1, 100'000}) {
    const OpList ops = layer_ops(model, layer, {}, step_options(16, context));
    // 16 sequences x 32 heads x 128 x 128 x 4 B = 33.5 MB each way.
    const StepOp& update = find_op(ops, "gated delta rule");
    CHECK(update.kv_bytes == 16 * 32 * 128 * 128 * 4.0);
    CHECK(update.write_bytes == update.kv_bytes + 16 * 4096 * 2);
    // Decay, read by the key, write, read by the query: 8 flops an element.
    CHECK(update.fp32_flops == 8.0 * 16 * 32 * 128 * 128);
  }
}

TEST_CASE("its projections and heads divide over ranks") {
  const LayerSpec layer = gated_delta_layer();
  const OpList ops = layer_ops(one_layer(layer), layer, {.tp = 4}, step_options(16, 1000));
  CHECK(shape(find_op(ops, "linear_in")) == Shape{16, 3088, 2048, 1});
  CHECK(shape(find_op(ops, "linear_out")) == Shape{16, 2048, 1024, 1});
  CHECK(find_op(ops, "gated delta rule").kv_bytes == 16 * 8 * 128 * 128 * 4.0);
  CHECK(test::has_op(ops, "all-reduce (attn)"));
}

TEST_CASE("Mamba-2 updates its state in three passes") {
  LayerSpec layer = gated_delta_layer();
  layer.attention.kind = AttentionKind::mamba2;
  const OpList ops = layer_ops(one_layer(layer), layer, {}, step_options(1, 1000));
  CHECK(find_op(ops, "state-space update").fp32_flops == 6.0 * 32 * 128 * 128);
}

TEST_CASE("a layer may be attention alone or an MLP alone") {
  LayerSpec experts = test::qwen3_30b_a3b().layers[0];
  experts.attention = {};
  const OpList ops = layer_ops(one_layer(experts), experts, {}, step_options(1, 1000));
  CHECK(ops.front().name == "add + norm (mlp)");
  CHECK(ops.back().name == "sum over experts");
}

}  // namespace
}  // namespace smtwin
