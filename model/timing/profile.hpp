// SPDX-License-Identifier: Apache-2.0
// A calibration profile: what fitting a GPU's measured rows left behind. Constants with their
// uncertainty and statistics of the residuals, never a row. File layout: data/SCHEMA.md.
//
// Interval of a prediction t with sensitivities g to the logarithms of the constants:
//   u^2 = spread(regime)^2 + g' C g + transfer^2       90 % interval = [t exp(low u), t exp(high
//   u)]
// `spread` is the robust standard deviation of log(measured / predicted) over rows of shapes that
// the fit had not seen (cross-validation), by what decides the time; `low` and `high` are the 5th
// and 95th percentile of log(measured / predicted) / u over the same rows (split conformal: no
// shape of the distribution is assumed). C is the covariance of the constants' logarithms. Where
// constants come from another GPU both sides widen by the 95 % point of a normal distribution with
// the transfer's standard deviation, added in squares.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/provenance.hpp"
#include "model/timing/time_problem.hpp"

namespace smtwin {

struct FittedConstant {
  std::string name;
  std::string unit;
  std::string meaning;
  double value = 0;
  double log_sd = 0;  // of the value's logarithm; 0 = held, not fitted
  double prior = 0;
  bool at_bound = false;
  bool of_gpu = false;
};

// Which implementation of which operation a set of constants belongs to, as the rows name it.
struct FamilyIdentity {
  std::string table;           // "gemm_perf"
  std::string framework = {};  // lower case: "vllm"; empty where several share constants
  std::string kernel_source = {};
  std::string dtype = {};
  std::string kv_dtype = {};   // empty where there is none
  std::string gemm_type = {};  // of modules
  // "gemm_perf/torch_flow/bfloat16", "generation_attention_perf/triton/bfloat16/fp8"
  std::string key() const;
  friend bool operator==(const FamilyIdentity&, const FamilyIdentity&) = default;
};

struct FittedRange {
  std::string column;
  double low = 0;
  double high = 0;
};

// Of rows whose shapes were left out of the fit.
struct UnseenShapes {
  std::int64_t rows = 0;
  std::int64_t shapes = 0;
  int folds = 0;
  double median_error = 0;
  double mean_error = 0;
  double p90_error = 0;
  double bias = 0;
  double spearman = 0;
  double interval_coverage = 0;  // share of them inside their own 90 % interval
};

struct FamilyCalibration {
  FamilyIdentity identity;
  std::int64_t rows_used = 0;  // by the fit
  bool converged = false;      // the fit ended because nothing improved any more
  std::vector<FittedConstant> constants;
  std::vector<double> covariance;  // of the logarithms, row by row
  UnseenShapes unseen;
  std::array<double, kRegimeCount> spread{};  // indexed by Regime
  double low_score = -1.645;                  // of a normal distribution until rows say otherwise
  double high_score = 1.645;
  std::vector<FittedRange> ranges;

  std::vector<double> values() const;
};

struct TimeInterval {
  double low_s = 0;
  double high_s = 0;
};

// log(measured / predicted), 5th and 95th percentile, of families before a row of theirs was
// fitted: constants at their priors, every family with the same weight. The errors to expect of a
// kernel that nobody measured.
struct UnmeasuredErrors {
  double low = -0.5;
  double high = 0.5;
  TimeInterval around(double seconds) const;
  // With the standard deviation of a transfer added in squares.
  UnmeasuredErrors widened(double transfer_sd) const;
};

struct CalibrationProfile {
  std::string gpu;          // canonical name of the GPU it predicts
  std::string source;       // of the measurements, in words
  std::string fingerprint;  // of the rows fitted: "fnv1a64:..."
  std::int64_t rows = 0;    // read for this GPU
  std::uint64_t seed = 1;
  int max_points = 0;  // a family; 0 = the default
  std::vector<FittedConstant> gpu_constants;
  UnmeasuredErrors unmeasured;
  std::vector<FamilyCalibration> families;

  // Null: not in this profile.
  const FamilyCalibration* find(const FamilyIdentity& identity) const;
};

// `constants_variance` is g' C g.
TimeInterval interval_of(double seconds, Regime regime, const FamilyCalibration& family,
                         double constants_variance, double transfer_sd);

}  // namespace smtwin
