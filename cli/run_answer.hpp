// SPDX-License-Identifier: Apache-2.0
// What `validate --run` and `validate --device` show: a run, the twin's word on it, and whether the
// two agree within tolerance.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "validate/runs/run_compare.hpp"
#include "validate/runs/run_report.hpp"

namespace smtwin {

struct RunTolerance {
  double median_error = 0.06;  // of a family whose constants were fitted
  double p90_error = 0.20;
};
// Families with fewer readings are shown and not judged.
inline constexpr std::size_t kJudgedReadings = 30;

struct RunAnswer {
  RunFile run;  // all readings
  std::vector<std::string> files;
  std::string profile;  // in words
  RunTolerance tolerance;
  double calibrate_share = 0;       // 0 = a profile's constants, every reading scored
  std::string stopped;              // why the GPU was given up
  std::size_t checked_results = 0;  // comparisons with float64 just made; 0 = a stored run
  std::size_t wrong_results = 0;    // variants that were not timed because their result was wrong
  std::size_t worst = 0;
  std::unique_ptr<RunReport> report;  // null: the catalog does not know the GPU
  std::optional<ParameterChange> compare = {};
  std::vector<ReadingPair> pairs = {};  // with `compare`

  // Each a sentence; empty = everything agrees.
  std::vector<std::string> outside() const;
  // Pairs of unseen shapes whose telling change was predicted the other way.
  std::size_t wrong_signs() const;
};

void print_run(std::ostream& out, const RunAnswer& answer);
std::string run_json(const RunAnswer& answer);
void write_run_csv(std::ostream& out, const RunAnswer& answer);

// The same with --compare: pairs of readings instead of the whole run.
void print_run_comparison(std::ostream& out, const RunAnswer& answer);
std::string run_comparison_json(const RunAnswer& answer);
void write_run_comparison_csv(std::ostream& out, const RunAnswer& answer);

// The same with --probes: what the run's probes read.
void print_run_probes(std::ostream& out, const RunAnswer& answer);
std::string run_probes_json(const RunAnswer& answer);
void write_run_probes_csv(std::ostream& out, const RunAnswer& answer);

// The worst predictions first.
std::vector<const PointReport*> worst_points(const RunReport& report, std::size_t count);

}  // namespace smtwin
