// SPDX-License-Identifier: Apache-2.0
#include "validate/measurements/gemm_rows_problem.hpp"

#include <cmath>

namespace smtwin {
namespace {

// DeepGEMM wants the activation scales in rows of four; other M are copied first.
constexpr double kScaleRows = 4;

}  // namespace

void refuse_row(const MeasurementRow& row, const std::string& why) {
  throw DataError(std::string(to_string(row.table)) + " line " + std::to_string(row.line) + ": " +
                  why);
}

double GemmRowsProblem::host_s(const MeasuredGemm& row, const GemmConstants& c) const {
  if (!model_.implementation().host_timed) return 0;
  const bool aligned = std::fmod(row.point.shape.m, kScaleRows) == 0;
  return c.host_s + (aligned ? 0 : c.host_unaligned_s);
}

double GemmRowsProblem::reading_s(const MeasuredGemm& row, double op_s,
                                  const GemmConstants& c) const {
  return model_.implementation().host_timed ? host_timed_reading_s(op_s, host_s(row, c))
                                            : replayed_reading_s(op_s, row.loop);
}

double GemmRowsProblem::seconds(std::size_t i, std::span<const double> values, int& choice,
                                bool search) const {
  const GemmConstants c = model_.read(values);
  return reading_s(rows_[i], model_.seconds(rows_[i].point, c, choice, search), c);
}

TimeParts GemmRowsProblem::parts(std::size_t i, std::span<const double> values) const {
  const GemmConstants c = model_.read(values);
  TimeParts out = model_.parts(rows_[i].point, c);
  out.seconds = reading_s(rows_[i], out.seconds, c);
  out[Regime::launch] += host_s(rows_[i], c);
  return out;
}

}  // namespace smtwin
