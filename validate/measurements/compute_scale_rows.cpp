// SPDX-License-Identifier: Apache-2.0
// Rows of computescale_perf as problems. vLLM's and TensorRT-LLM's collectors time five dynamic and
// five static quantizations of one m x k matrix in a replayed CUDA graph and report the difference
// of the means (read in collect_computescale.py), so a row of less than a microsecond is mostly the
// instrument's noise.
#include "arch/error.hpp"
#include "model/families/gemm/quant_scale_time.hpp"
#include "validate/measurements/gemm_rows_problem.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

class ComputeScaleRowsProblem : public TimeProblem {
 public:
  ComputeScaleRowsProblem(QuantScaleTimeModel model, RowSpan rows) : model_(std::move(model)) {
    for (const MeasurementRow* row : rows) matrices_.push_back({row->m, row->k});
  }

  const std::vector<ConstantSpec>& constants() const override { return model_.constants(); }
  std::size_t size() const override { return matrices_.size(); }
  double seconds(std::size_t i, std::span<const double> values, int&, bool) const override {
    return model_.seconds(matrices_[i].rows, matrices_[i].columns, values);
  }
  TimeParts parts(std::size_t i, std::span<const double> values) const override {
    return model_.parts(matrices_[i].rows, matrices_[i].columns, values);
  }

 private:
  struct Matrix {
    double rows = 0, columns = 0;
  };
  QuantScaleTimeModel model_;
  std::vector<Matrix> matrices_;
};

}  // namespace

std::unique_ptr<TimeProblem> compute_scale_row_problem(RowSpan rows, const TimingGpu& gpu) {
  if (rows.empty()) throw DataError("computescale_perf: no rows");
  const MeasurementRow& first = *rows.front();
  if (first.dtype != "fp8") {
    refuse_row(first,
               "quant_dtype \"" + std::string(first.dtype) + "\" is not modelled; known: fp8");
  }
  const auto framework = serving_framework_from(first.framework);
  if (!framework) {
    refuse_row(first, "framework \"" + std::string(first.framework) +
                          "\" is not modelled; known: VLLM, SGLang, TRTLLM");
  }
  return std::make_unique<ComputeScaleRowsProblem>(QuantScaleTimeModel(*framework, gpu), rows);
}

}  // namespace smtwin
