// SPDX-License-Identifier: Apache-2.0
#include "model/step_ops.hpp"
#include "tests/catch.hpp"
#include "tests/model/example_models.hpp"
#include "tests/model/find_op.hpp"

namespace smtwin {
namespace {

using test::find_op;
using test::has_op;
using test::llama_8b;
using test::Shape;
using test::shape;
using test::step_options;

OpList llama_layer(const Layout& layout, const StepOptions& options) {
  const ModelSpec model = llama_8b();
  return layer_ops(model, model.layers[0], layout, options);
}

TEST_CASE("the kernels of a Llama layer, in order") {
  CHECK(test::names(llama_layer({.tp = 1}, step_options(16, 1000))) ==
        std::vector<std::string>{"add + norm (attn)", "qkv", "rope", "kv write", "attention", "o",
                                 "add + norm (mlp)", "gate_up", "silu * mul", "down"});
  CHECK(test::names(llama_layer({.tp = 2}, step_options(16, 1000))) ==
        std::vector<std::string>{"add + norm (attn)", "qkv", "rope", "kv write", "attention", "o",
                                 "all-reduce (attn)", "add + norm (mlp)", "gate_up", "silu * mul",
                                 "down", "all-reduce (mlp)"});
}

TEST_CASE("shapes and bytes of a Llama layer on one GPU") {
  const OpList ops = llama_layer({.tp = 1}, step_options(16, 1000));
  CHECK(shape(find_op(ops, "qkv")) == Shape{16, 6144, 4096, 1});
  CHECK(shape(find_op(ops, "o")) == Shape{16, 4096, 4096, 1});
  CHECK(shape(find_op(ops, "gate_up")) == Shape{16, 28672, 4096, 1});
  CHECK(shape(find_op(ops, "down")) == Shape{16, 4096, 14336, 1});
  // 6144 x 4096 x 2 B of weights; 16 rows of 4096 in, 6144 out, 2 B each; 2 flops a product.
  const StepOp& qkv = find_op(ops, "qkv");
  CHECK(qkv.weight_bytes == 50'331'648);
  CHECK(qkv.read_bytes == 131'072);
  CHECK(qkv.write_bytes == 196'608);
  CHECK(qkv.flops == 2.0 * 16 * 6144 * 4096);
  CHECK(qkv.pipe == MathPipe::bf16);
  // The whole layer: 218,103,808 weights.
  double weights = 0;
  for (const StepOp& op : ops) weights += op.weight_bytes;
  CHECK(weights == 436'207'616);
  // Attention reads 1000 tokens of 2 x 8 x 128 x 2 B = 4096 B for each of 16 sequences, 32 heads
  // multiply 128 + 128 of each.
  const StepOp& attention = find_op(ops, "attention");
  CHECK(attention.kv_bytes == 16 * 1000 * 4096.0);
  CHECK(attention.flops == 2.0 * 16 * 32 * 1000 * 256);
  CHECK(find_op(ops, "kv write").write_bytes == 16 * 4096);
  CHECK(find_op(ops, "silu * mul").read_bytes == 16 * 28672 * 2);
  CHECK(find_op(ops, "silu * mul").write_bytes == 16 * 14336 * 2);
}

TEST_CASE("tensor parallelism divides heads and widths") {
  const OpList ops = llama_layer({.tp = 4}, step_options(16, 1000));
  CHECK(shape(find_op(ops, "qkv")) == Shape{16, 1536, 4096, 1});
  CHECK(shape(find_op(ops, "o")) == Shape{16, 4096, 1024, 1});
  CHECK(shape(find_op(ops, "gate_up")) == Shape{16, 7168, 4096, 1});
  CHECK(shape(find_op(ops, "down")) == Shape{16, 4096, 3584, 1});
  CHECK(find_op(ops, "attention").kv_bytes == 16 * 1000 * 1024.0);
  // Both all-reduces carry 16 rows of 4096 in bf16.
  CHECK(find_op(ops, "all-reduce (attn)").message_bytes == 131'072);
  CHECK(find_op(ops, "all-reduce (mlp)").message_bytes == 131'072);
  CHECK(find_op(ops, "all-reduce (mlp)").ranks == 4);
}

TEST_CASE("fewer KV heads than ranks are repeated, and so is their cache") {
  const OpList ops = llama_layer({.tp = 16}, step_options(1, 1000));
  CHECK(find_op(ops, "qkv").n == 512);
  // One KV head: 2 x 128 x 2 B = 512 B a token; 4096 / 16 = 256 B would be the naive answer.
  CHECK(find_op(ops, "attention").kv_bytes == 1000 * 512.0);
  CHECK(find_op(ops, "attention").heads == 2);
}

TEST_CASE("a window bounds what attention reads") {
  ModelSpec model = llama_8b();
  model.layers[0].attention.window = 128;
  const auto tokens = [&](std::int64_t context) {
    return find_op(layer_ops(model, model.layers[0], {}, step_options(1, context)),
                   "attention (window)")
        .tokens;
  };
  CHECK(tokens(100) == 100);
  CHECK(tokens(128) == 128);
  CHECK(tokens(100'000) == 128);
}

TEST_CASE("low-precision weights need quantized activations where the chip multiplies them") {
  ModelSpec model = llama_8b();
  for (WeightMatrix& m : model.layers[0].weights) m.format = NumberFormat::fp8;
  StepOptions options = step_options(16, 1000);
  const auto count = [&](const StepOptions& o) {
    int n = 0;
    for (const StepOp& op : layer_ops(model, model.layers[0], {}, o)) {
      n += op.name.starts_with("quantize") ? 1 : 0;
    }
    return n;
  };
  // Before QKV, O, gate-up and down.
  CHECK(count(options) == 4);
  const OpList ops = layer_ops(model, model.layers[0], {}, options);
  CHECK(find_op(ops, "qkv").read_bytes == 16 * 4096);
  CHECK(find_op(ops, "qkv").pipe == MathPipe::fp8);
  CHECK(find_op(ops, "quantize for down").read_bytes == 16 * 14336 * 2);
  CHECK(find_op(ops, "quantize for down").write_bytes == 16 * 14336);
  // Norms and the activation can do it, attention cannot: O keeps its own.
  options.fuse_quantization = true;
  CHECK(count(options) == 1);
  CHECK(has_op(layer_ops(model, model.layers[0], {}, options), "quantize for o"));
  // Without FP8 tensor cores the weights are expanded and activations stay bf16.
  options = step_options(16, 1000);
  options.math = {};
  CHECK(count(options) == 0);
  CHECK(find_op(layer_ops(model, model.layers[0], {}, options), "qkv").pipe == MathPipe::bf16);
}

TEST_CASE("an fp8 cache halves what attention reads") {
  StepOptions options = step_options(16, 1000);
  options.kv_format = NumberFormat::fp8;
  const OpList ops = llama_layer({.tp = 1}, options);
  CHECK(find_op(ops, "attention").kv_bytes == 16 * 1000 * 2048.0);
  CHECK(find_op(ops, "kv write").read_bytes == 16 * 4096);  // bf16 in
  CHECK(find_op(ops, "kv write").write_bytes == 16 * 2048);
}

TEST_CASE("attention splits sequences until the GPU is full") {
  // 188 SMs, two CTAs each = 376: 8 CTAs of one sequence x 47 parts, but 256 tokens at least.
  CHECK(attention_splits(8, 100'000, 188) == 47);
  CHECK(attention_splits(8, 1450, 188) == 5);
  CHECK(attention_splits(8, 100, 188) == 1);
  // From 80 % of 376 on, that is 301 CTAs, there is nothing to gain.
  CHECK(attention_splits(304, 100'000, 188) == 1);
  CHECK(attention_splits(296, 100'000, 188) == 1);
  CHECK(attention_splits(128, 100'000, 188) == 2);
  StepOptions options = step_options(1, 8192);
  options.sm_count = 188;
  const OpList ops = llama_layer({.tp = 1}, options);
  // 32 heads x 32 parts x (128 + 1) x 4 B of partial results.
  REQUIRE(find_op(ops, "attention").splits == 32);
  CHECK(find_op(ops, "combine splits").read_bytes == 32 * 32 * 129 * 4);
}

TEST_CASE("extras of some families: norms of Q and K, an output gate") {
  ModelSpec model = llama_8b();
  model.layers[0].attention.qk_norm = true;
  model.layers[0].attention.output_gate = true;
  const OpList ops = layer_ops(model, model.layers[0], {}, step_options(16, 1000));
  CHECK(find_op(ops, "q and k norm").read_bytes == 16 * (32 + 8) * 128 * 2);
  CHECK(find_op(ops, "output gate").write_bytes == 16 * 4096 * 2);
}

}  // namespace
}  // namespace smtwin
