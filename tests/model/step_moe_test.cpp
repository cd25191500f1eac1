// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "model/step_ops.hpp"
#include "tests/catch.hpp"
#include "tests/model/example_models.hpp"
#include "tests/model/find_op.hpp"

namespace smtwin {
namespace {

using test::find_op;
using test::qwen3_30b_a3b;
using test::Shape;
using test::shape;
using test::step_options;

OpList qwen_layer(const Layout& layout, std::int64_t batch) {
  const ModelSpec model = qwen3_30b_a3b();
  return layer_ops(model, model.layers[0], layout, step_options(batch, 1000));
}

TEST_CASE("experts that some token chose") {
  // 128 (1 - (1 - 8/128)^B): one token 8, two 15.5, 16 tokens 82.4, 64 tokens 125.9.
  CHECK(active_experts(128, 8, 1) == Approx(8));
  CHECK(active_experts(128, 8, 2) == Approx(15.5));
  CHECK(active_experts(128, 8, 16) == Approx(82.42).margin(0.01));
  CHECK(active_experts(128, 8, 64) == Approx(125.94).margin(0.01));
  CHECK(active_experts(8, 8, 5) == 8);
  CHECK(active_experts(0, 0, 5) == 0);
}

TEST_CASE("a grouped GEMM reads the active experts once") {
  const OpList ops = qwen_layer({.tp = 1}, 16);
  const StepOp& up = find_op(ops, "experts_gate_up");
  CHECK(shape(up) == Shape{16 * 8, 1536, 2048, 82});
  CHECK(up.weight_bytes == Approx(active_experts(128, 8, 16) * 1536 * 2048 * 2));
  const StepOp& down = find_op(ops, "experts_down");
  CHECK(shape(down) == Shape{16 * 8, 2048, 768, 82});
  // 9.437 MB an expert, gate-up and down together.
  CHECK((up.weight_bytes + down.weight_bytes) / active_experts(128, 8, 16) == Approx(9'437'184));
  CHECK(up.flops == 2.0 * 128 * 1536 * 2048);
  CHECK(shape(find_op(ops, "router")) == Shape{16, 128, 2048, 1});
}

TEST_CASE("the width of experts divides over tp, their number over ep") {
  const StepOp width = find_op(qwen_layer({.tp = 4}, 16), "experts_gate_up");
  CHECK(shape(width) == Shape{128, 384, 2048, 82});
  CHECK(width.experts == 128);
  // The busiest of 4 ranks: ceil(82.42 / 4) = 21 experts, 128 / 4 = 32 rows.
  const OpList ops = qwen_layer({.tp = 4, .ep = 4}, 16);
  const StepOp& number = find_op(ops, "experts_gate_up");
  CHECK(shape(number) == Shape{32, 1536, 2048, 21});
  CHECK(number.experts == 32);
  CHECK(number.weight_bytes == Approx(21.0 * 1536 * 2048 * 2));
  // Activations are on every rank: expert parallelism keeps both all-reduces.
  CHECK(test::has_op(ops, "all-reduce (attn)"));
  CHECK(find_op(ops, "all-reduce (mlp)").message_bytes == 16 * 2048 * 2);
  // One token: its 8 experts over 4 ranks are 2 on the busiest, with exactly representable sums.
  CHECK(find_op(qwen_layer({.tp = 4, .ep = 4}, 1), "experts_down").copies == 2);
}

TEST_CASE("a dense branch beside the experts is added to them") {
  ModelSpec model = qwen3_30b_a3b();
  LayerSpec& layer = model.layers[0];
  layer.mlp.intermediate = 1024;
  layer.weights.push_back(test::matrix("gate_up", 2048, 2048, Shard::columns));
  layer.weights.push_back(test::matrix("down", 2048, 1024, Shard::rows));
  const OpList ops = layer_ops(model, layer, {}, step_options(16, 1000));
  CHECK(shape(find_op(ops, "gate_up")) == Shape{16, 2048, 2048, 1});
  CHECK(test::has_op(ops, "add expert outputs"));
  CHECK_FALSE(test::has_op(qwen_layer({}, 16), "add expert outputs"));
}

TEST_CASE("a graph runs the batch it was captured for") {
  CHECK(captured_batch(1) == 1);
  CHECK(captured_batch(2) == 2);
  CHECK(captured_batch(3) == 4);
  CHECK(captured_batch(5) == 8);
  CHECK(captured_batch(9) == 16);
  CHECK(captured_batch(128) == 128);
  // Rows are padded, sequences are not: 5 sequences run 8 rows and read 5 caches.
  const OpList ops = qwen_layer({}, 5);
  CHECK(find_op(ops, "qkv").rows == 8);
  CHECK(find_op(ops, "attention").sequences == 5);
}

TEST_CASE("more tokens never activate fewer experts", "[property]") {
  for (const int experts : {8, 60, 256}) {
    double before = 0;
    for (int tokens = 1; tokens < 600; ++tokens) {
      const double active = active_experts(experts, 6, tokens);
      CHECK(active >= before);
      CHECK(active <= experts);
      before = active;
    }
  }
}

}  // namespace
}  // namespace smtwin
