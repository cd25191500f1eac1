// SPDX-License-Identifier: Apache-2.0
// validate --measurements: its flags and its answer.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.hpp"

namespace smtwin {

struct MeasurementFlags {
  std::vector<std::string> paths;
  std::string profile;
  std::uint64_t worst = 0;
  bool audit = false;
  double max_median = 0;  // tolerance of families of at least 300 rows; 0 = none
  double max_p90 = 0;
  int threads = 0;
};

void add_measurement_flags(CLI::App& app, MeasurementFlags& flags);
Answer answer_measurements(const MeasurementFlags& flags, const VerbInput& input);

}  // namespace smtwin
