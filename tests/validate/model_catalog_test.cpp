// SPDX-License-Identifier: Apache-2.0
#include "validate/model_catalog.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/validate/hf_test_models.hpp"

using namespace smtwin;
using namespace smtwin::test;
namespace fs = std::filesystem;

namespace {

const fs::path kModels = fs::path(SMTWIN_TEST_SOURCE_DIR) / "data" / "models";

double gib(double bytes) { return bytes / (1024.0 * 1024.0 * 1024.0); }

double relative_error(double got, double expected) { return std::abs(got / expected - 1); }

std::string write_temporary(const std::string& text) {
  const fs::path path = fs::temp_directory_path() / "smtwin_model_catalog_test.json";
  std::ofstream(path) << text;
  return path.string();
}

}  // namespace

TEST_CASE("the shipped models", "[unit]") {
  CHECK(model_names() == std::vector<std::string>{"deepseek-v3", "deepseek-v4-flash", "glm-5-nvfp4",
                                                  "gpt-oss-120b", "kimi-k2", "llama-3.1-70b",
                                                  "llama-3.1-8b", "mixtral-8x7b", "qwen3-30b-a3b",
                                                  "qwen3-32b"});
}

TEST_CASE("total parameters equal the published ones within 1 %", "[unit]") {
  for (const std::string& name : model_names()) {
    const PublishedCounts published = find_model_card(name).published;
    INFO(name << ": " << total_parameters(find_model(name)));
    CHECK(relative_error(total_parameters(find_model(name)), published.total_parameters) < 0.01);
  }
}

TEST_CASE("active parameters equal the published ones", "[unit]") {
  // Given to three digits: within 1 %.
  for (const char* name : {"deepseek-v3", "gpt-oss-120b", "mixtral-8x7b", "qwen3-30b-a3b"}) {
    const PublishedCounts published = find_model_card(name).published;
    INFO(name);
    REQUIRE(published.active_parameters.has_value());
    CHECK(relative_error(active_parameters(find_model(name)), *published.active_parameters) < 0.01);
  }
  // Given to the billion, and without embedding tables, which we count: DeepSeek and Moonshot
  // leave out the input table (13.80 - 0.53 = 13.27; 32.86 - 1.17 = 31.69), Zhipu both
  // (41.79 - 2 x 0.95 = 39.88).
  const auto rounds_to_published = [](const char* name, int tables_left_out) {
    const ModelSpec model = find_model(name);
    const double counted =
        active_parameters(model) - tables_left_out * model.embedding.parameters();
    return std::round(counted / 1e9) == *find_model_card(name).published.active_parameters / 1e9;
  };
  CHECK(rounds_to_published("deepseek-v4-flash", 1));
  CHECK(rounds_to_published("kimi-k2", 1));
  CHECK(rounds_to_published("glm-5-nvfp4", 2));
  CHECK_FALSE(find_model_card("llama-3.1-8b").published.active_parameters.has_value());
}

TEST_CASE("weights take the bytes of the checkpoints", "[unit]") {
  // gpt-oss model card, table 1: 60.8 GiB.
  CHECK(gib(weight_bytes(find_model("gpt-oss-120b"))) == Approx(60.8).epsilon(0.002));
  // All in bf16: two bytes a parameter.
  CHECK(weight_bytes(find_model("llama-3.1-8b")) ==
        2 * total_parameters(find_model("llama-3.1-8b")));
  // DeepSeek-V4-Flash: a one-to-one conversion of its fp8 and MXFP4 tensors without MTP is called
  // "~146 GB" where sizes are shown in GiB. By hand: experts 43 x 256 x 3 x 4096 x 2048 = 277.0e9
  // at 0.53125 = 147.2 GB of the 156.0 GB.
  const double bytes = weight_bytes(find_model("deepseek-v4-flash"));
  CHECK(gib(bytes) == Approx(146).epsilon(0.01));
  CHECK(bytes > 43.0 * 256 * 3 * 4096 * 2048 * 0.53125);
}

TEST_CASE("cached bytes a token, by hand", "[unit]") {
  const auto per_token = [](const char* name) {
    const ModelSpec model = find_model(name);
    double sum = 0;
    for (const LayerSpec& layer : model.layers) sum += kv_bytes_per_token(layer, model.kv_format);
    return sum;
  };
  CHECK(per_token("llama-3.1-8b") == 32 * 2 * 8 * 128 * 2);  // 131,072
  CHECK(per_token("deepseek-v3") == 61 * 576 * 2);
  CHECK(per_token("glm-5-nvfp4") == 78 * (656 + 132));
  CHECK(per_token("gpt-oss-120b") == 18 * 2 * 8 * 64 * 2);  // half the layers are windows
  CHECK(per_token("deepseek-v4-flash") == Approx(21 * (584 + 132) / 4.0 + 20 * 584 / 128.0));
}

TEST_CASE("layers of DeepSeek-V4-Flash", "[unit]") {
  const ModelSpec model = find_model("deepseek-v4-flash");
  REQUIRE(model.layers.size() == 43);
  int window = 0;
  int csa = 0;
  int hca = 0;
  int hashed = 0;
  for (const LayerSpec& layer : model.layers) {
    window += layer.attention.compress_ratio == 0;
    csa += layer.attention.compress_ratio == 4;
    hca += layer.attention.compress_ratio == 128;
    hashed += layer.mlp.hash_routed;
  }
  CHECK(window == 2);
  CHECK(csa == 21);
  CHECK(hca == 20);
  CHECK(hashed == 3);
}

