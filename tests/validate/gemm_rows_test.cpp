// SPDX-License-Identifier: Apache-2.0
// From rows of GEMM, MLA projections and dynamic scales to prepared shapes: what the collector's
// loop leaves in the L2, and the instrument.
#include <cmath>
#include <memory>
#include <vector>

#include "arch/error.hpp"
#include "tests/catch.hpp"
#include "tests/model/gemm_chip.hpp"
#include "validate/measurements/row_problems.hpp"

using namespace smtwin;

namespace {

MeasurementRow gemm_row(std::string_view framework, std::string_view source,
                        std::string_view dtype) {
  MeasurementRow row;
  row.line = 7;
  row.framework = framework;
  row.kernel_source = source;
  row.dtype = dtype;
  row.m = 1;
  row.n = row.k = 4096;
  row.latency_s = 1e-5;
  return row;
}

std::vector<double> priors(const TimeProblem& problem) {
  std::vector<double> v;
  for (const ConstantSpec& c : problem.constants()) v.push_back(c.prior);
  return v;
}

double prior_s(const MeasurementRow& row, const TimingGpu& gpu) {
  const MeasurementRow* const rows[] = {&row};
  const auto problem = gemm_row_problem(rows, gpu);
  int choice = 0;
  return problem->seconds(0, priors(*problem), choice, true);
}

TimingGpu hopper() { return test::catalog_chip("h200-sxm"); }

TimingGpu sm120_without_tick() {
  TimingGpu gpu = test::catalog_chip("rtx-pro-6000-server");
  gpu.replay_tick_s = 0;
  return gpu;
}

}  // namespace

TEST_CASE("six copies of the weights decide whether a row is warm", "[unit]") {
  // 128 MiB of L2: six copies of 2048 x 2048 bf16 (8 MiB) fit, of 4096 x 4096 (32 MiB) do not. Four
  // times the bytes then take more than four times as long.
  MeasurementRow small = gemm_row("VLLM", "torch.nn.functional.linear", "bfloat16");
  small.n = small.k = 2048;
  const MeasurementRow large = gemm_row("VLLM", "torch.nn.functional.linear", "bfloat16");
  const double ratio = prior_s(large, sm120_without_tick()) / prior_s(small, sm120_without_tick());
  CHECK(ratio > 4);
  // NVFP4 has one copy: 9.4 MB stay, the ratio is that of launch-bound rows.
  MeasurementRow one_small = gemm_row("VLLM", "FlashInferCutlassNvFp4LinearKernel", "nvfp4");
  one_small.n = one_small.k = 2048;
  const MeasurementRow one_large = gemm_row("VLLM", "FlashInferCutlassNvFp4LinearKernel", "nvfp4");
  CHECK(prior_s(one_large, sm120_without_tick()) / prior_s(one_small, sm120_without_tick()) < 4);
}

TEST_CASE("outputs that a copy owns are evicted, outputs of the graph's pool are not", "[unit]") {
  // SGLang, 4096 x 8192 outputs = 64 MiB: block-scaled FP8 writes six of them in turn, plain FP8
  // the same one again.
  MeasurementRow block = gemm_row("SGLang", "sglang_deepgemm_gemm_nt_f8f8bf16", "fp8_block");
  block.m = 4096;
  block.n = 8192;
  block.k = 128;
  MeasurementRow plain = gemm_row("SGLang", "sglang_torch_linear", "bfloat16");
  plain.m = block.m;
  plain.n = block.n;
  plain.k = block.k;
  const auto dram_s = [](const MeasurementRow& row) {
    const MeasurementRow* const rows[] = {&row};
    const auto problem = gemm_row_problem(rows, sm120_without_tick());
    return problem->parts(0, priors(*problem)).regime_s[static_cast<std::size_t>(Regime::dram)];
  };
  CHECK(dram_s(block) > 10 * dram_s(plain));
}

TEST_CASE("rows timed without a graph stand on the host's floor", "[unit]") {
  MeasurementRow row = gemm_row("VLLM", "DeepGemmFp8BlockScaledMMKernel", "fp8_block");
  row.m = 64;
  const double aligned = prior_s(row, hopper());
  CHECK(aligned > 60e-6);
  const auto launch_s = [](const MeasurementRow& r) {
    const MeasurementRow* const rows[] = {&r};
    const auto problem = gemm_row_problem(rows, hopper());
    return problem->parts(0, priors(*problem))[Regime::launch];
  };
  const double aligned_launch = launch_s(row);
  row.m = 65;  // scales of 65 rows are copied first, 8 us before any fit
  CHECK(prior_s(row, hopper()) > aligned + 5e-6);
  CHECK(launch_s(row) - aligned_launch == Approx(8e-6).epsilon(0.01));
}

