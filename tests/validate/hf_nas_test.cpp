// SPDX-License-Identifier: Apache-2.0
// Layers without attention, without an MLP, without either: nemotron-nas.
#include <cmath>

#include "model/step_ops.hpp"
#include "tests/catch.hpp"
#include "tests/validate/hf_test_models.hpp"

using namespace smtwin;
using namespace smtwin::test;

namespace {

std::string block(int heads_in_group, double ffn_mult) {  // 0 = left out
  const std::string attention = heads_in_group == 0 ? R"("no_op": true, "n_heads_in_group": null)"
                                                    : R"("no_op": false, "n_heads_in_group": )" +
                                                          std::to_string(heads_in_group);
  const std::string ffn = ffn_mult == 0
                              ? R"("no_op": true, "ffn_mult": null)"
                              : R"("no_op": false, "ffn_mult": )" + std::to_string(ffn_mult);
  return R"({"attention": {)" + attention + R"(, "replace_with_linear": false, "sparsify": null},
             "ffn": {)" +
         ffn + R"(, "replace_with_linear": false}})";
}

std::string list(const std::vector<std::string>& blocks) {
  std::string text;
  for (const std::string& b : blocks) text += (text.empty() ? "[" : ", ") + b;
  return text + ']';
}

Fields nas(const std::string& blocks, int layers) {
  Fields fields = with(llama(), {{"model_type", "\"nemotron-nas\""},
                                 {"num_hidden_layers", std::to_string(layers)},
                                 {"num_key_value_heads", "null"},
                                 {"intermediate_size", "null"},
                                 {"block_configs", blocks}});
  return fields;
}

}  // namespace

TEST_CASE("nemotron-nas: heads and widths by layer", "[unit]") {
  const ModelSpec model =
      read(nas(list({block(4, 5.25), block(8, 6), block(0, 12.5), block(2, 0), block(0, 0)}), 5));
  // 2 x 5.25 x 64 / 3 = 224 -> 256; 2 x 6 x 64 / 3 = 256; 2 x 12.5 x 64 / 3 = 533.3 -> 768
  check_shape(model.layers[0], "qkv", (8 + 2 * 2) * 8, 64, Shard::columns);
  check_shape(model.layers[0], "down", 64, 256, Shard::rows);
  CHECK(model.layers[0].vector_parameters == 2 * 64);
  check_shape(model.layers[1], "qkv", (8 + 2) * 8, 64, Shard::columns);
  check_shape(model.layers[1], "gate_up", 512, 64, Shard::columns);
  CHECK(model.layers[2].attention.kind == AttentionKind::none);
  check_shape(model.layers[2], "down", 64, 768, Shard::rows);
  CHECK(model.layers[2].vector_parameters == 64);
  CHECK(kv_bytes_per_token(model.layers[2], NumberFormat::bf16) == 0);
  CHECK(model.layers[3].mlp.kind == MlpKind::none);
  CHECK(model.layers[3].attention.kv_heads == 4);
  CHECK(model.layers[4].weights.empty());
  CHECK(model.layers[4].vector_parameters == 0);
}

TEST_CASE("nemotron-nas: what is not modelled is refused", "[unit]") {
  const auto message = [](const std::string& blocks) { return read_message(nas(blocks, 1)); };
  CHECK(message(R"([{"attention": {"n_heads_in_group": 8, "replace_with_linear": true}}])") ==
        "config.json: /block_configs/0/attention/replace_with_linear: true is not modelled; "
        "modelled: false");
  CHECK(message(R"([{"attention": {"n_heads_in_group": 8, "window_length": 512}}])") ==
        "config.json: /block_configs/0/attention/window_length: 512 is not modelled; modelled: "
        "null");
  CHECK(message(R"([{"attention": {"n_heads_in_group": 3}}])") ==
        "config.json: /block_configs/0/attention/n_heads_in_group: found 3; allowed: a divisor of "
        "num_attention_heads 8");
  CHECK(message("[7]") == "config.json: /block_configs/0: found 7; allowed: an object");
  CHECK(message("7") == "config.json: /block_configs: found 7; allowed: a list of objects");
  CHECK(message("null") == "config.json: /block_configs: missing; needed: a list of objects");
  CHECK(message("[]") ==
        "config.json: /block_configs: found 0 entries; needed: one for each of the 1 layers "
        "(num_hidden_layers)");
}

TEST_CASE("published count: Llama-3.3-Nemotron-Super-49B", "[unit]") {
  std::vector<std::string> blocks;
  const auto add = [&](int count, int heads_in_group, double ffn_mult) {
    blocks.insert(blocks.end(), static_cast<std::size_t>(count), block(heads_in_group, ffn_mult));
  };
  add(1, 8, 2.625);
  add(5, 8, 5.25);
  add(2, 0, 2.625);
  add(3, 8, 5.25);
  add(1, 0, 3.28125);
  add(30, 8, 5.25);
  for (const double m :
       {1.3125, 2.625, 2.625, 1.3125, 5.25, 1.3125, 2.625, 1.3125, 1.3125, 1.3125}) {
    add(1, 0, m);
  }
  add(1, 8, 5.25);
  for (const double m : {1.3125, 1.0, 1.0, 1.3125, 1.0, 1.0, 1.0, 1.3125, 1.3125, 0.5, 0.5, 1.0,
                         1.0, 0.5, 0.5, 1.0, 0.5, 0.5}) {
    add(1, 0, m);
  }
  add(9, 8, 5.25);
  REQUIRE(blocks.size() == 80);
  const ModelSpec model =
      read(with(nas(list(blocks), 80), {{"hidden_size", "8192"},
                                        {"num_attention_heads", "64"},
                                        {"vocab_size", "128256"},
                                        {"max_position_embeddings", "131072"}}));
  INFO(std::fixed << total_parameters(model));
  CHECK(std::abs(total_parameters(model) / 49.87e9 - 1) < 0.001);
  StepOptions options;
  options.batch = 8;
  options.context = 1024;
  double in_ops = 0;
  int layers = 0;
  for (const LayerOps& layer : step_ops(model, {}, options).layers) {
    layers += layer.count;
    for (const StepOp& op : layer.ops) in_ops += layer.count * op.weight_bytes;
  }
  double in_matrices = 0;
  for (const LayerSpec& layer : model.layers) {
    for (const WeightMatrix& m : layer.weights) in_matrices += m.bytes();
  }
  CHECK(layers == 80);
  CHECK(in_ops == Approx(in_matrices).epsilon(0.001));
}
