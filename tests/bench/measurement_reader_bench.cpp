// SPDX-License-Identifier: Apache-2.0
// Rows of measured kernel times read per second on one core: a generated table of each kind in
// memory, with as many columns, characters and distinct texts as the published ones have.
//   build/bin/smtwin_measurement_reader_bench
#include <benchmark/benchmark.h>

#include <array>
#include <istream>
#include <random>
#include <streambuf>
#include <string>
#include <vector>

#include "validate/measurements/measurement_reader.hpp"

namespace smtwin {
namespace {

constexpr int kRows = 200'000;

using Random = std::mt19937;

// Cells of a column: one of the words, or an integer below the limit, or a latency.
struct Column {
  std::string name;
  std::vector<std::string> words;
  unsigned limit = 0;
};

struct Table {
  std::string name;
  std::vector<Column> columns;
};

std::vector<Column> with_common(const std::string& operation, std::vector<Column> own) {
  std::vector<Column> columns = {
      {"framework", {"VLLM"}},
      {"version", {"0.24.0"}},
      {"device", {"NVIDIA RTX PRO 6000 Blackwell Server Edition"}},
      {"op_name", {operation}},
      {"kernel_source", {"torch.nn.functional.linear", "CutlassFP8ScaledMMLinearKernel"}}};
  columns.insert(columns.end(), own.begin(), own.end());
  columns.push_back({"latency", {}});
  return columns;
}

std::vector<Column> latent(std::vector<Column> more) {
  std::vector<Column> columns = {{"mla_dtype", {"bfloat16"}},
                                 {"kv_cache_dtype", {"bfloat16", "fp8"}},
                                 {"num_heads", {}, 128},
                                 {"batch_size", {}, 1024},
                                 {"isl", {"1"}},
                                 {"tp_size", {}, 8},
                                 {"step", {}, 262144}};
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

std::vector<Column> module(const std::string& ratio) {
  return latent({{"model", {"deepseek-ai/DeepSeek-V3", "sgl-project/DeepSeek-V4-Flash-FP8"}},
                 {"architecture", {"DeepseekV4ForCausalLM"}},
                 {"gemm_type", {"bfloat16", "fp8_block"}},
                 {"compress_ratio", {ratio}}});
}

const std::vector<Table>& tables() {
  const std::vector<std::string> dtypes = {"bfloat16", "fp8", "fp8_block", "nvfp4"};
  const std::vector<Column> message = {{"num_gpus", {}, 8}, {"message_size", {}, 1U << 30}};
  const auto message_of = [&](const std::string& dtype) {
    std::vector<Column> columns = message;
    columns.push_back({dtype, {"half"}});
    return columns;
  };
  static const std::vector<Table> all = {
      {"gemm",
       with_common("gemm",
                   {{"gemm_dtype", dtypes}, {"m", {}, 32768}, {"n", {}, 65536}, {"k", {}, 65536}})},
      {"moe", with_common("moe", {{"moe_dtype", dtypes},
                                  {"num_tokens", {}, 32768},
                                  {"hidden_size", {}, 8192},
                                  {"inter_size", {}, 16384},
                                  {"topk", {}, 8},
                                  {"num_experts", {}, 512},
                                  {"moe_tp_size", {}, 8},
                                  {"moe_ep_size", {}, 256},
                                  {"distribution", {"balanced", "power_law_1.2"}}})},
      {"generation_attention", with_common("generation_attention", {{"batch_size", {}, 1024},
                                                                    {"isl", {"1"}},
                                                                    {"num_heads", {}, 128},
                                                                    {"num_key_value_heads", {}, 16},
                                                                    {"head_dim", {}, 256},
                                                                    {"beam_width", {"1"}},
                                                                    {"attn_dtype", {"bfloat16"}},
                                                                    {"kv_cache_dtype", dtypes},
                                                                    {"step", {}, 262144},
                                                                    {"window_size", {}, 1024}})},
      {"generation_mla", with_common("mla_generation", latent({}))},
      {"mla_module", with_common("mla_generation_module", module(""))},
      {"dsv4_csa", with_common("dsv4_csa_generation_module", module("4"))},
      {"dsv4_hca", with_common("dsv4_hca_generation_module", module("128"))},
      {"mla_bmm",
       with_common("mla_gen_pre",
                   {{"bmm_dtype", dtypes}, {"num_tokens", {}, 32768}, {"num_heads", {}, 128}})},
      {"custom_allreduce", with_common("all_reduce", message_of("allreduce_dtype"))},
      {"nccl", with_common("all_gather", message_of("nccl_dtype"))},
      {"compute_scale",
       with_common("compute_scale",
                   {{"m", {}, 32768}, {"k", {}, 65536}, {"quant_dtype", {"fp8"}}})}};
  return all;
}

std::string generated(const Table& table) {
  Random random(1);
  std::string text;
  for (const Column& column : table.columns) text += (text.empty() ? "" : ",") + column.name;
  for (int row = 0; row < kRows; ++row) {
    char separator = '\n';
    for (const Column& column : table.columns) {
      text += separator;
      separator = ',';
      if (!column.words.empty()) {
        text += column.words[random() % column.words.size()];
      } else if (column.limit > 0) {
        text += std::to_string(1 + random() % column.limit);
      } else {
        text += std::to_string(1e-3 * static_cast<double>(1 + random() % 10'000'000));
      }
    }
  }
  return text + '\n';
}

class MemoryBuffer : public std::streambuf {
 public:
  explicit MemoryBuffer(std::string& text) {
    setg(text.data(), text.data(), text.data() + text.size());
  }
};

void read_table(benchmark::State& state, const Table& table) {
  std::string text = generated(table);
  for (auto _ : state) {
    MemoryBuffer buffer(text);
    std::istream in(&buffer);
    MeasurementSet set;
    read_measurements(in, table.name, set);
    if (set.rows.size() != kRows) state.SkipWithError("rows were lost");
    benchmark::DoNotOptimize(set.rows.data());
  }
  state.SetItemsProcessed(state.iterations() * kRows);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

}  // namespace
}  // namespace smtwin

int main(int argc, char** argv) {
  for (const smtwin::Table& table : smtwin::tables()) {
    benchmark::RegisterBenchmark(table.name.c_str(), smtwin::read_table, table)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
