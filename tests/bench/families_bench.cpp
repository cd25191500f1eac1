// SPDX-License-Identifier: Apache-2.0
// Predictions a second and core of the kernel-time families, on shapes made up here: with the
// library's choice (tile, splits) made anew for each, and with the choice held.
#include <benchmark/benchmark.h>

#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "arch/gpu_catalog.hpp"
#include "validate/measurements/measured_families.hpp"
#include "validate/measurements/row_problems.hpp"

namespace {

using namespace smtwin;

constexpr int kShapes = 4096;

// Powers of two with odd factors, as layers have them.
double draw(std::mt19937& random, double low, double high, double multiple) {
  const double u = static_cast<double>(random()) / 4294967296.0;
  const double x = std::exp(std::log(low) + u * (std::log(high) - std::log(low)));
  return std::max(1.0, std::round(x / multiple)) * multiple;
}

using Fill = std::function<void(MeasurementRow&, std::mt19937&)>;
using Make = std::unique_ptr<TimeProblem> (*)(RowSpan, const TimingGpu&);

struct Subject {
  const char* name;
  const char* gpu;
  Fill fill;
  Make make;
};

void gemm(MeasurementRow& r, std::mt19937& random) {
  r.m = draw(random, 1, 4096, 1);
  r.n = draw(random, 256, 32768, 64);
  r.k = draw(random, 256, 32768, 128);
}

Fill gemm_of(const char* framework, const char* source, const char* dtype) {
  return [=](MeasurementRow& r, std::mt19937& random) {
    r.framework = framework;
    r.kernel_source = source;
    r.dtype = dtype;
    gemm(r, random);
  };
}

Fill moe_of(const char* framework, const char* source, const char* dtype) {
  return [=](MeasurementRow& r, std::mt19937& random) {
    r.table = MeasurementTable::moe;
    r.framework = framework;
    r.kernel_source = source;
    r.dtype = dtype;
    r.num_tokens = draw(random, 1, 512, 1);
    r.hidden_size = draw(random, 1024, 8192, 256);
    r.inter_size = draw(random, 512, 8192, 256);
    r.topk = 8;
    r.num_experts = 128;
    r.moe_tp_size = 1;
    r.moe_ep_size = 1;
    r.distribution = "balanced";
  };
}

Fill attention_of(const char* framework, const char* source) {
  return [=](MeasurementRow& r, std::mt19937& random) {
    r.table = MeasurementTable::generation_attention;
    r.op_name = "generation_attention";
    r.framework = framework;
    r.kernel_source = source;
    r.dtype = "bfloat16";
    r.kv_dtype = "bfloat16";
    r.batch_size = draw(random, 1, 512, 1);
    r.num_key_value_heads = draw(random, 1, 8, 1);
    r.num_heads = r.num_key_value_heads * 4;
    r.head_dim = 128;
    r.step = draw(random, 128, 65536, 1);
  };
}

const Subject kSubjects[] = {
    {"gemm_cublas_bf16", "rtx-pro-6000-server",
     gemm_of("SGLang", "sglang_torch_linear", "bfloat16"), gemm_row_problem},
    {"gemm_cublas_bf16_h200", "h200-sxm", gemm_of("TRTLLM", "torch_flow", "bfloat16"),
     gemm_row_problem},
    {"gemm_cutlass_nvfp4", "rtx-pro-6000-server",
     gemm_of("VLLM", "FlashInferCutlassNvFp4LinearKernel", "nvfp4"), gemm_row_problem},
    {"moe_cutlass_nvfp4", "rtx-pro-6000-server",
     moe_of("TRTLLM", "moe_torch_flow_cutlass", "nvfp4"), moe_row_problem},
    {"moe_triton_bf16", "rtx-pro-6000-server",
     moe_of("SGLang", "sglang_fused_moe_triton", "bfloat16"), moe_row_problem},
    {"attention_fa2", "rtx-pro-6000-server", attention_of("VLLM", "vllm_flash_attn_fa2"),
     attention_row_problem},
    {"attention_fa3", "h200-sxm", attention_of("VLLM", "vllm_flash_attn_fa3"),
     attention_row_problem},
    {"attention_trtllm", "rtx-pro-6000-server", attention_of("TRTLLM", "torch_flow"),
     attention_row_problem},
};

void predict(benchmark::State& state, const Subject& subject, bool search) {
  std::mt19937 random(1);
  std::vector<MeasurementRow> rows(kShapes);
  std::vector<const MeasurementRow*> pointers;
  for (MeasurementRow& row : rows) {
    subject.fill(row, random);
    row.latency_s = 1;
    pointers.push_back(&row);
  }
  const auto problem = subject.make(pointers, timing_gpu_of_rows(find_gpu(subject.gpu)));
  std::vector<double> values;
  for (const ConstantSpec& s : problem->constants()) values.push_back(s.prior);
  std::vector<int> choices(kShapes, 0);
  for (std::size_t i = 0; i < kShapes; ++i) problem->seconds(i, values, choices[i], true);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(problem->seconds(i, values, choices[i], search));
    i = (i + 1) % kShapes;
  }
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

int main(int argc, char** argv) {
  for (const Subject& s : kSubjects) {
    for (const bool search : {false, true}) {
      const std::string name = std::string(s.name) + (search ? "/choice_made" : "/choice_held");
      benchmark::RegisterBenchmark(
          name.c_str(), [&s, search](benchmark::State& state) { predict(state, s, search); });
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
