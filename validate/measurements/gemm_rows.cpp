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

struct WeightLoop {
  double copies = 1;             // of the weights
  bool activations_too = false;  // each copy has inputs and outputs of its own
};

WeightLoop weight_loop(const GemmImplementation& g, const GemmShape& s, const TimingGpu& gpu) {
  switch (g.framework) {
    case ServingFramework::sglang: return {kCopies, true};
    case ServingFramework::vllm:
      return {g.dtype == GemmDtype::bf16 || g.dtype == GemmDtype::fp8 ? kCopies : 1, false};
    case ServingFramework::trtllm: {
      const double element = g.dtype == GemmDtype::nvfp4 ? 0.5 : bytes_per_element(g.dtype);
      const double to_fill = ceil_count(gpu.l2_bytes / (s.n * s.k * element));
      return {std::clamp(to_fill, 1.0, kMostTrtllmCopies), false};
    }
  }
  return {};
}

MeasuredGemm measured_gemm(const MeasurementRow& row, const GemmTimeModel& model,
                           const TimingGpu& gpu) {
  const GemmImplementation& g = model.implementation();
  const GemmShape s{.m = row.m, .n = row.n, .k = row.k};
  const WeightLoop loop = weight_loop(g, s, gpu);
  const double element = bytes_per_element(g.dtype);
  const double activations =
      s.m * s.k * (element + (g.quantizes() ? 2 : 0)) + s.m * s.n * kOutputBytesPerElement;
  const double touched =
      loop.copies * s.n * s.k * element + activations * (loop.activations_too ? loop.copies : 1);
  MeasuredGemm out;
  out.point = model.replayed_point(s, touched);
  // TensorRT-LLM's fp8 rows show the tick once per operation.
  const bool per_op = g.framework == ServingFramework::trtllm && g.dtype == GemmDtype::fp8;
  out.loop = {.ops_per_replay = per_op ? 1 : loop.copies, .tick_s = gpu.replay_tick_s};
  return out;
}

}  // namespace

std::unique_ptr<TimeProblem> gemm_row_problem(RowSpan rows, const TimingGpu& gpu) {
  if (rows.empty()) throw DataError("gemm_perf: no rows");
  const MeasurementRow& first = *rows.front();
  GemmTimeModel model(gpu, first.framework, first.kernel_source, first.dtype);
  std::vector<MeasuredGemm> prepared;
  prepared.reserve(rows.size());
  for (const MeasurementRow* row : rows) prepared.push_back(measured_gemm(*row, model, gpu));
  return std::make_unique<GemmRowsProblem>(std::move(model), std::move(prepared));
}

}  // namespace smtwin
