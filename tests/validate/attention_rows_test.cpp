// SPDX-License-Identifier: Apache-2.0
// From rows of decode attention to prepared shapes.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "arch/error.hpp"
#include "model/families/attention/attention_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/attention_time_chip.hpp"
#include "validate/measurements/row_problems.hpp"

using namespace smtwin;

namespace {

MeasurementRow decode_row() {
  MeasurementRow row;
  row.table = MeasurementTable::generation_attention;
  row.line = 7;
  row.framework = "VLLM";
  row.kernel_source = "vllm_flash_attn_fa2";
  row.dtype = "bfloat16";
  row.kv_dtype = "bfloat16";
  row.batch_size = 20;
  row.num_heads = 4;
  row.num_key_value_heads = 4;
  row.head_dim = 128;
  row.step = 255;
  row.latency_s = 1e-5;
  return row;
}

std::unique_ptr<TimeProblem> problem_of(const MeasurementRow& row, const TimingGpu& gpu) {
  const std::vector<const MeasurementRow*> rows = {&row};
  return attention_row_problem(rows, gpu);
}

std::vector<double> priors(const TimeProblem& problem) {
  std::vector<double> values;
  for (const ConstantSpec& c : problem.constants()) values.push_back(c.prior);
  return values;
}

}  // namespace

TEST_CASE("a decode row is its cached tokens and the new one", "[unit]") {
  const MeasurementRow row = decode_row();
  const TimingGpu gpu = test::attention_sm120_chip();
  const auto problem = problem_of(row, gpu);
  const std::vector<double> v = priors(*problem);
  const AttentionTimeModel model(gpu, {.provider = AttentionLibrary::flash_attention2});
  const AttentionShape shape{.batch = 20, .q_heads = 4, .kv_heads = 4, .kv_tokens = 256};
  int choice = 0;
  REQUIRE(problem->size() == 1);
  CHECK(problem->seconds(0, v, choice, true) == model.seconds(shape, v, CacheState::benchmark));
  CHECK(problem->seconds(0, v, choice, false) == problem->seconds(0, v, choice, true));
  CHECK(problem->parts(0, v).seconds == problem->seconds(0, v, choice, true));
}

TEST_CASE("the instrument's grid changes a reading, its slope is taken of a smoother one",
          "[unit]") {
  const MeasurementRow row = decode_row();
  TimingGpu gpu = test::attention_sm120_chip();
  const auto plain = problem_of(row, gpu);
  const std::vector<double> v = priors(*plain);
  int choice = 0;
  const double seconds = plain->seconds(0, v, choice, true);
  // vLLM's readings lie at 0.32 ticks and whole ticks above: 1.8 ticks are read as 2.32.
  gpu.replay_tick_s = seconds / 1.8;
  const auto ticked = problem_of(row, gpu);
  CHECK(priors(*ticked) == v);  // the grid is known, not fitted
  const double reading = ticked->seconds(0, v, choice, true);
  CHECK(reading == Approx(2.32 * gpu.replay_tick_s).epsilon(1e-3));
  CHECK(ticked->parts(0, v).seconds == reading);
  const double smooth = ticked->seconds(0, v, choice, false);
  CHECK(smooth != reading);
  CHECK(std::abs(smooth - reading) < 0.1 * gpu.replay_tick_s);
}

TEST_CASE("every kernel source of the tables has its library", "[unit]") {
  struct Source {
    const char* framework;
    const char* source;
    const char* constant;  // that only its library has
  };
  for (const Source& s : std::vector<Source>{{"VLLM", "vllm_flash_attn_fa2", "copy_start"},
                                             {"vLLM", "vllm_flash_attn_fa3", "block_time"},
                                             {"SGLang", "fa3", "two_groups"},
                                             {"VLLM", "vllm_flash_attn_fa4", "combine_scan"},
                                             {"TRTLLM", "torch_flow", "mmha_rate"},
                                             {"SGLang", "flashinfer", "core_step"},
                                             {"VLLM", "vllm_flashinfer_fidecode", "layout_copy"},
                                             {"SGLang", "triton", "single_token"},
                                             {"VLLM", "vllm_triton_attn", "combine"}}) {
    MeasurementRow row = decode_row();
    row.framework = s.framework;
    row.kernel_source = s.source;
    const auto problem = problem_of(row, test::attention_sm120_chip());
    std::string names;
    for (const ConstantSpec& c : problem->constants()) names += c.name + " ";
    INFO(s.source << ": " << names);
    CHECK(names.find(s.constant) != std::string::npos);
  }
}

TEST_CASE("decode rows that nobody modelled say so", "[unit]") {
  const auto message = [](const MeasurementRow& row) -> std::string {
    try {
      problem_of(row, test::attention_sm120_chip());
    } catch (const DataError& e) {
      return e.what();
    }
    return "";
  };
  MeasurementRow row = decode_row();
  row.kernel_source = "cudnn";
  CHECK(message(row).find("line 7: kernel_source \"cudnn\" is not modelled; known: ") !=
        std::string::npos);
  row = decode_row();
  row.framework = "mystery";
  CHECK(message(row).find("framework \"mystery\" is not modelled; known: VLLM") !=
        std::string::npos);
  row = decode_row();
  row.kv_dtype = "int4";
  CHECK(message(row).find("kv_cache_dtype \"int4\" is not modelled; known: bfloat16, fp8") !=
        std::string::npos);
  row = decode_row();
  row.num_key_value_heads = 3;
  CHECK(message(row).find("4 heads cannot share 3 KV heads") != std::string::npos);
  CHECK_THROWS_AS(attention_row_problem({}, test::attention_sm120_chip()), DataError);
}
