// SPDX-License-Identifier: Apache-2.0
// Integer weights: GPTQ, AWQ, AutoRound, compressed-tensors, and what the notes say where a
// checkpoint's scales are not those that the bytes are counted with.
#include "tests/catch.hpp"
#include "tests/validate/hf_test_models.hpp"

using namespace smtwin;
using namespace smtwin::test;

namespace {

NumberFormat format(const ModelSpec& model, const std::string& name, std::size_t layer = 1) {
  return matrix(model.layers[layer], name).format;
}

Fields quantized(const std::string& quantization) {
  return with(llama(), {{"quantization_config", quantization}});
}

double element_bytes(const ModelSpec& model, const std::string& name) {
  return matrix(model.layers[1], name).element_bytes();
}

std::string group(const std::string& weights, const std::string& activations = "null") {
  return R"({"quant_method": "compressed-tensors", "format": "pack-quantized",
             "ignore": ["lm_head", "re:.*self_attn.*"],
             "config_groups": {"group_0": {"targets": ["Linear"], "input_activations": )" +
         activations + R"(, "weights": )" + weights + "}}}";
}

}  // namespace

TEST_CASE("awq and gptq with 4 bits", "[unit]") {
  const ModelSpec awq = read(quantized(R"({"quant_method": "awq", "bits": 4, "group_size": 128})"));
  CHECK(format(awq, "down") == NumberFormat::int4);
  CHECK(element_bytes(awq, "down") == 0.515625);  // 0.5 + 2 / 128
  const ModelSpec gptq = read(quantized(R"({"quant_method": "gptq", "bits": 4, "group_size": 32,
                   "dynamic": {"-:.*layers\\.0\\..*down": {}}})"));
  CHECK(format(gptq, "down", 0) == NumberFormat::bf16);
  CHECK(format(gptq, "down", 1) == NumberFormat::int4);
  CHECK(element_bytes(gptq, "down") == 0.5625);  // 0.5 + 2 / 32
  CHECK(matrix(gptq.layers[1], "down").scale_block().in == 32);
  CHECK(matrix(gptq.layers[0], "down").element_bytes() == 2);
  const ModelSpec channel =
      read(quantized(R"({"quant_method": "gptq", "bits": 4, "group_size": -1})"));
  CHECK(element_bytes(channel, "down") == 0.5);
}

TEST_CASE("gptq with 8 bits is int8, its activations are not", "[unit]") {
  const ModelSpec model =
      read(quantized(R"({"quant_method": "gptq", "bits": 8, "group_size": 128})"));
  CHECK(format(model, "down") == NumberFormat::int8);
  CHECK(element_bytes(model, "down") == 1.015625);  // 1 + 2 / 128
  REQUIRE(model.notes.size() == 1);
  CHECK(model.notes[0] ==
        "int8 weights are counted as multiplied by int8 activations; this checkpoint keeps "
        "activations in 16 bits");
  CHECK(read_message(quantized(R"({"quant_method": "gptq", "bits": 3})")) ==
        "config.json: /quantization_config/bits: 3 is not modelled; modelled: 4, 8");
  CHECK(read_message(quantized(R"({"quant_method": "awq", "bits": 8})")) ==
        "config.json: /quantization_config/bits: 8 is not modelled; modelled: 4");
}

TEST_CASE("compressed-tensors: w4a16 in groups of 32, w8a8", "[unit]") {
  // As Kimi-K2-Thinking does for its experts.
  const ModelSpec kimi = read(quantized(group(R"({"num_bits": 4, "type": "int", "group_size": 32,
                                           "strategy": "group", "symmetric": true})")));
  CHECK(format(kimi, "down") == NumberFormat::int4);
  CHECK(format(kimi, "o") == NumberFormat::bf16);
  CHECK(element_bytes(kimi, "down") == 0.5625);
  CHECK(element_bytes(kimi, "o") == 2);
  const ModelSpec both = read(quantized(
      group(R"({"num_bits": 8, "type": "int", "strategy": "channel", "group_size": null})",
            R"({"num_bits": 8, "type": "int", "strategy": "token", "dynamic": true})")));
  CHECK(format(both, "down") == NumberFormat::int8);
  CHECK(both.notes.empty());
  CHECK(read(quantized(group(R"({"num_bits": 8, "type": "int", "strategy": "channel"})")))
            .notes.size() == 1);  // weights alone
}

TEST_CASE("auto-round: modules with 16 bits are left as they were", "[unit]") {
  const auto round = [](const std::string& extra) {
    return quantized(R"({"quant_method": "auto-round", "packing_format": "auto_round:auto_gptq",
                         "bits": 4, "group_size": 128, "sym": true, "data_type": "int",
                         "extra_config": )" +
                     extra + '}');
  };
  const ModelSpec model =
      read(round(R"({"model.layers.0.self_attn.o_proj": {"bits": 16, "data_type": "float"},
                ".*layers\\.1\\..*down_proj": {"bits": 16}, "lm_head": {"bits": 16}})"));
  CHECK(format(model, "o", 0) == NumberFormat::bf16);
  CHECK(format(model, "o", 1) == NumberFormat::int4);
  CHECK(format(model, "down", 0) == NumberFormat::int4);
  CHECK(format(model, "down", 1) == NumberFormat::bf16);
  CHECK(model.notes.empty());
  CHECK(format(read(round("null")), "qkv") == NumberFormat::int4);
  CHECK(read_message(round(R"({"model.layers.0.mlp.down_proj": {"bits": 8}})")) ==
        "config.json: /quantization_config/extra_config/model.layers.0.mlp.down_proj/bits: 8 is "
        "not modelled; modelled: 16 and more (left as it was), or the bits of the whole");
  CHECK(read_message(quantized(R"({"quant_method": "auto-round", "bits": 4,
                                   "data_type": "mx_fp"})")) ==
        "config.json: /quantization_config/data_type: \"mx_fp\" is not modelled; modelled: "
        "\"int\"");
}
