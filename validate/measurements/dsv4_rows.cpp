// SPDX-License-Identifier: Apache-2.0
// Rows of DeepSeek-V4 attention modules (CSA, HCA; models Flash and Pro together) -> prepared
// shapes. On Hopper they time the sparse kernels (SGLang, vLLM); on SM120 an unfused fallback
// (SGLang), a family of its own that no deployment uses. Other rows are refused. `step` counts the
// new token too; 0 is taken as 1.
#include <algorithm>
#include <utility>
#include <vector>

#include "arch/error.hpp"
#include "model/families/mla/dsv4_time.hpp"
#include "validate/measurements/mla_rows_columns.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

template <class Model>
class Dsv4RowProblem final : public TimeProblem {
 public:
  Dsv4RowProblem(Model model, const std::vector<Dsv4Shape>& shapes) : model_(std::move(model)) {
    works_.reserve(shapes.size());
    for (const Dsv4Shape& shape : shapes) works_.push_back(model_.work(shape));
  }

  const std::vector<ConstantSpec>& constants() const override { return model_.constants(); }
  std::size_t size() const override { return works_.size(); }

  double seconds(std::size_t i, std::span<const double> values, int&, bool) const override {
    return model_.time(works_[i], values, CacheState::benchmark).seconds;
  }

  TimeParts parts(std::size_t i, std::span<const double> values) const override {
    return to_parts(model_.time(works_[i], values, CacheState::benchmark), {});
  }

 private:
  Model model_;
  std::vector<typename Model::Work> works_;
};

Dsv4Dims row_dims(const MeasurementRow& row) {
  if (row.model.find("V4-Flash") != std::string_view::npos) return dsv4_flash_dims();
  if (row.model.find("V4-Pro") != std::string_view::npos) return dsv4_pro_dims();
  refuse_row(row, "model", row.model, "names with V4-Flash or V4-Pro");
}

// Whose sparse kernels or fallback the rows time; refuses what no rule covers.
ServingFramework row_library(const MeasurementRow& row, const TimingGpu& gpu) {
  const ServingFramework framework = row_framework(row);
  const bool sglang =
      framework == ServingFramework::sglang && row.kernel_source == "compressed_flashmla";
  const bool vllm =
      framework == ServingFramework::vllm && row.kernel_source == "FLASHMLA_SPARSE_DSV4";
  if (gpu.hopper() ? !sglang && !vllm : !sglang) {
    refuse_row(row, "kernel_source", row.kernel_source,
               gpu.hopper() ? "SGLang compressed_flashmla, vLLM FLASHMLA_SPARSE_DSV4"
                            : "SGLang compressed_flashmla");
  }
  if (!row_fp8_kv(row)) refuse_row(row, "kv_cache_dtype", row.kv_dtype, "fp8, fp8_e4m3");
  return framework;
}

ProjectionType row_weights(const MeasurementRow& row) {
  const ProjectionType type = row_projection_type(row);
  if (type == ProjectionType::nvfp4) {
    refuse_row(row, "gemm_type", row.gemm_type, "bfloat16, fp8_block");
  }
  return type;
}

}  // namespace

std::unique_ptr<TimeProblem> dsv4_row_problem(RowSpan rows, const TimingGpu& gpu) {
  if (rows.empty()) {
    throw DataError("dsv4 generation modules: no rows, expected at least one");
  }
  const MeasurementRow& first = *rows.front();
  const bool csa = first.table == MeasurementTable::dsv4_csa;
  const ServingFramework framework = row_library(first, gpu);
  const ProjectionType type = row_weights(first);
  std::vector<Dsv4Shape> shapes;
  shapes.reserve(rows.size());
  for (const MeasurementRow* row : rows) {
    shapes.push_back({.batch = row->batch_size,
                      .heads = row->num_heads,
                      .kv_tokens = std::max(1.0, row->step),
                      .dims = row_dims(*row)});
  }
  if (!gpu.hopper()) {
    return std::make_unique<Dsv4RowProblem<Dsv4FallbackTimeModel>>(
        Dsv4FallbackTimeModel(gpu, csa, type), shapes);
  }
  return std::make_unique<Dsv4RowProblem<Dsv4TimeModel>>(Dsv4TimeModel(gpu, framework, csa, type),
                                                         shapes);
}

}  // namespace smtwin
