// SPDX-License-Identifier: Apache-2.0
// Rows of latent attention, kernels alone -> prepared shapes. `step` counts tokens already cached,
// the new token makes one more. The collector gives SGLang's planner the model's unsharded heads.
#include <utility>
#include <vector>

#include "arch/error.hpp"
#include "model/families/mla/mla_time.hpp"
#include "validate/measurements/mla_rows_columns.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

class MlaRowProblem final : public TimeProblem {
 public:
  MlaRowProblem(MlaTimeModel model, RowSpan rows) : model_(std::move(model)) {
    works_.reserve(rows.size());
    for (const MeasurementRow* row : rows) {
      works_.push_back(model_.kernel().work({.batch = row->batch_size,
                                             .heads = row->num_heads,
                                             .kv_tokens = row->step + 1,
                                             .planner_heads = row->num_heads * row->tp_size},
                                            0));
    }
  }

  const std::vector<ConstantSpec>& constants() const override { return model_.constants(); }
  std::size_t size() const override { return works_.size(); }

  double seconds(std::size_t i, std::span<const double> values, int&, bool) const override {
    return model_.reading_s(model_.kernel().time(works_[i], values, CacheState::benchmark).seconds);
  }

  TimeParts parts(std::size_t i, std::span<const double> values) const override {
    TimeParts p = to_parts(model_.kernel().time(works_[i], values, CacheState::benchmark),
                           choice_text(works_[i]));
    p.seconds = model_.reading_s(p.seconds);
    return p;
  }

 private:
  MlaTimeModel model_;
  std::vector<MlaKernel::Work> works_;
};

}  // namespace

std::unique_ptr<TimeProblem> mla_row_problem(RowSpan rows, const TimingGpu& gpu) {
  if (rows.empty()) throw DataError("generation_mla_perf: no rows, expected at least one");
  return std::make_unique<MlaRowProblem>(MlaTimeModel(gpu, row_mla_family(*rows.front(), gpu)),
                                         rows);
}

}  // namespace smtwin
