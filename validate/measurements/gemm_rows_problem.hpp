// SPDX-License-Identifier: Apache-2.0
// Prepared GEMM rows: shapes with what the collector's loop left in the L2, and the instrument that
// read them. Dense GEMMs and MLA projections share it; they differ in how a row is prepared.
#pragma once

#include <string>
#include <vector>

#include "arch/error.hpp"
#include "model/families/gemm/gemm_time.hpp"
#include "model/families/gemm/replay_reading.hpp"
#include "validate/measurements/measurement_row.hpp"

namespace smtwin {

// DataError: "gemm_perf line 12: WHY".
[[noreturn]] void refuse_row(const MeasurementRow& row, const std::string& why);

// `make()`, whose DataErrors are told as those of the row.
template <class Make>
auto made_of_row(const MeasurementRow& row, Make make) {
  try {
    return make();
  } catch (const DataError& error) {
    refuse_row(row, error.what());
  }
}

struct MeasuredGemm {
  GemmPoint point;
  ReplayLoop loop;
};

class GemmRowsProblem : public TimeProblem {
 public:
  GemmRowsProblem(GemmTimeModel model, std::vector<MeasuredGemm> rows)
      : model_(std::move(model)), rows_(std::move(rows)) {}

  const std::vector<ConstantSpec>& constants() const override { return model_.constants(); }
  std::size_t size() const override { return rows_.size(); }
  double seconds(std::size_t i, std::span<const double> values, int& choice,
                 bool search) const override;
  TimeParts parts(std::size_t i, std::span<const double> values) const override;

 private:
  double host_s(const MeasuredGemm& row, const GemmConstants& c) const;  // 0 in a graph
  double reading_s(const MeasuredGemm& row, double op_s, const GemmConstants& c) const;

  GemmTimeModel model_;
  std::vector<MeasuredGemm> rows_;
};

}  // namespace smtwin
