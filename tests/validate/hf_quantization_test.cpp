// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/hf_quantization.hpp"

#include "tests/catch.hpp"
#include "tests/validate/hf_test_models.hpp"

using namespace smtwin;
using namespace smtwin::test;

namespace {

NumberFormat format(const ModelSpec& model, const std::string& name, std::size_t layer = 1) {
  return matrix(model.layers[layer], name).format;
}

Fields quantized(const Fields& fields, const std::string& quantization) {
  return with(fields, {{"quantization_config", quantization}});
}

ModelSpec with_quant_file(const Fields& fields, const std::string& quantization) {
  return read_hf_config(json(fields), "config.json", "{\"quantization\": " + quantization + '}',
                        "hf_quant_config.json");
}

}  // namespace

TEST_CASE("without quantization everything has the dtype of the file", "[unit]") {
  CHECK(format(read(llama()), "qkv") == NumberFormat::bf16);
  const ModelSpec half = read(with(llama(), {{"torch_dtype", "\"float16\""}}));
  CHECK(format(half, "qkv") == NumberFormat::fp16);
  CHECK(half.activation_format == NumberFormat::fp16);
  const ModelSpec full = read(with(llama(), {{"dtype", "\"float32\""}}));
  CHECK(format(full, "qkv") == NumberFormat::bf16);
  REQUIRE(full.notes.size() == 1);
  CHECK(read_message(with(llama(), {{"dtype", "\"float8\""}})) ==
        "config.json: /dtype: \"float8\" is not modelled; modelled: \"bfloat16\", \"float16\", "
        "\"float32\"");
}

TEST_CASE("fp8: blocks of 128, or one scale a tensor", "[unit]") {
  const ModelSpec block =
      read(quantized(qwen3_moe(), R"({"quant_method": "fp8", "weight_block_size": [128, 128]})"));
  for (const char* name : {"qkv", "o", "experts_gate_up", "experts_down"}) {
    CHECK(format(block, name) == NumberFormat::fp8_block);
  }
  CHECK(format(block, "router") == NumberFormat::bf16);
  CHECK(block.embedding.format == NumberFormat::bf16);
  CHECK(block.lm_head.format == NumberFormat::bf16);
  CHECK(block.kv_format == NumberFormat::bf16);
  const ModelSpec tensor =
      read(quantized(llama(), R"({"quant_method": "fp8", "weight_block_size": null})"));
  CHECK(format(tensor, "down") == NumberFormat::fp8);
  CHECK(read_message(
            quantized(llama(), R"({"quant_method": "fp8", "weight_block_size": [64, 128]})")) ==
        "config.json: /quantization_config/weight_block_size: a scale block of [64, 128] is not "
        "modelled; modelled: [128, 128]");
}

TEST_CASE("fbgemm_fp8: rows of fp8, with its own list", "[unit]") {
  const ModelSpec model =
      read(quantized(llama(), R"({"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0,
                             "modules_to_not_convert": ["lm_head", "model.layers.0"]})"));
  CHECK(format(model, "down", 0) == NumberFormat::bf16);
  CHECK(format(model, "down", 1) == NumberFormat::fp8);
  CHECK(format(model, "qkv", 1) == NumberFormat::fp8);
}

TEST_CASE("ignore lists are honoured layer by layer", "[unit]") {
  // Layers left in bf16 once made a prediction four times too good.
  for (const char* key : {"modules_to_not_convert", "ignored_layers"}) {
    const ModelSpec model = read(quantized(
        llama(), std::string(R"({"quant_method": "fp8", ")") + key +
                     R"(": ["model.layers.1.self_attn", "model.layers.0.mlp.down_proj"]})"));
    CHECK(format(model, "qkv", 0) == NumberFormat::fp8);
    CHECK(format(model, "qkv", 1) == NumberFormat::bf16);
    CHECK(format(model, "o", 1) == NumberFormat::bf16);
    CHECK(format(model, "down", 0) == NumberFormat::bf16);
    CHECK(format(model, "gate_up", 0) == NumberFormat::fp8);
    CHECK(format(model, "down", 1) == NumberFormat::fp8);
  }
}

