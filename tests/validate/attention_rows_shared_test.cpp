// SPDX-License-Identifier: Apache-2.0
// The decode-attention model against the shared measurements (../shared or $SMTWIN_SHARED): every
// family is fitted and predicts head geometries it has not seen; serving rows of Llama-3.1-8B with
// cold KV, equal and unequal contexts, are predicted with constants of warm benchmark rows alone.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "model/families/attention/attention_time.hpp"
#include "tests/catch.hpp"
#include "validate/csv.hpp"
#include "validate/fit/family_fit.hpp"
#include "validate/fit/statistics.hpp"
#include "validate/measurements/measured_families.hpp"
#include "validate/measurements/measurement_reader.hpp"

using namespace smtwin;

namespace {

std::string shared_file(const std::string& name) {
  const char* shared = std::getenv("SMTWIN_SHARED");
  const std::string path =
      (shared != nullptr ? std::string(shared) : std::string(SMTWIN_TEST_SOURCE_DIR "/../shared")) +
      "/" + name;
  if (std::ifstream(path)) return path;
  test::skip("no " + path);
  return "";
}

// What the pooled fit of a GPU's families gives for its DRAM.
double pooled_dram_rate(const TimingGpu& gpu) { return gpu.hopper() ? 4.55e12 : 1.53e12; }

FamilyFitOptions options(const TimingGpu& gpu) {
  FamilyFitOptions o;
  o.fixed = {{.name = "dram_rate", .value = pooled_dram_rate(gpu)}};
  return o;
}

// Rows of a CSV file as numbers, in the order of `columns`.
std::vector<std::vector<double>> numbers(const std::string& path,
                                         const std::vector<std::string>& columns) {
  std::ifstream in(path);
  CsvReader table(in, path);
  std::vector<std::size_t> at;
  for (const std::string& c : columns) at.push_back(table.require_column(c));
  std::vector<std::vector<double>> rows;
  for (std::vector<std::string> cells; table.next(cells);) {
    std::vector<double>& row = rows.emplace_back();
    for (const std::size_t c : at) row.push_back(parse_number(cells[c]).value());
  }
  return rows;
}

struct LlamaAttention {
  AttentionTimeModel model;
  std::vector<double> values;

  double seconds(const std::vector<double>& contexts) const {
    return model.ragged_s(contexts, {.q_heads = 32, .kv_heads = 8, .head_dim = 128}, values,
                          CacheState::cold);
  }
};

// FlashAttention 2 with the constants of its warm rows.
LlamaAttention fitted_llama(const std::string& rows_path) {
  MeasurementSet set;
  read_measurement_path(rows_path, set);
  for (const FamilyRows& family : group_families(set.rows)) {
    if (family.identity.kernel_source != "vllm_flash_attn_fa2") continue;
    TimingGpu gpu = family.timing_gpu;
    const FamilyFit fit = fit_family(family.measured, {}, options(gpu));
    gpu.replay_tick_s = 0;  // a deployment reads no instrument
    return {AttentionTimeModel(gpu, {.provider = AttentionLibrary::flash_attention2}), fit.values};
  }
  FAIL("no rows of vllm_flash_attn_fa2 in " << rows_path);
  throw std::logic_error("FAIL returned");
}

std::vector<double> equal_contexts(double count, double tokens) {
  return std::vector<double>(static_cast<std::size_t>(count), tokens);
}

}  // namespace

TEST_CASE("decode attention predicts head geometries it has not seen", "[shared]") {
  const std::string file =
      GENERATE(as<std::string>{}, "rtx_pro_6000_server/vllm", "rtx_pro_6000_server/sglang",
               "rtx_pro_6000_server/trtllm", "h200_sxm/vllm", "h200_sxm/sglang", "h200_sxm/trtllm");
  const std::string path = shared_file("measurements/" + file + "-generation_attention_perf.csv");
  if (path.empty()) return;
  MeasurementSet set;
  read_measurement_path(path, set);
  for (const FamilyRows& family : group_families(set.rows)) {
    INFO(family.gpu << " " << family.identity.key());
    REQUIRE(family.problem != nullptr);
    if (family.rows.size() < 300) continue;
    const FamilyFitOptions o = options(family.timing_gpu);
    const FamilyFit fit = fit_family(family.measured, {}, o);
    CHECK(fit.values.size() <= 16);
    for (std::size_t j = 0; j < fit.values.size(); ++j) {
      INFO(family.problem->constants()[j].name << " = " << fit.values[j]);
      CHECK_FALSE(fit.at_bound[j]);
    }
    const CrossValidation check = cross_validate(family.measured, {}, o);
    const ErrorStatistics e = error_statistics(check.predicted_s, family.measured.measured_s);
    CHECK(e.median_error <= 0.06);
    CHECK(e.p90_error <= 0.24);
    CHECK(e.spearman >= 0.95);
  }
}

