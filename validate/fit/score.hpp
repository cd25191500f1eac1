// SPDX-License-Identifier: Apache-2.0
// Measured rows against a profile: every row predicted with its interval and what decides it, and
// the errors by scored family and by regime.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/timing/profile.hpp"
#include "validate/fit/statistics.hpp"
#include "validate/measurements/measured_families.hpp"

namespace smtwin {

// Which constants of a family had a part in a time, by their position.
inline constexpr std::size_t kMostConstants = 64;
using ConstantSet = std::bitset<kMostConstants>;

struct ScoredRow {
  const MeasurementRow* row = nullptr;
  std::size_t family = 0;  // index into the families that were scored
  std::size_t point = 0;   // of its problem
  double predicted_s = 0;
  TimeInterval interval;
  Regime regime = Regime::launch;
  ConstantSet constants;
  double error() const;  // |predicted / measured - 1|
};

struct GroupScore {
  std::string name;
  ErrorStatistics errors;
  double interval_coverage = 0;                 // share of rows inside their 90 % interval
  Provenance provenance = Provenance::assumed;  // of the constants
  bool with_interval = false;                   // all its rows have one
  std::size_t constants = 0;                    // that had a part in any of the times
};

struct MeasurementScore {
  std::vector<ScoredRow> rows;
  std::vector<GroupScore> families;  // by scored name
  std::vector<GroupScore> regimes;   // in the order of Regime; those without rows left out
  struct NotModelled {
    std::string name;
    std::size_t rows = 0;
    std::string why;
  };
  std::vector<NotModelled> not_modelled;
};

// `profile_of`: of a GPU by canonical name; null = none, constants keep their priors (`assumed`).
MeasurementScore score_measurements(
    const std::vector<FamilyRows>& families,
    const std::function<const CalibrationProfile*(const std::string&)>& profile_of,
    int threads = 0);

// What a family predicts with: constants of the profile, transferred where it was fitted on a
// relative of this GPU, or priors where there is none.
struct FamilyConstants {
  std::vector<double> values;                      // in the order of the problem's constants
  const FamilyCalibration* calibration = nullptr;  // null: priors
  double transfer_sd = 0;
  std::optional<UnmeasuredErrors> unmeasured;  // a profile that lacks this family
  Provenance provenance = Provenance::assumed;
};
FamilyConstants constants_of(const FamilyRows& family, const CalibrationProfile* profile);

// Indices of the `count` rows with the largest errors, worst first.
std::vector<std::size_t> worst_rows(const MeasurementScore& score, std::size_t count);

}  // namespace smtwin
