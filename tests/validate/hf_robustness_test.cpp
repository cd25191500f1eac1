// SPDX-License-Identifier: Apache-2.0
// Files cut short, fields gone or of another type: always one line, never a crash or a guess.
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/validate/hf_test_models.hpp"
#include "validate/model_catalog.hpp"

using namespace smtwin;
using namespace smtwin::test;
using Json = nlohmann::ordered_json;

namespace {

struct Shipped {
  std::string name;
  Json config;
  std::optional<std::string> quant;
};

Shipped shipped(const std::string& name) {
  const std::string path = std::string(SMTWIN_TEST_SOURCE_DIR) + "/data/models/" + name + ".json";
  const Json root = Json::parse(read_description_file(path));
  Shipped result{name, root.at("config"), std::nullopt};
  if (root.contains("hf_quant_config")) result.quant = root.at("hf_quant_config").dump();
  return result;
}

std::string message(const Shipped& model, const Json& config) {
  return message_of([&] { read_hf_config(config.dump(), "config.json", model.quant, "q.json"); });
}

void check_one_line(const std::string& text, const std::string& file) {
  CHECK(text.rfind(file, 0) == 0);
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.size() < 1'000);  // the longest lists every modelled architecture
}

// Fields that have a meaning of their own when absent.
bool optional_field(const std::string& key) {
  static const std::vector<std::string> kOptional{
      "architectures",         "num_key_value_heads", "head_dim",
      "tie_word_embeddings",   "torch_dtype",         "dtype",
      "attention_bias",        "layer_types",         "n_shared_experts",
      "moe_layer_freq",        "topk_method",         "num_nextn_predict_layers",
      "first_k_dense_replace", "decoder_sparse_step", "mlp_only_layers",
      "num_hash_layers",       "expert_dtype",        "quantization_config",
      "q_lora_rank",           "index_topk",          "num_experts"};
  return std::find(kOptional.begin(), kOptional.end(), key) != kOptional.end();
}

}  // namespace

TEST_CASE("a config cut short anywhere is an error of one line", "[property]") {
  for (const char* name : {"deepseek-v4-flash", "gpt-oss-120b", "llama-3.1-8b"}) {
    const Shipped model = shipped(name);
    const std::string text = model.config.dump(2);
    for (std::size_t length = 0; length < text.size(); length += 7) {
      INFO(name << " cut to " << length << " bytes");
      const std::string cut = text.substr(0, length);
      check_one_line(message_of([&] { read_hf_config(cut, "config.json"); }), "config.json: ");
    }
    CHECK(message(model, model.config) == "no error");
  }
  const Shipped glm = shipped("glm-5-nvfp4");
  for (std::size_t length = 0; length < glm.quant->size(); length += 5) {
    const std::string cut = glm.quant->substr(0, length);
    check_one_line(
        message_of([&] { read_hf_config(glm.config.dump(), "config.json", cut, "q.json"); }),
        "q.json: ");
  }
}

TEST_CASE("a byte changed anywhere never crashes", "[property]") {
  const Shipped model = shipped("deepseek-v4-flash");
  const std::string text = model.config.dump();
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char replacement : {'\0', '"', '-', '9', '{', ']', '\xff'}) {
      std::string changed = text;
      changed[at] = replacement;
      INFO("byte " << at);
      const std::string got = message_of([&] { read_hf_config(changed, "config.json"); });
      CHECK((got == "no error" || got.rfind("config.json: ", 0) == 0));
    }
  }
}

TEST_CASE("each required field: its absence names it", "[property]") {
  for (const std::string& name : model_names()) {
    const Shipped model = shipped(name);
    for (const auto& [key, value] : model.config.items()) {
      if (optional_field(key)) continue;
      Json config = model.config;
      config.erase(key);
      INFO(name << " without " << key);
      const std::string got = message(model, config);
      CHECK(got.rfind("config.json: /" + key + ": missing; needed: ", 0) == 0);
      check_one_line(got, "config.json: /");
      config[key] = nullptr;
      CHECK(message(model, config) == got);
    }
  }
}

TEST_CASE("each field: another type names it and what was found", "[property]") {
  for (const std::string& name : model_names()) {
    const Shipped model = shipped(name);
    for (const auto& [key, value] : model.config.items()) {
      const std::vector<Json> wrong{Json::object({{"a", 1}}),
                                    Json("sixty-one\n"),
                                    Json(1.5),
                                    Json::array({Json::array()}),
                                    Json(-1),
                                    Json(1e300)};
      for (const Json& replacement : wrong) {
        Json config = model.config;
        config[key] = replacement;
        INFO(name << " with " << key << " = " << replacement.dump());
        const std::string got = message(model, config);
        check_one_line(got, "config.json: /" + key);
      }
    }
  }
}

TEST_CASE("sizes beyond reason are refused before anything is built", "[unit]") {
  const auto refuse = [](const std::string& key, const std::string& value) {
    const std::string got = read_message(with(llama(), {{key, value}}));
    CHECK(got.rfind("config.json: /" + key + ": found " + value + "; allowed: ", 0) == 0);
  };
  refuse("num_hidden_layers", "0");
  refuse("num_hidden_layers", "10001");
  refuse("num_hidden_layers", "2000000000");
  refuse("hidden_size", "9223372036854775807");
  refuse("hidden_size", "0");
  refuse("vocab_size", "-5");
  refuse("num_attention_heads", "65537");
  refuse("max_position_embeddings", "0");
  refuse("intermediate_size", "100000001");
}

TEST_CASE("lists that would take minutes to match are refused", "[unit]") {
  std::string entries;
  for (int i = 0; i < 1'000; ++i)
    entries += (i == 0 ? "\"*x" : ", \"*x") + std::to_string(i) + "*\"";
  const std::string list = R"({"quant_method": "fp8", "ignore": [)" + entries + "]}";
  CHECK(read_message(with(llama(), {{"quantization_config", list}})) == "no error");
  CHECK(
      read_message(with(llama(), {{"quantization_config", list}, {"num_hidden_layers", "10000"}}))
          .rfind("config.json: /num_hidden_layers: 10000 layers times 1000 list entries with * or "
                 "re: are too many to match; allowed: ",
                 0) == 0);
}

TEST_CASE("the largest sizes that pass do not overflow", "[unit]") {
  const ModelSpec model = read(with(qwen3_moe(), {{"hidden_size", "100000000"},
                                                  {"num_attention_heads", "65536"},
                                                  {"num_key_value_heads", "65536"},
                                                  {"head_dim", "65536"},
                                                  {"num_experts", "1000000"},
                                                  {"moe_intermediate_size", "100000000"},
                                                  {"vocab_size", "100000000"}}));
  // 2 layers x 1e6 experts x 3 x 1e8 x 1e8 elements.
  CHECK(total_parameters(model) == Approx(6e22).epsilon(0.01));
  CHECK(weight_bytes(model) == Approx(12e22).epsilon(0.01));
}