TEST_CASE("a list that cuts through a fused matrix gives the format of most rows, and a note",
          "[unit]") {
  // 8 heads of Q, 2 of K and of V: ignoring Q leaves 8 of 12 parts in bf16.
  const ModelSpec most =
      read(quantized(llama(), R"({"quant_method": "fp8", "ignore": ["*.q_proj"]})"));
  CHECK(format(most, "qkv") == NumberFormat::bf16);
  CHECK(most.notes.size() == 1);
  const ModelSpec few =
      read(quantized(llama(), R"({"quant_method": "fp8", "ignore": ["*.k_proj"]})"));
  CHECK(format(few, "qkv") == NumberFormat::fp8);
  CHECK(few.notes.size() == 1);
}

TEST_CASE("modelopt: hf_quant_config.json", "[unit]") {
  const ModelSpec model = with_quant_file(
      qwen3_moe(), R"({"quant_algo": "NVFP4", "group_size": 16, "kv_cache_quant_algo": "FP8",
                       "exclude_modules": ["lm_head", "model.layers.0.self_attn*"]})");
  CHECK(format(model, "qkv", 0) == NumberFormat::bf16);
  CHECK(format(model, "qkv", 1) == NumberFormat::nvfp4);
  CHECK(format(model, "experts_down", 0) == NumberFormat::nvfp4);
  CHECK(format(model, "router", 0) == NumberFormat::bf16);
  CHECK(model.kv_format == NumberFormat::fp8);
  CHECK(format(with_quant_file(llama(), R"({"quant_algo": "FP8"})"), "o") == NumberFormat::fp8);
  CHECK(format(with_quant_file(llama(), R"({"quant_algo": null})"), "o") == NumberFormat::bf16);
  CHECK(message_of([] { with_quant_file(llama(), R"({"quant_algo": "W2A2"})"); })
            .rfind("hf_quant_config.json: /quantization/quant_algo: \"W2A2\" is not modelled; "
                   "modelled: MIXED_PRECISION, ",
                   0) == 0);
  CHECK(message_of(
            [] { with_quant_file(llama(), R"({"quant_algo": "NVFP4", "group_size": 32})"); }) ==
        "hf_quant_config.json: /quantization/group_size: 32 is not modelled; modelled: 16 for "
        "NVFP4");
  CHECK(message_of([] { with_quant_file(llama(), R"({"quant_algo": "MIXED_PRECISION"})"); }) ==
        "hf_quant_config.json: /quantization/quantized_layers: missing; needed: an object");
  CHECK(message_of([] { read_hf_config(json(llama()), "c.json", "{}", "hf_quant_config.json"); }) ==
        "hf_quant_config.json: /quantization: missing; needed: an object");
}

TEST_CASE("mixed precision lists each layer", "[unit]") {
  const ModelSpec model = with_quant_file(qwen3_moe(), R"({"quant_algo": "MIXED_PRECISION",
      "quantized_layers": {"model.layers.1.mlp.experts": {"quant_algo": "NVFP4", "group_size": 16},
                           "model.layers.1.self_attn.o_proj": {"quant_algo": "FP8"}}})");
  CHECK(format(model, "experts_gate_up", 0) == NumberFormat::bf16);
  CHECK(format(model, "experts_gate_up", 1) == NumberFormat::nvfp4);
  CHECK(format(model, "o", 1) == NumberFormat::fp8);
  CHECK(format(model, "qkv", 1) == NumberFormat::bf16);
}

