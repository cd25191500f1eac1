// SPDX-License-Identifier: Apache-2.0
// What `validate --measurements` and `calibrate` compute and show: measured rows, the families
// they fall into, how well a profile predicts them, and the profile itself.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "validate/fit/calibrate.hpp"
#include "validate/fit/score.hpp"
#include "validate/measurements/measurement_reader.hpp"

namespace smtwin {

// Rows of files, folders or "-", and their families. The families point into the rows.
struct LoadedMeasurements {
  MeasurementSet set;
  std::vector<FamilyRows> families;
};
// UsageError when `gpu` is given and no row was measured on it.
std::unique_ptr<LoadedMeasurements> load_measurements(const std::vector<std::string>& paths,
                                                      const std::string& gpu, std::istream& in);

struct WorstRow {
  std::string where;   // "gemm.csv:12"
  std::string family;  // scored name
  std::string shape;   // "m=16 n=4096 k=7168"
  double measured_s = 0;
  TimeParts parts;
  TimeInterval interval;
};

struct AuditLine {
  std::string where;
  std::string kind;
  std::string reason;
};

struct MeasurementsAnswer {
  MeasurementScore score;
  std::size_t rows_read = 0;
  std::vector<std::string> profiles;  // "rtx-pro-6000-server: fitted, 90,312 rows"
  std::vector<WorstRow> worst;
  bool audited = false;
  std::vector<AuditLine> audit;
};

void print_measurements(std::ostream& out, const MeasurementsAnswer& answer);
std::string measurements_json(const MeasurementsAnswer& answer);
void write_measurements_csv(std::ostream& out, const MeasurementsAnswer& answer);

struct CalibrateAnswer {
  CalibrationProfile profile;
  std::vector<Ablation> ablations;
  std::vector<MeasurementScore::NotModelled> not_modelled;
  bool written = false;
  bool shown = false;  // an existing profile, not a new one
};
void print_calibration(std::ostream& out, const CalibrateAnswer& answer);
std::string calibration_json(const CalibrateAnswer& answer);
void write_calibration_csv(std::ostream& out, const CalibrateAnswer& answer);

// The columns of a row that make its shape, as people write them.
std::string shape_text(const MeasurementRow& row);

}  // namespace smtwin
