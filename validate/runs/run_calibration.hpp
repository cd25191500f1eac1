// SPDX-License-Identifier: Apache-2.0
// Constants of our own kernels from a run, and how well they predict: the families of the run
// fitted to all readings, or to a share of the shapes (whole shapes, drawn by a seed) with the rest
// held out and scored. Deterministic: the same run, share and seed give the same numbers on every
// machine.
//
// Picks: of each shape, the configuration with the least predicted time among those that were
// measured cold with the kernel's own split rule; its measured time is compared with the best.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/timing/profile.hpp"
#include "validate/fit/calibrate.hpp"
#include "validate/fit/statistics.hpp"
#include "validate/runs/run_rows.hpp"

namespace smtwin {

// Fitted families and the GPU's probe readings. A family with fewer than kRowsForFit readings is
// left out.
CalibrationProfile calibrate_run(const RunFile& run, const RunRows& rows,
                                 const CalibrateOptions& options = {});

// `base` with the run's families and probe constants in place of older ones.
// DataError when they belong to different GPUs.
CalibrationProfile with_run_families(CalibrationProfile base, const CalibrationProfile& run);

// Medians of one session, one GPU and kernels whose source is known lie closer to their model than
// the rows of a database: the fit trusts them more against the priors.
inline constexpr double kRunNoise = 0.03;

struct RunPoint {
  std::size_t reading = 0;  // of RunReadings
  double predicted_s = 0;
  TimeInterval interval;  // of no width without a calibration
  Regime regime = Regime::launch;
  bool held_out = false;
};

struct RunPick {
  std::string shape;
  std::string picked;
  std::string best;
  double picked_s = 0;  // measured
  double best_s = 0;    // measured
  bool held_out = false;
  double loss() const { return picked_s / best_s - 1; }
};
inline constexpr double kGoodPick = 0.03;  // a pick may lose this share of the time

struct RunFamilyScore {
  std::string name;  // "run/sparse_mla_decode"
  bool fitted = false;
  std::vector<RunPoint> points;
  std::vector<RunPick> picks;  // shapes with at least two configurations
  std::size_t fitted_points = 0, fitted_shapes = 0;
  std::size_t scored_points = 0, scored_shapes = 0;  // held out; all where nothing was
  ErrorStatistics errors;                            // of the scored points
  double interval_coverage = 0;                      // share of them inside their 90 % interval
  std::size_t good_picks = 0, judged_picks = 0;      // of the scored shapes
};

struct RunScore {
  std::vector<RunFamilyScore> families;  // in the order of the rows
  std::vector<std::string> left_out;
};

// Predictions of a profile, null: of the priors. Every point is scored.
RunScore score_run(const RunRows& rows, const CalibrationProfile* profile);

struct HoldOutOptions {
  double calibrate_share = 0.25;  // of the shapes of each family, rounded up; in (0, 1)
  std::uint64_t seed = 1;         // of the draw, which looks at the names of the shapes alone
  int threads = 0;
};
RunScore score_held_out(const RunRows& rows, const HoldOutOptions& options = {});

}  // namespace smtwin
