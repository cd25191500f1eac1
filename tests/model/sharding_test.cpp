// SPDX-License-Identifier: Apache-2.0
#include "model/sharding.hpp"

#include "tests/catch.hpp"
#include "tests/model/example_models.hpp"

namespace smtwin {
namespace {

using test::deepseek_v3;
using test::dsv4_flash;
using test::llama_8b;
using test::qwen3_30b_a3b;

std::string first_message(const ModelSpec& model, const Layout& layout) {
  const auto violations = check_layout(model, layout);
  return violations.empty() ? "" : describe(violations.front(), model);
}

TEST_CASE("a layout reads as people write it") {
  CHECK(to_string(Layout{.tp = 4}) == "TP4");
  CHECK(to_string(Layout{.tp = 8, .ep = 8}) == "TP8 EP8");
  CHECK(to_string(Layout{.tp = 2, .ep = 1, .dp = 4}) == "4 x TP2");
  CHECK(Layout{.tp = 2, .ep = 1, .dp = 4}.gpus() == 8);
}

TEST_CASE("query columns divide, KV columns stop at one head") {
  const ModelSpec model = llama_8b();
  const LayerSpec& layer = model.layers[0];
  const WeightMatrix& qkv = *find_matrix(layer, "qkv");
  // tp 2: (32 + 2 x 8) / 2 = 24 heads of 128 = 3072 columns.
  CHECK(shard_matrix(qkv, layer, {.tp = 2}).out == 3072);
  // tp 16: 2 query heads and one K and one V head, though 8 / 16 heads would be half of one:
  // (2 + 2) x 128 = 512; 6144 / 16 = 384 would be the naive answer.
  CHECK(shard_matrix(qkv, layer, {.tp = 16}).out == 512);
  CHECK(kv_heads_per_rank(layer.attention, 16) == 1);
  // The gate of an output-gated attention divides with the queries.
  LayerSpec gated = layer;
  gated.attention.output_gate = true;
  const WeightMatrix wide = test::matrix("qkv", 2 * 4096 + 2048, 4096, Shard::columns);
  CHECK(shard_matrix(wide, gated, {.tp = 16}).out == 2 * 256 + 256);
}

TEST_CASE("rows divide the input, replicated matrices stay whole") {
  const ModelSpec model = deepseek_v3();
  const LayerSpec& layer = model.layers[60];
  const Layout tp8{.tp = 8};
  CHECK(shard_matrix(*find_matrix(layer, "o"), layer, tp8).in == 2048);
  CHECK(shard_matrix(*find_matrix(layer, "o"), layer, tp8).out == 7168);
  CHECK(shard_matrix(*find_matrix(layer, "qkv_a"), layer, tp8).out == 2112);
  CHECK(shard_matrix(*find_matrix(layer, "kv_b_k"), layer, tp8).copies == 16);
}

TEST_CASE("experts divide by width or by number") {
  const ModelSpec model = deepseek_v3();
  const LayerSpec& layer = model.layers[60];
  const WeightMatrix& up = *find_matrix(layer, "experts_gate_up");
  const WeightMatrix& down = *find_matrix(layer, "experts_down");
  const MatrixShard by_width = shard_matrix(up, layer, {.tp = 8});
  CHECK(by_width.copies == 256);
  CHECK(by_width.out == 2 * 256);
  const MatrixShard by_number = shard_matrix(up, layer, {.tp = 8, .ep = 8});
  CHECK(by_number.copies == 32);
  CHECK(by_number.out == 4096);
  // Both: 4 groups of 64 experts, each expert over 2 ranks.
  const MatrixShard both = shard_matrix(down, layer, {.tp = 8, .ep = 4});
  CHECK(both.copies == 64);
  CHECK(both.in == 1024);
  CHECK(both.bytes == Approx(by_width.bytes / 2));
}

TEST_CASE("MXFP4 experts are dealt in whole blocks of 32") {
  // gpt-oss: width 2880 = 90 blocks; over 4 ranks ceil(90 / 4) = 23 blocks = 736, not 720.
  LayerSpec layer;
  layer.mlp.kind = MlpKind::moe;
  layer.mlp.experts = 128;
  layer.mlp.expert_intermediate = 2880;
  const WeightMatrix up =
      test::matrix("experts_gate_up", 5760, 2880, Shard::experts, NumberFormat::mxfp4, 128);
  CHECK(shard_matrix(up, layer, {.tp = 4}).out == 2 * 736);
  CHECK(shard_matrix(up, layer, {.tp = 1}).out == 5760);
}

TEST_CASE("the vocabulary is padded to 64 rows a rank") {
  const ModelSpec model = llama_8b();
  // 128,256 / 8 = 16,032 is no multiple of 64; 251 x 64 = 16,064 is.
  CHECK(shard_vocabulary(model.lm_head, {.tp = 8}).out == 16064);
  CHECK(shard_vocabulary(model.lm_head, {.tp = 1}).out == 128256);
}

TEST_CASE("a bias follows its columns") {
  ModelSpec model = llama_8b();
  LayerSpec& layer = model.layers[0];
  layer.weights[0].bias = 6144;
  const double without = 3072.0 * 4096 * 2;
  CHECK(shard_matrix(layer.weights[0], layer, {.tp = 2}).bytes == Approx(without + 3072 * 2));
}

TEST_CASE("layouts that engines refuse, in their words") {
  ModelSpec llama = llama_8b();
  CHECK(first_message(llama, {.tp = 6}) ==
        "config.json: /num_attention_heads: 32 heads cannot be split over --tp 6; use 1, 2, 4, 8, "
        "16 or 32");
  // 64 heads of Llama-3.1-70B's shape.
  for (LayerSpec& layer : llama.layers) {
    layer.attention.heads = 64;
    layer.weights = {test::matrix("qkv", 80 * 128, 8192, Shard::columns),
                     test::matrix("o", 8192, 8192, Shard::rows),
                     test::matrix("gate_up", 2 * 28672, 8192, Shard::columns),
                     test::matrix("down", 8192, 28672, Shard::rows)};
    layer.mlp.intermediate = 28672;
  }
  CHECK(first_message(llama, {.tp = 6}) ==
        "config.json: /num_attention_heads: 64 heads cannot be split over --tp 6; use 1, 2, 4, 8, "
        "16, 32 or 64");
}

TEST_CASE("KV heads divide or repeat, but not in fractions") {
  ModelSpec model = llama_8b();
  for (LayerSpec& layer : model.layers) {
    layer.attention.heads = 48;
    layer.attention.kv_heads = 8;
    layer.mlp.intermediate = 14400;  // divides by 12
  }
  // 48 / 12 = 4 query heads, but 8 KV heads: 12 is neither a divisor nor a multiple.
  const auto violations = check_layout(model, {.tp = 12});
  REQUIRE(violations.size() == 1);
  CHECK(violations[0].field == "/num_key_value_heads");
  CHECK(violations[0].found == "8 KV heads can be neither split nor repeated over --tp 12");
}

TEST_CASE("a split never cuts a scale block") {
  // 768 / 4 = 192 is no multiple of 128; bf16 has no blocks and 768 / 8 = 96 is fine there.
  const ModelSpec fp8 = qwen3_30b_a3b(NumberFormat::fp8_block);
  CHECK(first_message(fp8, {.tp = 4}) ==
        "config.json: /moe_intermediate_size: 768 columns of experts_gate_up split over 4 ranks "
        "(--tp 4) are 192 each, not a multiple of the fp8_block scale block of 128; use 1 or 2, or "
        "keep the experts whole with --ep 4");
  CHECK(check_layout(fp8, {.tp = 4, .ep = 4}).empty());
  CHECK(check_layout(fp8, {.tp = 2}).empty());
  CHECK(check_layout(qwen3_30b_a3b(NumberFormat::bf16), {.tp = 8}).empty());
  // NVFP4 scales 16 elements of the input: 768 / 32 = 24.
  const auto nvfp4 = check_layout(qwen3_30b_a3b(NumberFormat::nvfp4), {.tp = 32});
  REQUIRE(nvfp4.size() == 1);
  CHECK(nvfp4[0].found ==
        "768 columns of experts_down split over 32 ranks (--tp 32) are 24 each, not a multiple of "
        "the nvfp4 scale block of 16");
}

TEST_CASE("output groups and experts divide") {
  const ModelSpec v4 = dsv4_flash();
  CHECK(first_message(v4, {.tp = 16}) ==
        "config.json: /o_groups: 8 groups of the output projection cannot be split over --tp 16; "
        "use 1, 2, 4 or 8");
  ModelSpec odd = qwen3_30b_a3b();
  for (LayerSpec& layer : odd.layers) layer.mlp.experts = 100;
  CHECK(first_message(odd, {.tp = 8, .ep = 8}) ==
        "config.json: /num_experts: 100 experts cannot be split over --ep 8; use 1, 2 or 4");
  CHECK(first_message(odd, {.tp = 2, .ep = 4}) ==
        "config.json: layout: --ep 4 does not divide --tp 2 (experts are split over the ranks of "
        "one replica); use 1 or 2");
}

TEST_CASE("legal sizes", "[property]") {
  CHECK(legal_tp(deepseek_v3(), 1) == std::vector<int>{1, 2, 4, 8, 16});
  CHECK(legal_tp(dsv4_flash(), 1) == std::vector<int>{1, 2, 4, 8});
  for (const int tp : legal_tp(dsv4_flash(), 0)) {
    CHECK(check_layout(dsv4_flash(), {.tp = tp, .ep = tp}).empty());
  }
}

}  // namespace
}  // namespace smtwin
