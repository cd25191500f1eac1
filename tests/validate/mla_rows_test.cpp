// SPDX-License-Identifier: Apache-2.0
// Rows of latent attention and DeepSeek-V4 modules become shapes, or are refused in one line.
#include <functional>
#include <string>
#include <vector>

#include "arch/error.hpp"
#include "model/families/mla/dsv4_time.hpp"
#include "model/families/mla/mla_module_time.hpp"
#include "model/families/mla/mla_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/mla_time_chip.hpp"
#include "validate/measurements/row_problems.hpp"

using namespace smtwin;
using test::mla_chip;
using test::mla_priors;

namespace {

MeasurementRow kernel_row() {
  MeasurementRow row;
  row.table = MeasurementTable::generation_mla;
  row.line = 7;
  row.framework = "SGLang";
  row.kernel_source = "triton";
  row.dtype = row.kv_dtype = "bfloat16";
  row.batch_size = 2;
  row.num_heads = 16;
  row.tp_size = 4;
  row.step = 8191;
  row.latency_s = 50e-6;
  return row;
}

MeasurementRow module_row() {
  MeasurementRow row = kernel_row();
  row.table = MeasurementTable::mla_module;
  row.framework = "TRTLLM";
  row.kernel_source = "default";
  row.gemm_type = "nvfp4";
  row.kv_dtype = "fp8";
  return row;
}

MeasurementRow dsv4_row() {
  MeasurementRow row = kernel_row();
  row.table = MeasurementTable::dsv4_csa;
  row.kernel_source = "compressed_flashmla";
  row.gemm_type = "fp8_block";
  row.kv_dtype = "fp8_e4m3";
  row.model = "sgl-project/DeepSeek-V4-Pro-FP8";
  row.compress_ratio = 4;
  return row;
}

double seconds(TimeProblem& problem) {
  int choice = 0;
  return problem.seconds(0, mla_priors(problem.constants()), choice, false);
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const DataError& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("a kernel row counts the new token and the planner's heads", "[unit]") {
  // 8191 cached tokens + 1, 16 heads of 4 ranks: the planner saw 64.
  const MeasurementRow row = kernel_row();
  const std::vector<const MeasurementRow*> rows{&row};
  const auto problem = mla_row_problem(rows, mla_chip(12));
  const MlaTimeModel model(mla_chip(12), {MlaLibrary::sglang_triton, false});
  CHECK(problem->size() == 1);
  CHECK(seconds(*problem) ==
        model.seconds({.batch = 2, .heads = 16, .kv_tokens = 8192, .planner_heads = 64},
                      mla_priors(model.constants()), CacheState::benchmark));
  CHECK(seconds(*problem) != model.seconds({.batch = 2, .heads = 16, .kv_tokens = 8192},
                                           mla_priors(model.constants()), CacheState::benchmark));
}

TEST_CASE("a module row's step includes the new token", "[unit]") {
  const MeasurementRow row = module_row();
  const std::vector<const MeasurementRow*> rows{&row};
  const auto problem = mla_module_row_problem(rows, mla_chip(12));
  const MlaModuleTimeModel model(mla_chip(12), {MlaLibrary::trtllm_sm120, true},
                                 ProjectionType::nvfp4);
  CHECK(seconds(*problem) == model
                                 .time(model.work({.batch = 2, .heads = 16, .kv_tokens = 8191}),
                                       mla_priors(model.constants()), CacheState::benchmark)
                                 .seconds);
}

TEST_CASE("DeepSeek-V4 rows take the sparse kernels on Hopper and the fallback on SM120",
          "[unit]") {
  const MeasurementRow row = dsv4_row();
  const std::vector<const MeasurementRow*> rows{&row};
  const Dsv4TimeModel sparse(mla_chip(9), ServingFramework::sglang, true,
                             ProjectionType::fp8_block);
  const Dsv4Shape shape{.batch = 2, .heads = 16, .kv_tokens = 8191, .dims = dsv4_pro_dims()};
  CHECK(seconds(*dsv4_row_problem(rows, mla_chip(9))) ==
        sparse.time(sparse.work(shape), mla_priors(sparse.constants()), CacheState::benchmark)
            .seconds);
  const Dsv4FallbackTimeModel fallback(mla_chip(12), true, ProjectionType::fp8_block);
  CHECK(seconds(*dsv4_row_problem(rows, mla_chip(12))) ==
        fallback.time(fallback.work(shape), mla_priors(fallback.constants()), CacheState::benchmark)
            .seconds);
}

TEST_CASE("DeepSeek-V4 rows that no rule covers are refused", "[unit]") {
  MeasurementRow row = dsv4_row();
  const std::vector<const MeasurementRow*> rows{&row};
  const auto refused = [&](int major) {
    return refusal([&] { dsv4_row_problem(rows, mla_chip(major)); });
  };
  const std::string where = "dsv4_csa_generation_module_perf line 7: ";
  row.framework = "TRTLLM";
  CHECK(refused(9) == where +
                          "kernel_source \"compressed_flashmla\" is not modelled; known: SGLang "
                          "compressed_flashmla, vLLM FLASHMLA_SPARSE_DSV4; leave these rows out");
  row = dsv4_row();
  row.kernel_source = "triton";
  CHECK(refused(9) == where +
                          "kernel_source \"triton\" is not modelled; known: SGLang "
                          "compressed_flashmla, vLLM FLASHMLA_SPARSE_DSV4; leave these rows out");
  row = dsv4_row();
  row.framework = "VLLM";
  row.kernel_source = "FLASHMLA_SPARSE_DSV4";
  CHECK(refused(9) == "nothing was refused");
  CHECK(refused(12) == where +
                           "kernel_source \"FLASHMLA_SPARSE_DSV4\" is not modelled; known: "
                           "SGLang compressed_flashmla; leave these rows out");
  row = dsv4_row();
  row.kv_dtype = "bfloat16";
  CHECK(refused(9) == where +
                          "kv_cache_dtype \"bfloat16\" is not modelled; known: fp8, fp8_e4m3; "
                          "leave these rows out");
  row = dsv4_row();
  row.gemm_type = "nvfp4";
  CHECK(refused(12) == where +
                           "gemm_type \"nvfp4\" is not modelled; known: bfloat16, fp8_block; "
                           "leave these rows out");
  row = dsv4_row();
  CHECK_THROWS_AS(dsv4_row_problem(rows, mla_chip(10)), DataError);
}

TEST_CASE("what nobody modelled is refused with line, text and what is known", "[unit]") {
  MeasurementRow row = kernel_row();
  const std::vector<const MeasurementRow*> rows{&row};
  row.kernel_source = "aiter";
  CHECK(refusal([&] { mla_row_problem(rows, mla_chip(12)); }) ==
        "generation_mla_perf line 7: kernel_source \"aiter\" is not modelled; known: TRTLLM "
        "default; SGLang flash_attention, triton; vLLM FLASH_ATTN_MLA, FLASHMLA, TRITON_MLA; leave "
        "these rows out");
  row = kernel_row();
  row.kv_dtype = "int4";
  CHECK(refusal([&] { mla_row_problem(rows, mla_chip(12)); }) ==
        "generation_mla_perf line 7: kv_cache_dtype \"int4\" is not modelled; known: bfloat16, "
        "fp8, fp8_e4m3; leave these rows out");
  row = module_row();
  row.gemm_type = "int8";
  CHECK(refusal([&] { mla_module_row_problem(rows, mla_chip(12)); }) ==
        "mla_generation_module_perf line 7: gemm_type \"int8\" is not modelled; known: bfloat16, "
        "fp8_block, nvfp4; leave these rows out");
  row = dsv4_row();
  row.model = "deepseek-ai/DeepSeek-V3";
  CHECK(refusal([&] { dsv4_row_problem(rows, mla_chip(9)); }) ==
        "dsv4_csa_generation_module_perf line 7: model \"deepseek-ai/DeepSeek-V3\" is not "
        "modelled; known: names with V4-Flash or V4-Pro; leave these rows out");
  row = kernel_row();
  row.framework = "Other";
  CHECK(refusal([&] { mla_row_problem(rows, mla_chip(12)); }) ==
        "generation_mla_perf line 7: framework \"Other\" is not modelled; known: VLLM, SGLang, "
        "TRTLLM; leave these rows out");
  CHECK_THROWS_AS(mla_row_problem({}, mla_chip(12)), DataError);
  CHECK_THROWS_AS(mla_module_row_problem({}, mla_chip(12)), DataError);
  CHECK_THROWS_AS(dsv4_row_problem({}, mla_chip(12)), DataError);
}
