// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/hf_config.hpp"

#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/validate/hf_test_models.hpp"

using namespace smtwin;
using namespace smtwin::test;
namespace fs = std::filesystem;

namespace {

// A folder that is gone at the end of the test.
class Folder {
 public:
  explicit Folder(const std::string& name) : path_(fs::temp_directory_path() / name) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

const char kNvfp4[] = R"({"quantization": {"quant_algo": "NVFP4"}})";

HfFiles files(const Fields& fields, const std::vector<std::string>& overrides) {
  return {.config_text = json(fields),
          .config_name = "config.json",
          .quant_text = std::nullopt,
          .quant_name = "",
          .model_name = "",
          .overrides = overrides};
}

}  // namespace

TEST_CASE("an architecture that is not modelled is refused with what is", "[unit]") {
  const std::string message = read_message(with(llama(), {{"model_type", "\"falcon_mamba\""}}));
  CHECK(message.rfind("config.json: /model_type: \"falcon_mamba\" is not modelled; modelled: "
                      "bailing_moe, bailing_moe_v2, ",
                      0) == 0);
  CHECK(message.find('\n') == std::string::npos);
  for (const std::string& name : modelled_architectures()) {
    CHECK(message.find(name) != std::string::npos);
  }
  Fields without = llama();
  without.erase("model_type");
  CHECK(read_message(without).rfind("config.json: /model_type: missing; needed: one of ", 0) == 0);
}

TEST_CASE("a nested text_config is the model; its pointers say so", "[unit]") {
  const Fields nested{{"model_type", "\"kimi_k25\""},
                      {"architectures", "[\"KimiK25ForConditionalGeneration\"]"},
                      {"text_config", json(deepseek_v3())},
                      {"tie_word_embeddings", "true"}};
  const ModelSpec model = read(nested);
  CHECK(model.architecture == "KimiK25ForConditionalGeneration");
  CHECK(model.layers[0].attention.kind == AttentionKind::mla);
  CHECK(model.tied_embeddings);
  Fields broken = nested;
  broken["text_config"] = json(with(deepseek_v3(), {{"vocab_size", "-1"}}));
  CHECK(read_message(broken) ==
        "config.json: /text_config/vocab_size: found -1; allowed: an integer "
        "from 1 to 100000000");
  // Lists name modules with or without the prefix of the language model.
  for (const char* pattern :
       {"language_model.model.layers.0.self_attn*", "model.layers.0.self_attn",
        "model.language_model.layers.0.self_attn.o_proj"}) {
    Fields quantized = nested;
    quantized["quantization_config"] =
        std::string(R"({"quant_method": "fp8", "ignore": [")") + pattern + "\"]}";
    CHECK(matrix(read(quantized).layers[0], "o").format == NumberFormat::bf16);
    CHECK(matrix(read(quantized).layers[1], "o").format == NumberFormat::fp8);
  }
}

TEST_CASE("pointers begin where the config sits in its file", "[unit]") {
  HfFiles part = files(with(llama(), {{"vocab_size", "-1"}}), {});
  part.config_pointer = "/config";
  CHECK(message_of([&] { read_hf_config(part); }) ==
        "config.json: /config/vocab_size: found -1; allowed: an integer from 1 to 100000000");
  // A setting is still named by the field's own path, and complaints know whose it is.
  part = files(llama(), {"vocab_size=-1"});
  part.config_pointer = "/config";
  CHECK(message_of([&] { read_hf_config(part); }) ==
        "config.json: /config/vocab_size: found -1; allowed: an integer from 1 to 100000000 (set "
        "by the user)");
  part = files(llama(), {"vocab_size=2000"});
  part.config_pointer = "/config";
  CHECK(read_hf_config(part).vocabulary == 2000);
  part.quant_text = R"({"quantization": {"quant_algo": "W2A2"}})";
  part.quant_name = "model.json";
  part.quant_pointer = "/hf_quant_config";
  CHECK(message_of([&] {
          read_hf_config(part);
        }).rfind("model.json: /hf_quant_config/quantization/quant_algo: \"W2A2\" is not ", 0) == 0);
}

TEST_CASE("names come from the path", "[unit]") {
  const auto name = [](const std::string& path) {
    return read_hf_config(json(llama()), path).name;
  };
  CHECK(name("/models/meta-llama--Llama-3.1-8B_config.json") == "Llama-3.1-8B");
  CHECK(name("/models/Llama-3.1-8B/config.json") == "Llama-3.1-8B");
  CHECK(name("config.json") == "config");
  CHECK(name("mine.json") == "mine");
}

TEST_CASE("tied embeddings are one table", "[unit]") {
  const ModelSpec tied = read(with(llama(), {{"tie_word_embeddings", "true"}}));
  const ModelSpec apart = read(llama());
  CHECK(total_parameters(apart) - total_parameters(tied) == 64'000);
  CHECK(weight_bytes(apart) - weight_bytes(tied) == 128'000);
}

TEST_CASE("layers for multi-token prediction are noted, not counted", "[unit]") {
  const ModelSpec model = read(with(deepseek_v3(), {{"num_nextn_predict_layers", "1"}}));
  CHECK(model.mtp_layers == 1);
  CHECK(total_parameters(model) == total_parameters(read(deepseek_v3())));
  CHECK(model.notes.back() ==
        "layers for multi-token prediction are not counted (1 in the checkpoint)");
}

TEST_CASE("what follows from an overridden field follows", "[unit]") {
  const ModelSpec model = read_hf_config(files(llama(), {"num_hidden_layers=5"}));
  CHECK(model.layers.size() == 5);
  REQUIRE(model.notes.size() == 1);
  CHECK(model.notes[0] == "set by the user: num_hidden_layers 2 -> 5");
  // 16 heads on 64 hidden make heads of 4, where the file has 8 of 8.
  const ModelSpec heads = read_hf_config(files(llama(), {"model.num_attention_heads=16"}));
  CHECK(heads.layers[0].attention.head_dim == 4);
  const ModelSpec plain =
      read_hf_config(files(with(llama(), {{"quantization_config", R"({"quant_method": "fp8"})"}}),
                           {"quantization_config=null"}));
  CHECK(matrix(plain.layers[0], "o").format == NumberFormat::bf16);
  CHECK(message_of([] { read_hf_config(files(llama(), {"num_hidden_layers=0"})); }) ==
        "config.json: /num_hidden_layers: found 0; allowed: an integer from 1 to 10000 (set by the "
        "user)");
  CHECK(message_of([] {
          read_hf_config(files(llama(), {"num_experts=8"}));
        }).rfind("--set model.num_experts: this kind of model has no such field", 0) == 0);
  CHECK(message_of([] {
          read_hf_config(files(llama(), {"num_hidden_layer=8"}));
        }).find("did you mean num_hidden_layers") != std::string::npos);
}

TEST_CASE("a file, a folder, and the quantization file beside either", "[unit]") {
  const Folder folder("smtwin_hf_config_test");
  const std::string alone = folder.write("alone_config.json", json(llama()));
  const std::string pair = folder.write("org--pair_config.json", json(llama()));
  folder.write("org--pair_hf_quant_config.json", kNvfp4);
  CHECK(matrix(load_hf_model(alone).layers[0], "o").format == NumberFormat::bf16);
  CHECK(matrix(load_hf_model(pair).layers[0], "o").format == NumberFormat::nvfp4);
  CHECK(load_hf_model(pair).name == "pair");
  CHECK(message_of([&] { load_hf_model(folder.path()); }) ==
        folder.path() +
            ": folder without a config.json; give the folder of a checkpoint or the "
            "file itself");
  folder.write("config.json", json(llama()));
  CHECK(matrix(load_hf_model(folder.path()).layers[0], "o").format == NumberFormat::bf16);
  const std::string quant = folder.write("hf_quant_config.json", kNvfp4);
  CHECK(matrix(load_hf_model(folder.path()).layers[0], "o").format == NumberFormat::nvfp4);
  CHECK(load_hf_model(folder.path()).name == "smtwin_hf_config_test");
  CHECK(message_of([&] { load_hf_model(quant); }) ==
        quant + ": describes only the quantization; give the config.json beside it");
  CHECK(message_of([&] { load_hf_model(folder.path() + "/gone.json"); }) ==
        folder.path() + "/gone.json: no such file");
  const std::string large = folder.write("large.json", std::string((16u << 20) + 1, ' '));
  CHECK(message_of([&] { load_hf_model(large); }).find("cannot be read as a model description") !=
        std::string::npos);
}
