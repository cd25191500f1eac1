// SPDX-License-Identifier: Apache-2.0
// From measured rows of one GPU to its calibration profile.
//   1. Every family is fitted with the GPU's shared constants free, each with its prior.
//   2. A shared constant is pooled: mean of its logarithms over the families, weighted by their
//      certainty, where the families may differ from each other by kBetweenFamilies.
//   3. Every family is fitted again with the shared constants held at the pooled values.
//   4. Every family is cross-validated by shape; the residuals give the intervals.
// The result depends on rows, seed and max_points alone, not on the number of threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/timing/profile.hpp"
#include "validate/measurements/measured_families.hpp"

namespace smtwin {

// A family of fewer rows is not fitted: priors and the interval of unmeasured kernels serve better.
inline constexpr std::size_t kRowsForFit = 30;

struct CalibrateOptions {
  int max_points = 0;  // rows a family is fitted on; 0 = kDefaultFitRows
  std::uint64_t seed = 1;
  int folds = 4;
  std::size_t fewest_rows = kRowsForFit;
  double noise = kRowNoise;  // how far a good model is from one row, in log time
  int threads = 0;           // 0 = as many as the machine runs at once
};

// `families`: of one GPU; those without a problem or with too few rows are left out. `source`: of
// the rows, in words.
CalibrationProfile calibrate(const std::vector<FamilyRows>& families, const std::string& source,
                             const CalibrateOptions& options = {});

// What one effect is worth: the family refitted with a constant held at its `off` value.
struct Ablation {
  std::string family;
  std::string constant;     // empty: nothing taken out
  double median_error = 0;  // of unseen shapes
  double p90_error = 0;
};
std::vector<Ablation> ablate(const FamilyRows& family, const FamilyCalibration& calibration,
                             const CalibrateOptions& options = {});

// Statistics of what the file holds: a 64-bit FNV-1a hash over the rows in their order.
std::string fingerprint(const std::vector<FamilyRows>& families);

}  // namespace smtwin
