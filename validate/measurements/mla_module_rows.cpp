// SPDX-License-Identifier: Apache-2.0
// Rows of latent-attention modules (DeepSeek-V3) -> prepared shapes. Here `step` counts the new
// token too; a row of 0 is taken as 1.
#include <algorithm>
#include <utility>
#include <vector>

#include "arch/error.hpp"
#include "model/families/mla/mla_module_time.hpp"
#include "validate/measurements/mla_rows_columns.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

class MlaModuleRowProblem final : public TimeProblem {
 public:
  MlaModuleRowProblem(MlaModuleTimeModel model, RowSpan rows) : model_(std::move(model)) {
    works_.reserve(rows.size());
    for (const MeasurementRow* row : rows) {
      works_.push_back(model_.work({.batch = row->batch_size,
                                    .heads = row->num_heads,
                                    .kv_tokens = std::max(1.0, row->step)}));
    }
  }

  const std::vector<ConstantSpec>& constants() const override { return model_.constants(); }
  std::size_t size() const override { return works_.size(); }

  double seconds(std::size_t i, std::span<const double> values, int&, bool) const override {
    return model_.reading_s(model_.time(works_[i], values, CacheState::benchmark).seconds);
  }

  TimeParts parts(std::size_t i, std::span<const double> values) const override {
    TimeParts p = to_parts(model_.time(works_[i], values, CacheState::benchmark),
                           choice_text(works_[i].attention));
    p.seconds = model_.reading_s(p.seconds);
    return p;
  }

 private:
  MlaModuleTimeModel model_;
  std::vector<MlaModuleTimeModel::Work> works_;
};

}  // namespace

std::unique_ptr<TimeProblem> mla_module_row_problem(RowSpan rows, const TimingGpu& gpu) {
  if (rows.empty()) {
    throw DataError("mla_generation_module_perf: no rows, expected at least one");
  }
  const MeasurementRow& first = *rows.front();
  return std::make_unique<MlaModuleRowProblem>(
      MlaModuleTimeModel(gpu, row_mla_family(first, gpu), row_projection_type(first)), rows);
}

}  // namespace smtwin
