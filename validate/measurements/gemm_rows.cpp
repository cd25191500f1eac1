// SPDX-License-Identifier: Apache-2.0
// Rows of gemm_perf as problems. The loops are those of AIConfigurator's collectors (read in
// collect_gemm.py of the three frameworks): operations on several copies of the weights inside one
// CUDA graph, replayed 6 times without flushing the L2.
#include <algorithm>
#include <cmath>

#include "arch/error.hpp"
#include "validate/measurements/gemm_rows_problem.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

constexpr double kCopies = 6;            // vLLM bf16 and fp8, SGLang
constexpr double kMostTrtllmCopies = 5;  // enough to pass the L2, at most 5

double weight_copies(const GemmImplementation& g, const GemmShape& s, const TimingGpu& gpu) {
  switch (g.framework) {
    case ServingFramework::sglang:
      return kCopies;
    case ServingFramework::vllm:
      return g.dtype == GemmDtype::bf16 || g.dtype == GemmDtype::fp8 ? kCopies : 1;
    case ServingFramework::trtllm: {
      const double element = g.dtype == GemmDtype::nvfp4 ? 0.5 : bytes_per_element(g.dtype);
      return std::clamp(ceil_count(gpu.l2_bytes / (s.n * s.k * element)), 1.0, kMostTrtllmCopies);
    }
  }
  return 1;
}

// What lies between two uses of a tensor in the replayed loop. Every copy has weights of its own;
// in SGLang also inputs, and outputs where the caller provides them. Buffers that an operation
// allocates itself come from the graph's memory pool, which hands the next operation the same one.
GemmReuse loop_reuse(const GemmImplementation& g, const GemmTensors& t, double copies) {
  const bool sglang = g.framework == ServingFramework::sglang;
  const bool own_outputs =
      sglang && (g.dtype == GemmDtype::fp8_block || g.dtype == GemmDtype::nvfp4);
  const bool own_operands = sglang && g.dtype == GemmDtype::fp8;
  const double inputs = g.quantizes() ? t.source : t.activations;
  const double made = g.quantizes() ? t.activations : 0;
  const double loop = copies * (t.weights + (sglang ? inputs : 0) + (own_outputs ? t.outputs : 0) +
                                (own_operands ? made : 0)) +
                      (sglang ? 0 : inputs) + (own_outputs ? 0 : t.outputs) +
                      (own_operands ? 0 : made);
  const double input_reuse = sglang ? loop : t.all();
  return {.weight_bytes = loop,
          .activation_bytes = g.quantizes() ? t.source + t.activations : input_reuse,
          .output_bytes = own_outputs ? loop : t.all(),
          .source_bytes = input_reuse};
}

MeasuredGemm measured_gemm(const MeasurementRow& row, const GemmTimeModel& model,
                           const TimingGpu& gpu) {
  const GemmImplementation& g = model.implementation();
  const GemmShape s{.m = row.m, .n = row.n, .k = row.k};
  const double copies = weight_copies(g, s, gpu);
  MeasuredGemm out;
  out.point = model.point(s, loop_reuse(g, model.tensors(s), copies));
  // TensorRT-LLM's fp8 rows show the tick once per operation.
  const bool per_op = g.framework == ServingFramework::trtllm && g.dtype == GemmDtype::fp8;
  out.loop = {.ops_per_replay = per_op ? 1 : copies, .tick_s = gpu.replay_tick_s};
  return out;
}

}  // namespace

std::unique_ptr<TimeProblem> gemm_row_problem(RowSpan rows, const TimingGpu& gpu) {
  if (rows.empty()) throw DataError("gemm_perf: no rows");
  const MeasurementRow& first = *rows.front();
  GemmTimeModel model = made_of_row(
      first, [&] { return GemmTimeModel(gpu, first.framework, first.kernel_source, first.dtype); });
  std::vector<MeasuredGemm> prepared;
  prepared.reserve(rows.size());
  for (const MeasurementRow* row : rows) {
    prepared.push_back(made_of_row(*row, [&] { return measured_gemm(*row, model, gpu); }));
  }
  return std::make_unique<GemmRowsProblem>(std::move(model), std::move(prepared));
}

}  // namespace smtwin
