// SPDX-License-Identifier: Apache-2.0
// Rows of DeepSeek-V4 attention modules (CSA, HCA; models Flash and Pro together) -> prepared
// shapes. On Hopper they time the sparse kernels; on SM120 an unfused fallback, a family of its
// own that no deployment uses. `step` counts the new token too; 0 is taken as 1.
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

}  // namespace

std::unique_ptr<TimeProblem> dsv4_row_problem(RowSpan rows, const TimingGpu& gpu) {
  if (rows.empty()) {
    throw DataError("dsv4 generation modules: no rows, expected at least one");
  }
  const MeasurementRow& first = *rows.front();
  const bool csa = first.table == MeasurementTable::dsv4_csa;
  const ProjectionType type = row_projection_type(first);
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
  const Dsv4Framework framework =
      row_framework(first) == RowFramework::vllm ? Dsv4Framework::vllm : Dsv4Framework::sglang;
  return std::make_unique<Dsv4RowProblem<Dsv4TimeModel>>(Dsv4TimeModel(gpu, framework, csa, type),
                                                         shapes);
}

}  // namespace smtwin