TEST_CASE("a replayed row lies on the instrument's grid", "[unit]") {
  // Six operations a replay, two ticks over six replays: the reading times 6 less a third of a tick
  // is a whole number of ticks, up to the jitter of the start.
  TimingGpu gpu = sm120_without_tick();
  MeasurementRow row = gemm_row("VLLM", "torch.nn.functional.linear", "bfloat16");
  row.n = row.k = 256;
  const double exact = prior_s(row, gpu);
  gpu.replay_tick_s = 2.048e-6;
  const double read = prior_s(row, gpu);
  CHECK(read >= exact);
  CHECK(read <= exact + (gpu.replay_tick_s + gpu.replay_tick_s / 3) / 6 + 1e-12);
}

TEST_CASE("projections before and after latent attention transpose each other", "[unit]") {
  MeasurementRow row;
  row.table = MeasurementTable::mla_bmm;
  row.line = 3;
  row.framework = "vLLM";
  row.kernel_source = "vllm_torch_bmm";
  row.dtype = "bfloat16";
  row.num_tokens = 4096;
  row.num_heads = 16;
  row.op_name = "mla_gen_pre";
  const MeasurementRow* const rows[] = {&row};
  const auto pre = mla_bmm_row_problem(rows, hopper());
  row.op_name = "mla_gen_post";
  const auto post = mla_bmm_row_problem(rows, hopper());
  int choice = 0;
  const std::vector<double> v = priors(*pre);
  // The same flops; one writes four times what it reads, the other reads four times what it writes.
  const double ratio = pre->seconds(0, v, choice, true) / post->seconds(0, v, choice, true);
  CHECK(ratio > 0.5);
  CHECK(ratio < 2);

  row.op_name = "mla_gen_middle";
  CHECK_THROWS_WITH(mla_bmm_row_problem(rows, hopper()),
                    "mla_bmm_perf line 3: op_name \"mla_gen_middle\" is not modelled; known: "
                    "mla_gen_pre, mla_gen_post");
  row.dtype = "fp8";
  CHECK_THROWS_WITH(mla_bmm_row_problem(rows, hopper()),
                    "mla_bmm_perf line 3: dtype \"fp8\" is not modelled; known for vLLM: bfloat16, "
                    "float16");
}

TEST_CASE("a scale row is a matrix of the framework's granularity", "[unit]") {
  MeasurementRow row = gemm_row("VLLM", "dynamic_per_token", "fp8");
  row.table = MeasurementTable::compute_scale;
  const MeasurementRow* const rows[] = {&row};
  const auto per_row = compute_scale_row_problem(rows, hopper());
  int choice = 0;
  CHECK(per_row->seconds(0, priors(*per_row), choice, true) < 2e-6);
  row.framework = "TRTLLM";
  const auto per_tensor = compute_scale_row_problem(rows, hopper());
  CHECK(per_tensor->seconds(0, priors(*per_tensor), choice, true) > 5e-6);
  row.dtype = "int8";
  CHECK_THROWS_WITH(compute_scale_row_problem(rows, hopper()),
                    "computescale_perf line 7: quant_dtype \"int8\" is not modelled; known: fp8");
  row.dtype = "fp8";
  row.framework = "llamacpp";
  CHECK_THROWS_WITH(
      compute_scale_row_problem(rows, hopper()),
      "computescale_perf line 7: framework \"llamacpp\" is not modelled; known: VLLM, "
      "SGLang, TRTLLM");
}

TEST_CASE("a row that no rule covers is named with its line", "[unit]") {
  MeasurementRow row = gemm_row("VLLM", "torch.nn.functional.linear", "int3");
  const MeasurementRow* const rows[] = {&row};
  CHECK_THROWS_WITH(
      gemm_row_problem(rows, hopper()),
      "gemm_perf line 7: dtype \"int3\" is not modelled; known: bfloat16, float16, fp8, "
      "fp8_block, nvfp4");
  row = gemm_row("SGLang", "sglang_deepgemm_gemm_nt_f8f8bf16", "fp8_block");
  row.k = 1e7;
  CHECK_THROWS_WITH(gemm_row_problem(rows, hopper()),
                    "gemm_perf line 7: DeepGEMM has no tile for K = 1e+07, whose scales fill the "
                    "shared memory; known: K up to some 6 million");
}

TEST_CASE("sizes at the end of the numbers stay finite", "[property]") {
  MeasurementRow row = gemm_row("TRTLLM", "torch_flow", "bfloat16");
  row.m = row.n = 1e15;
  CHECK(std::isfinite(prior_s(row, hopper())));
  CHECK(std::isfinite(prior_s(row, test::catalog_chip("rtx-pro-6000-server"))));
}

TEST_CASE("no rows are no problem", "[unit]") {
  CHECK_THROWS_AS(gemm_row_problem({}, hopper()), DataError);
  CHECK_THROWS_AS(mla_bmm_row_problem({}, hopper()), DataError);
  CHECK_THROWS_AS(compute_scale_row_problem({}, hopper()), DataError);
}