TEST_CASE("without a row of its own a decode family stays within 25 % median", "[shared]") {
  const std::string gpu = GENERATE(as<std::string>{}, "rtx_pro_6000_server", "h200_sxm");
  for (const std::string framework : {"vllm", "sglang", "trtllm"}) {
    const std::string path =
        shared_file("measurements/" + gpu + "/" + framework + "-generation_attention_perf.csv");
    if (path.empty()) return;
    MeasurementSet set;
    read_measurement_path(path, set);
    for (const FamilyRows& family : group_families(set.rows)) {
      if (family.rows.size() < 300) continue;
      INFO(gpu << " " << family.identity.key());
      std::vector<double> priors, predicted;
      for (const ConstantSpec& c : family.problem->constants()) priors.push_back(c.prior);
      for (std::size_t i = 0; i < family.rows.size(); ++i) {
        int choice = 0;
        predicted.push_back(family.problem->seconds(i, priors, choice, true));
      }
      CHECK(error_statistics(predicted, family.measured.measured_s).median_error <= 0.25);
    }
  }
}

TEST_CASE("serving decode attention with cold KV follows from warm rows", "[shared]") {
  const std::string rows =
      shared_file("measurements/rtx_pro_6000_server/vllm-generation_attention_perf.csv");
  const std::string serving = shared_file("serving/llama-3.1-8b-bf16-tp1-attention-decode.csv");
  if (rows.empty() || serving.empty()) return;
  const LlamaAttention llama = fitted_llama(rows);
  std::vector<double> error;
  for (const auto& row : numbers(serving, {"n_decode", "kv_decode", "time_us"})) {
    const double predicted = llama.seconds(equal_contexts(row[0], row[1]));
    error.push_back(std::abs(predicted / (row[2] * 1e-6) - 1));
  }
  INFO("p90 " << quantile(error, 0.9));
  REQUIRE(error.size() > 100);
  CHECK(quantile(error, 0.5) <= 0.05);
  CHECK(quantile(error, 0.9) <= 0.20);
}

TEST_CASE("what unequal contexts cost in serving follows from warm rows", "[shared]") {
  const std::string rows =
      shared_file("measurements/rtx_pro_6000_server/vllm-generation_attention_perf.csv");
  const std::string serving = shared_file("serving/llama-3.1-8b-bf16-tp1-attention-ragged.csv");
  if (rows.empty() || serving.empty()) return;
  const LlamaAttention llama = fitted_llama(rows);
  std::vector<double> difference, costly;
  for (const auto& row : numbers(serving, {"n", "n_long", "kv_short", "kv_long", "kv_mean",
                                           "time_all_mean_us", "time_ragged_us"})) {
    std::vector<double> contexts = equal_contexts(row[1], row[3]);
    contexts.resize(static_cast<std::size_t>(row[0]), row[2]);
    const double predicted =
        llama.seconds(contexts) / llama.seconds(equal_contexts(row[0], row[4]));
    const double measured = row[6] / row[5];
    difference.push_back(std::abs(predicted - measured));
    if (measured > 1.1) costly.push_back(std::abs(predicted - measured));
  }
  INFO("p90 " << quantile(difference, 0.9)
              << ", where it costs over 10 %: " << quantile(costly, 0.5));
  REQUIRE(difference.size() > 100);
  CHECK(quantile(difference, 0.5) <= 0.02);
  CHECK(quantile(costly, 0.5) <= 0.05);
}