TEST_CASE("GLM-5 in NVFP4 keeps attention in bf16", "[unit]") {
  const ModelSpec model = find_model("glm-5-nvfp4");
  for (const LayerSpec& layer : model.layers) {
    for (const char* name : {"qkv_a", "q_b", "o", "index_q_b", "index_k", "index_weights"}) {
      CHECK(matrix(layer, name).format == NumberFormat::bf16);
    }
    const bool dense = layer.mlp.kind == MlpKind::dense;
    CHECK(matrix(layer, dense ? "down" : "experts_down").format == NumberFormat::nvfp4);
  }
  CHECK(model.kv_format == NumberFormat::fp8);
}

TEST_CASE("names in any spelling", "[unit]") {
  for (const char* name :
       {"deepseek-v4-flash", "DeepSeek-V4-Flash", "deepseek_v4_flash", "DeepSeek V4 Flash",
        "deepseek-ai/DeepSeek-V4-Flash", "deepseek-ai--DeepSeek-V4-Flash"}) {
    CHECK(find_model(name).name == "DeepSeek-V4-Flash");
    CHECK(find_model_card(name).name == "deepseek-v4-flash");
  }
  CHECK(find_model("Meta-Llama-3.1-8B").name == "Llama-3.1-8B");
  CHECK(find_model("mistralai/Mixtral-8x7B-v0.1").name == "Mixtral-8x7B");
}

TEST_CASE("a miss lists the near names", "[unit]") {
  CHECK(message_of([] { find_model("qwen3-31b"); }) ==
        "unknown model \"qwen3-31b\"; did you mean qwen3-32b, qwen3-30b-a3b? (smtwin models lists "
        "all; a config.json or a checkpoint's folder is fine too)");
  CHECK_THROWS_AS(find_model("qwen3-31b"), UsageError);
  CHECK_THROWS_AS(find_model(""), UsageError);
  CHECK_THROWS_AS(find_model_card("nothing"), UsageError);
  CHECK(message_of([] { find_model("/nowhere/zzz.json"); }) ==
        "/nowhere/zzz.json: no such file, nor is it a shipped model (smtwin models lists them)");
}

TEST_CASE("overrides of shipped models", "[unit]") {
  CHECK(find_model("deepseek-v3", {"num_hidden_layers=4"}).layers.size() == 4);
  CHECK(find_model("deepseek-v4-flash", {"model.num_hidden_layers=4"}).layers.size() == 4);
  CHECK(message_of([] { find_model("deepseek-v4-flash", {"num_hidden_layers=60"}); }) ==
        "deepseek-v4-flash.json: /config/compress_ratios: found 44 entries; needed: one for each "
        "of the "
        "60 layers (num_hidden_layers)");
  CHECK_THROWS_AS(find_model("qwen3-32b", {"num_experts_per_tok=4"}), UsageError);
}

TEST_CASE("every field of a shipped config is read", "[unit]") {
  // An override of a field that is not read is refused; set each to what it is.
  for (const std::string& name : model_names()) {
    const auto root = nlohmann::ordered_json::parse(std::ifstream(kModels / (name + ".json")));
    for (const auto& [key, value] : root.at("config").items()) {
      INFO(name << ": " << key);
      CHECK_NOTHROW(find_model(name, {key + '=' + value.dump()}));
    }
  }
}

TEST_CASE("a file like the shipped ones is read strictly", "[unit]") {
  const auto root = nlohmann::ordered_json::parse(std::ifstream(kModels / "llama-3.1-8b.json"));
  const auto message = [&](auto change) {
    auto copy = root;
    change(copy);
    const std::string path = write_temporary(copy.dump());
    std::string text = message_of([&] { find_model(path); });
    fs::remove(path);
    const std::size_t at = text.find(path);
    return at == std::string::npos ? text : text.replace(at, path.size(), "FILE");
  };
  using Json = nlohmann::ordered_json;
  CHECK(message([](Json&) {}) == "no error");
  CHECK(message([](Json& j) { j["sorce"] = "x"; }) ==
        "FILE: /sorce: unknown; allowed: schema_version, name, display_name, source, aliases, "
        "published, config, hf_quant_config");
  CHECK(message([](Json& j) { j["schema_version"] = 2; }) ==
        "FILE: /schema_version: found 2; allowed: an integer from 1 to 1");
  CHECK(message([](Json& j) { j.erase("source"); }) ==
        "FILE: /source: missing; needed: a text in quotes");
  CHECK(message([](Json& j) { j["published"]["note"] = "x"; }) ==
        "FILE: /published/note: unknown; allowed: total_parameters, active_parameters, source");
  CHECK(message([](Json& j) { j["published"]["total_parameters"] = "8B"; }) ==
        "FILE: /published/total_parameters: found \"8B\"; allowed: a number from 1 to 1e+15");
}

TEST_CASE("a shipped file must be called what it says", "[unit]") {
  // The catalog of a folder of our own: one good model under a wrong file name.
  const fs::path data = fs::temp_directory_path() / "smtwin_model_catalog_data";
  fs::remove_all(data);
  for (const char* folder : {"gpus", "models"}) fs::create_directories(data / folder);
  fs::copy(kModels / "llama-3.1-8b.json", data / "models" / "other.json");
  const char* before = std::getenv("SMTWIN_DATA");
  const std::string restore = before == nullptr ? "" : before;
  ::setenv("SMTWIN_DATA", data.c_str(), 1);
  const std::string text = message_of([] { model_names(); });
  if (before == nullptr) {
    ::unsetenv("SMTWIN_DATA");
  } else {
    ::setenv("SMTWIN_DATA", restore.c_str(), 1);
  }
  fs::remove_all(data);
  CHECK(text.find("/name: found \"llama-3.1-8b\"; allowed: \"other\", the file's name") !=
        std::string::npos);
}
