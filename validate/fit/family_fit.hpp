// SPDX-License-Identifier: Apache-2.0
// One family fitted to its measured rows, and how well the fit predicts shapes it has not seen.
// Rows of one shape are near copies of each other: they are drawn, left out and counted together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/timing/time_problem.hpp"

namespace smtwin {

// Prepared rows of one fitted family. Index i of the problem, seconds and shape belong together.
struct MeasuredFamily {
  const TimeProblem* problem = nullptr;
  std::vector<double> measured_s;
  std::vector<std::uint32_t> shape;  // equal for rows that belong together, 0..shape_count-1
  std::uint32_t shape_count = 0;
};

// A constant held at a value instead of fitted: pooled constants of the GPU, ablations.
struct FixedConstant {
  std::string name;
  double value = 0;
};

// What rows of different collectors scatter by around a good model.
inline constexpr double kRowNoise = 0.1;

struct FamilyFitOptions {
  int max_points = 0;      // rows used, drawn shape by shape; 0 = kDefaultFitRows
  std::uint64_t seed = 1;  // of the draw
  std::vector<FixedConstant> fixed;
  std::vector<double> start;  // raw values in the order of constants(); empty = the priors
  int max_iterations = 40;
  double noise = kRowNoise;  // spread of a row that the model explains, in log time
};
// More rows of the same shapes move no constant by more than its uncertainty, only the clock.
inline constexpr int kDefaultFitRows = 1200;

struct FamilyFit {
  std::vector<double> values;      // raw, in the order of TimeProblem::constants()
  std::vector<double> covariance;  // of their logarithms, row by row; 0 for fixed ones
  std::vector<bool> at_bound;
  bool converged = false;
  int rows_used = 0;
  double spread = 0;  // robust standard deviation of log(predicted / measured) of the rows used
};

// `rows`: indices to fit on; empty = all.
FamilyFit fit_family(const MeasuredFamily& family, std::span<const std::size_t> rows,
                     const FamilyFitOptions& options);

// log(predicted / measured) of every row, predicted from a fit that saw no row of its shape: whole
// shapes are dealt into `folds` parts. Empty when there are fewer than two shapes.
struct CrossValidation {
  std::vector<double> log_error;  // one a row of `rows`
  std::vector<double> predicted_s;
  std::vector<int> fold;  // that left the row out
  int folds = 0;
};
CrossValidation cross_validate(const MeasuredFamily& family, std::span<const std::size_t> rows,
                               const FamilyFitOptions& options, int folds = 4);

// At most `limit` of `rows`, whole-shape balanced and the same on every machine: rows are ordered
// by a hash of seed and index and taken in turn from every shape.
std::vector<std::size_t> draw_rows(const MeasuredFamily& family, std::span<const std::size_t> rows,
                                   int limit, std::uint64_t seed);

// Sensitivity of log seconds to the logarithm of each constant at row i, choice held.
std::vector<double> sensitivities(const TimeProblem& problem, std::size_t i,
                                  std::span<const double> values);

}  // namespace smtwin
