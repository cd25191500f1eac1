// SPDX-License-Identifier: Apache-2.0
// Real config files as published, where the folder that collects them is present: every one loads,
// and its parameter count is the published one.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/catch.hpp"
#include "tests/validate/hf_test_models.hpp"
#include "validate/model_catalog.hpp"

using namespace smtwin;
using namespace smtwin::test;
namespace fs = std::filesystem;

namespace {

fs::path shared_models() {
  const char* given = std::getenv("SMTWIN_SHARED");
  const fs::path shared =
      given != nullptr ? fs::path(given) : fs::path(SMTWIN_TEST_SOURCE_DIR) / ".." / "shared";
  return shared / "models";
}

bool absent() {
  if (fs::is_directory(shared_models())) return false;
  skip("no folder of public model files at " + shared_models().string());
  return true;
}

ModelSpec load(const std::string& name) {
  return load_hf_model((shared_models() / (name + "_config.json")).string());
}

struct Counts {
  double total = 0;   // 1e9 parameters
  double active = 0;  // 0 = dense
};

// Published by the makers or counted from the checkpoints; without MTP layers.
const std::map<std::string, Counts>& published() {
  static const std::map<std::string, Counts> kPublished{
      {"meta-llama--Meta-Llama-3.1-8B", {8.03, 0}},
      {"Qwen--Qwen3-8B", {8.19, 0}},
      {"Qwen--Qwen3-32B", {32.76, 0}},
      {"Qwen--Qwen3-32B-FP8", {32.76, 0}},
      {"Qwen--Qwen3-30B-A3B", {30.53, 3.35}},
      {"Qwen--Qwen3-30B-A3B-FP8", {30.53, 3.35}},
      {"Qwen--Qwen3-235B-A22B", {235.1, 22.2}},
      {"nvidia--Qwen3-235B-A22B-NVFP4", {235.1, 22.2}},
      {"meta-llama--Meta-Llama-3.1-70B", {70.55, 0}},
      {"nvidia--Llama-3.1-70B-Instruct-FP8", {70.55, 0}},
      // 8 KV heads. Files with 16 make 126 x 2 x 8 x 128 x 16384 = 4.2e9 more, the "410 B" of some
      // pages.
      {"meta-llama--Meta-Llama-3.1-405B", {405.9, 0}},
      {"mistralai--Mixtral-8x7B-v0.1", {46.70, 12.88}},
      // 37.55 with both tables of 0.93. The maker's notes on the weights say 36.7 "including"
      // both; the matrices add up to that only without one of them.
      {"deepseek-ai--DeepSeek-V3", {671.0, 37.6}},
      {"deepseek-ai--DeepSeek-R1", {671.0, 37.6}},
      // The input table of 0.58 is not in the active count of the model card.
      {"openai--gpt-oss-120b", {116.8, 5.13}},
      {"openai--gpt-oss-20b", {20.9, 3.61}},
  };
  return kPublished;
}

// Published to two or three digits: total, active, and how many of the two embedding tables the
// maker's active count leaves out (found by the only number that rounds to it).
struct Rounded {
  double total;
  double active;
  int tables_left_out;
};
const std::map<std::string, Rounded>& rounded() {
  static const std::map<std::string, Rounded> kRounded{
      {"deepseek-ai--DeepSeek-V4-Flash", {284, 13, 1}},
      {"nvidia--DeepSeek-V4-Flash-NVFP4", {284, 13, 1}},
      {"sgl-project--DeepSeek-V4-Flash-FP8", {284, 13, 1}},
      {"zai-org--GLM-5", {744, 40, 2}},
      {"zai-org--GLM-5-FP8", {744, 40, 2}},
      {"nvidia--GLM-5-NVFP4", {744, 40, 2}},
      {"MiniMaxAI--MiniMax-M2.5", {229, 10, 1}},
      {"nvidia--MiniMax-M2.5-NVFP4", {229, 10, 1}},
      {"moonshotai--Kimi-K2-Instruct", {1026, 32, 1}},
      {"nvidia--Kimi-K2.5-NVFP4", {1026, 32, 1}},
      {"XiaomiMiMo--MiMo-V2-Flash", {309, 15, 0}},
      {"Qwen--Qwen3.5-35B-A3B", {35, 3, 0}},
      {"google--gemma-4-26B-A4B", {25, 4, 0}},                       // 25.2, 3.8
      {"meta-llama--Llama-4-Scout-17B-16E-Instruct", {108, 17, 0}},  // 109 with the vision tower
      {"nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4", {32, 4, 0}},  // 31.6, 3.6 with embeddings
  };
  return kRounded;
}

}  // namespace

TEST_CASE("every public config loads", "[unit]") {
  if (absent()) return;
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(shared_models())) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_config.json") || name.ends_with("hf_quant_config.json")) continue;
    INFO(name);
    const ModelSpec model = load_hf_model(entry.path().string());
    CHECK(!model.layers.empty());
    CHECK(total_parameters(model) > 1e9);
    CHECK(active_parameters(model) <= total_parameters(model));
    // Between all of it in four bits and all of it in sixteen.
    CHECK(weight_bytes(model) > 0.53 * total_parameters(model));
    CHECK(weight_bytes(model) < 2.01 * total_parameters(model));
    ++files;
  }
  CHECK(files >= 32);
}