TEST_CASE("compressed-tensors groups", "[unit]") {
  const auto group = [](const std::string& weights, const std::string& targets) {
    return R"({"quant_method": "compressed-tensors", "ignore": ["lm_head", "re:.*self_attn.*"],
               "config_groups": {"group_0": {"targets": [)" +
           targets + R"(], "weights": )" + weights + "}}}";
  };
  const auto down = [&](const std::string& weights) {
    return format(read(quantized(llama(), group(weights, "\"Linear\""))), "down");
  };
  CHECK(down(R"({"num_bits": 4, "type": "float", "group_size": 16})") == NumberFormat::nvfp4);
  CHECK(down(R"({"num_bits": 4, "type": "float", "group_size": 32})") == NumberFormat::mxfp4);
  CHECK(down(R"({"num_bits": 8, "type": "float", "strategy": "channel"})") == NumberFormat::fp8);
  CHECK(down(R"({"num_bits": 8, "type": "float", "strategy": "block",
                 "block_structure": [128, 128]})") == NumberFormat::fp8_block);
  CHECK(down(R"({"num_bits": 8, "type": "int"})") == NumberFormat::int8);
  CHECK(down(R"({"num_bits": 4, "type": "int", "group_size": 128})") == NumberFormat::int4);
  const ModelSpec ignored =
      read(quantized(llama(), group(R"({"num_bits": 8, "type": "float"})", "\"Linear\"")));
  CHECK(format(ignored, "qkv") == NumberFormat::bf16);
  const ModelSpec some = read(quantized(
      qwen3_moe(), group(R"({"num_bits": 4, "type": "int"})", "\"re:.*experts.*down_proj\"")));
  CHECK(format(some, "experts_down") == NumberFormat::int4);
  CHECK(format(some, "experts_gate_up") == NumberFormat::bf16);
  CHECK(
      read_message(quantized(llama(), group(R"({"num_bits": 3, "type": "int"})", "\"Linear\""))) ==
      "config.json: /quantization_config/config_groups/group_0/weights/num_bits: 3 is not "
      "modelled; modelled: 4 and 8 for type int and float");
  CHECK(
      read_message(quantized(llama(), group(R"({"num_bits": 8, "type": "int"})", "\"Conv2d\""))) ==
      "config.json: /quantization_config/config_groups/group_0/targets: class \"Conv2d\" is not "
      "modelled; modelled: \"Linear\", module names, \"re:\" expressions");
  CHECK(read_message(quantized(llama(), group(R"({"num_bits": 8, "type": "int"})", "\"re:(\"")))
            .find("not a regular expression") != std::string::npos);
}

TEST_CASE("named targets count before the class, whatever the order of the groups", "[unit]") {
  const ModelSpec model =
      read(quantized(qwen3_moe(),
                     R"({"quant_method": "compressed-tensors", "config_groups": {
          "a": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float"}},
          "b": {"targets": ["re:.*experts.*"],
                "weights": {"num_bits": 4, "type": "float", "group_size": 16}}}})"));
  CHECK(format(model, "qkv") == NumberFormat::fp8);
  CHECK(format(model, "experts_down") == NumberFormat::nvfp4);
}

TEST_CASE("mxfp4 quantizes experts alone", "[unit]") {
  const ModelSpec model = read(quantized(qwen3_moe(), R"({"quant_method": "mxfp4"})"));
  CHECK(format(model, "experts_gate_up") == NumberFormat::mxfp4);
  CHECK(format(model, "experts_down") == NumberFormat::mxfp4);
  CHECK(format(model, "qkv") == NumberFormat::bf16);
}

TEST_CASE("DeepSeek-V4: fp4 experts are MXFP4, requantized ones NVFP4, the rest stays fp8",
          "[unit]") {
  const std::string fp8 = R"("quant_method": "fp8", "weight_block_size": [128, 128])";
  const Fields original =
      with(deepseek_v4(), {{"expert_dtype", "\"fp4\""}, {"quantization_config", '{' + fp8 + '}'}});
  const ModelSpec model = read(original);
  CHECK(format(model, "experts_gate_up") == NumberFormat::mxfp4);
  CHECK(format(model, "shared_gate_up") == NumberFormat::fp8_block);
  CHECK(format(model, "o_a") == NumberFormat::fp8_block);
  CHECK(format(model, "index_q_b") == NumberFormat::fp8_block);
  CHECK(format(model, "index_weights") == NumberFormat::bf16);
  CHECK(format(model, "compressor_kv") == NumberFormat::bf16);
  CHECK(format(model, "router") == NumberFormat::bf16);
  CHECK(format(model, "hyper_mlp") == NumberFormat::fp32);
  // The list of the requantized checkpoint says what was not made NVFP4; that was fp8 before.
  const ModelSpec nvfp4 = read(
      with(original, {{"quantization_config",
                       '{' + fp8 + R"(, "quant_algo": "MIXED_PRECISION", "moe_quant_algo": "NVFP4",
                  "ignore": ["*.attn.*", "*.ffn.shared_experts.*", "head", "mtp.*"],
                  "quantized_layers": {"layers.1.ffn.experts": {"quant_algo": "NVFP4"}}})"}}));
  CHECK(format(nvfp4, "experts_gate_up", 0) == NumberFormat::mxfp4);
  CHECK(format(nvfp4, "experts_gate_up", 1) == NumberFormat::nvfp4);
  CHECK(format(nvfp4, "qkv_a") == NumberFormat::fp8_block);
  CHECK(format(nvfp4, "shared_down") == NumberFormat::fp8_block);
  CHECK(read_message(with(original, {{"expert_dtype", "\"fp6\""}})) ==
        "config.json: /expert_dtype: \"fp6\" is not modelled; modelled: \"fp4\", \"fp8\", null");
}

TEST_CASE("the cache's format", "[unit]") {
  const auto kv = [](const std::string& scheme) {
    return read(quantized(llama(), R"({"quant_method": "fp8", "kv_cache_scheme": )" + scheme + '}'))
        .kv_format;
  };
  CHECK(kv(R"({"num_bits": 8, "type": "float"})") == NumberFormat::fp8);
  CHECK(kv(R"({"num_bits": 8, "type": "int"})") == NumberFormat::int8);
  CHECK(kv(R"({"num_bits": 4, "type": "float"})") == NumberFormat::nvfp4);
  CHECK(kv("null") == NumberFormat::bf16);
  CHECK(read_message(
            quantized(llama(), R"({"quant_method": "fp8", "kv_cache_quant_algo": "FP3"})")) ==
        "config.json: /quantization_config/kv_cache_quant_algo: \"FP3\" is not modelled; modelled: "
        "\"FP8\", \"NVFP4\", \"INT8\", null");
}

TEST_CASE("both files: config.json decides the weights, the other one adds the cache", "[unit]") {
  const ModelSpec model = read_hf_config(
      json(quantized(llama(), R"({"quant_method": "fp8"})")), "config.json",
      R"({"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}})", "q.json");
  CHECK(format(model, "down") == NumberFormat::fp8);
  CHECK(model.kv_format == NumberFormat::fp8);
  CHECK(model.notes.size() == 1);
}

TEST_CASE("other quantizations are refused by name", "[unit]") {
  for (const char* method : {"bitsandbytes", "quark", "torchao", "hqq"}) {
    CHECK(read_message(quantized(llama(), std::string(R"({"quant_method": ")") + method + "\"}")) ==
          std::string("config.json: /quantization_config/quant_method: \"") + method +
              "\" is not modelled; modelled: fp8, fbgemm_fp8, mxfp4, compressed-tensors, "
              "modelopt, awq, gptq, auto-round");
  }
  CHECK(read_message(quantized(llama(), "{}")) ==
        "config.json: /quantization_config/quant_method: missing; needed: a text in quotes");
  CHECK(read_message(quantized(llama(), "\"fp8\"")) ==
        "config.json: /quantization_config: found \"fp8\"; allowed: an object");
}
