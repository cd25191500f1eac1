// SPDX-License-Identifier: Apache-2.0
// Prepared GEMM rows: shapes with what the collector's loop left in the L2, and the instrument that
// read them. Dense GEMMs and MLA projections share it; they differ in how a row is prepared.
#pragma once

#include <vector>

#include "model/families/gemm/gemm_time.hpp"
#include "model/families/gemm/replay_reading.hpp"

namespace smtwin {

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
  double reading_s(const MeasuredGemm& row, double op_s, const GemmConstants& c) const;

  GemmTimeModel model_;
  std::vector<MeasuredGemm> rows_;
};

}  // namespace smtwin
