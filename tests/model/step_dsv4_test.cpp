// SPDX-License-Identifier: Apache-2.0
#include "model/step_ops.hpp"
#include "tests/catch.hpp"
#include "tests/model/example_models.hpp"
#include "tests/model/find_op.hpp"

namespace smtwin {
namespace {

using test::dsv4_flash;
using test::find_op;
using test::has_op;
using test::Shape;
using test::shape;
using test::waits_for;

constexpr int kWindowLayer = 0;      // compress ratio 0
constexpr int kIndexedLayer = 4;     // 4
constexpr int kCompressedLayer = 3;  // 128

StepOptions v4_options(std::int64_t batch, std::int64_t context) {
  StepOptions options = test::step_options(batch, context);
  options.kv_format = NumberFormat::fp8;
  return options;
}

OpList v4_layer(int layer, int tp, std::int64_t batch, std::int64_t context) {
  const ModelSpec model = dsv4_flash();
  return layer_ops(model, model.layers[static_cast<std::size_t>(layer)], {.tp = tp},
                   v4_options(batch, context));
}

TEST_CASE("four kinds of layers") {
  // Ratio 0 and 4 routed by table, 128 and 4 by scores: 2, 1, 20 and 20 of 43.
  const auto kinds = layer_kinds(dsv4_flash());
  REQUIRE(kinds.size() == 4);
  CHECK(kinds[0].size() == 2);
  CHECK(kinds[1].size() == 1);
  CHECK(kinds[2].size() == 20);
  CHECK(kinds[3].size() == 20);
}

TEST_CASE("projections of a layer over 4 ranks") {
  const OpList ops = v4_layer(kWindowLayer, 4, 16, 8192);
  // 1024 + 512 columns on every rank; 16 heads of 512; 2 of 8 output groups, of 64 x 512 / 8 each.
  CHECK(shape(find_op(ops, "qkv_a")) == Shape{16, 1536, 4096, 1});
  CHECK(shape(find_op(ops, "q_b")) == Shape{16, 8192, 1024, 1});
  CHECK(shape(find_op(ops, "o_a")) == Shape{16, 1024, 4096, 2});
  CHECK(shape(find_op(ops, "o_b")) == Shape{16, 4096, 2048, 1});
  CHECK(find_op(ops, "all-reduce (attn)").message_bytes == 16 * 4096 * 2);
}

TEST_CASE("what sparse attention reads at each ratio") {
  // The window of 128; with ratio 4 the top 512 of 8192 / 4 = 2048 entries; with 128 all 64.
  const auto tokens = [](int layer, std::int64_t context) {
    return find_op(v4_layer(layer, 4, 16, context), "sparse attention").tokens;
  };
  CHECK(tokens(kWindowLayer, 8192) == 128);
  CHECK(tokens(kIndexedLayer, 8192) == 128 + 512);
  CHECK(tokens(kCompressedLayer, 8192) == 128 + 64);
  CHECK(tokens(kIndexedLayer, 1000) == 128 + 250);
  CHECK(tokens(kCompressedLayer, 100) == 100);
  CHECK(tokens(kWindowLayer, 100) == 100);
  // Rows of 448 fp8 + 64 bf16 + 8 scale bytes = 584 B, on every rank; 16 of 64 heads.
  const OpList ops = v4_layer(kIndexedLayer, 4, 16, 8192);
  const StepOp& attention = find_op(ops, "sparse attention");
  CHECK(attention.kv_bytes == 16 * 640 * 584.0);
  CHECK(attention.heads == 16);
  CHECK(find_op(v4_layer(kIndexedLayer, 1, 16, 8192), "sparse attention").kv_bytes ==
        attention.kv_bytes);
}

TEST_CASE("compressors run beside the queries, and attention waits for them") {
  const OpList window = v4_layer(kWindowLayer, 1, 16, 8192);
  CHECK_FALSE(has_op(window, "compressor_kv"));
  const OpList ops = v4_layer(kCompressedLayer, 1, 16, 8192);
  CHECK(shape(find_op(ops, "compressor_kv")) == Shape{16, 512, 4096, 1});
  CHECK(find_op(ops, "compressor_kv").stream == 1);
  CHECK_FALSE(waits_for(ops, "qkv_a", "compressor_kv"));
  CHECK(waits_for(ops, "compressor_kv", "norm (attn)"));
  CHECK(waits_for(ops, "sparse attention", "compressor pooling"));
  // Overlapping blocks of 4 double the columns.
  CHECK(find_op(v4_layer(kIndexedLayer, 1, 16, 8192), "compressor_kv").n == 1024);
}

TEST_CASE("the indexer of ratio 4") {
  CHECK_FALSE(has_op(v4_layer(kCompressedLayer, 1, 16, 8192), "index scores"));
  const OpList ops = v4_layer(kIndexedLayer, 4, 16, 8192);
  CHECK(shape(find_op(ops, "index_q_b")) == Shape{16, 8192, 1024, 1});
  CHECK(shape(find_op(ops, "index_weights")) == Shape{16, 64, 4096, 1});
  CHECK(shape(find_op(ops, "index_compressor_kv")) == Shape{16, 256, 4096, 1});
  // 2048 keys of 132 B for each sequence, 64 heads of 128.
  CHECK(find_op(ops, "index scores").kv_bytes == 16 * 2048 * 132.0);
  CHECK(find_op(ops, "index scores").flops == 2.0 * 16 * 2048 * 64 * 128);
  CHECK(find_op(ops, "index scores").stream == 2);
  CHECK(waits_for(ops, "index_q_b", "query norm"));
  CHECK_FALSE(waits_for(ops, "index_compressor_kv", "query norm"));
  CHECK_FALSE(waits_for(ops, "index scores", "q_b"));
  CHECK(waits_for(ops, "sparse attention", "index top-k"));
}

TEST_CASE("hyper-connections before and after both blocks") {
  const OpList ops = v4_layer(kWindowLayer, 4, 16, 8192);
  // (2 + 4) x 4 = 24 mixing weights from 4 x 4096 values, fp32, not divided.
  const StepOp& mix = find_op(ops, "hyper_attention");
  CHECK(shape(mix) == Shape{16, 24, 16384, 1});
  CHECK(mix.weight_bytes == 24 * 16384 * 4);
  CHECK(mix.pipe == MathPipe::fp32);
  CHECK(find_op(ops, "hyper sum (mlp)").read_bytes == 16 * 4 * 4096 * 2);
  CHECK(find_op(ops, "hyper expand (mlp)").write_bytes == 16 * 4 * 4096 * 2);
  CHECK(test::index_of(ops, "hyper expand (attn)") > test::index_of(ops, "all-reduce (attn)"));
}

TEST_CASE("FP4 experts, one shared expert beside them") {
  const OpList ops = v4_layer(kCompressedLayer, 4, 1, 8192);
  const StepOp& up = find_op(ops, "experts_gate_up");
  // One token: exactly its 6 experts, 2 x 2048 / 4 columns of 4096, 0.53125 B a weight.
  CHECK(shape(up) == Shape{6, 1024, 4096, 6});
  CHECK(up.weight_bytes == Approx(6 * 1024.0 * 4096 * 0.53125));
  CHECK(up.pipe == MathPipe::mxfp8);
  CHECK(find_op(ops, "shared_gate_up").stream == 1);
  CHECK_FALSE(waits_for(ops, "router", "shared_gate_up"));
  CHECK(waits_for(ops, "add expert outputs", "shared_down"));
  CHECK(has_op(ops, "expert top-k"));
  CHECK(has_op(v4_layer(kWindowLayer, 4, 1, 8192), "expert table lookup"));
}

}  // namespace
}  // namespace smtwin