TEST_CASE("published counts within 1 %", "[unit]") {
  if (absent()) return;
  for (const auto& [name, counts] : published()) {
    const ModelSpec model = load(name);
    INFO(name << ": " << total_parameters(model) << " / " << active_parameters(model));
    CHECK(std::abs(total_parameters(model) / (counts.total * 1e9) - 1) < 0.01);
    const double active = counts.active > 0 ? counts.active : counts.total;
    CHECK(std::abs(active_parameters(model) / (active * 1e9) - 1) < 0.01);
  }
}

TEST_CASE("rounded published counts are ours rounded", "[unit]") {
  if (absent()) return;
  for (const auto& [name, counts] : rounded()) {
    const ModelSpec model = load(name);
    const double active =
        active_parameters(model) - counts.tables_left_out * model.embedding.parameters();
    INFO(name << ": " << total_parameters(model) << " / " << active);
    CHECK(std::round(total_parameters(model) / 1e9) == counts.total);
    CHECK(std::round(active / 1e9) == counts.active);
  }
}

TEST_CASE("a shipped model is the public one", "[unit]") {
  if (absent()) return;
  const std::map<std::string, std::string> same{
      {"deepseek-v4-flash", "deepseek-ai--DeepSeek-V4-Flash"},
      {"glm-5-nvfp4", "nvidia--GLM-5-NVFP4"},
      {"deepseek-v3", "deepseek-ai--DeepSeek-V3"},
      {"qwen3-30b-a3b", "Qwen--Qwen3-30B-A3B"},
      {"qwen3-32b", "Qwen--Qwen3-32B"},
      {"llama-3.1-8b", "meta-llama--Meta-Llama-3.1-8B"},
      {"llama-3.1-70b", "meta-llama--Meta-Llama-3.1-70B"},
      {"gpt-oss-120b", "openai--gpt-oss-120b"},
      {"mixtral-8x7b", "mistralai--Mixtral-8x7B-v0.1"},
      {"kimi-k2", "moonshotai--Kimi-K2-Instruct"}};
  for (const auto& [name, file] : same) {
    const ModelSpec ours = find_model(name);
    const ModelSpec theirs = load(file);
    INFO(name);
    REQUIRE(ours.layers.size() == theirs.layers.size());
    CHECK(total_parameters(ours) == total_parameters(theirs));
    CHECK(active_parameters(ours) == active_parameters(theirs));
    CHECK(weight_bytes(ours) == weight_bytes(theirs));
    CHECK(ours.kv_format == theirs.kv_format);
    CHECK(ours.max_context == theirs.max_context);
    for (std::size_t i = 0; i < ours.layers.size(); ++i) {
      REQUIRE(ours.layers[i].weights.size() == theirs.layers[i].weights.size());
      for (std::size_t m = 0; m < ours.layers[i].weights.size(); ++m) {
        const WeightMatrix& a = ours.layers[i].weights[m];
        const WeightMatrix& b = theirs.layers[i].weights[m];
        INFO("layer " << i << ' ' << a.name);
        CHECK(a.name == b.name);
        CHECK(a.out == b.out);
        CHECK(a.in == b.in);
        CHECK(a.copies == b.copies);
        CHECK(a.format == b.format);
      }
      CHECK(ours.layers[i].attention.window == theirs.layers[i].attention.window);
    }
  }
}

TEST_CASE("ignore lists of public NVFP4 checkpoints", "[unit]") {
  if (absent()) return;
  // Kimi-K2.5: attention in bf16 in every layer, MLPs in NVFP4.
  for (const LayerSpec& layer : load("nvidia--Kimi-K2.5-NVFP4").layers) {
    CHECK(matrix(layer, "o").format == NumberFormat::bf16);
    CHECK(matrix(layer, "qkv_a").format == NumberFormat::bf16);
    CHECK(layer.weights.back().format == NumberFormat::nvfp4);
  }
  // Nemotron-H: the Mamba layers just before attention, and attention, stay in bf16.
  const ModelSpec nemotron = load("nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4");
  for (const std::size_t layer : {4u, 11u, 18u, 25u, 32u, 41u}) {
    CHECK(matrix(nemotron.layers[layer], "linear_in").format == NumberFormat::bf16);
    CHECK(matrix(nemotron.layers[layer + 1], "qkv").format == NumberFormat::bf16);
  }
  CHECK(matrix(nemotron.layers[0], "linear_in").format == NumberFormat::nvfp4);
  CHECK(matrix(nemotron.layers[0], "linear_conv").format == NumberFormat::bf16);
  // MiniMax-M2.5: attention in bf16; Qwen3-235B: in NVFP4.
  CHECK(matrix(load("nvidia--MiniMax-M2.5-NVFP4").layers[7], "qkv").format == NumberFormat::bf16);
  CHECK(matrix(load("nvidia--Qwen3-235B-A22B-NVFP4").layers[7], "qkv").format ==
        NumberFormat::nvfp4);
}

TEST_CASE("bytes of public checkpoints", "[unit]") {
  if (absent()) return;
  // gpt-oss model card, table 1.
  const double gib = 1024.0 * 1024.0 * 1024.0;
  CHECK(weight_bytes(load("openai--gpt-oss-120b")) / gib == Approx(60.8).epsilon(0.002));
  CHECK(weight_bytes(load("openai--gpt-oss-20b")) / gib == Approx(12.8).epsilon(0.002));
}
