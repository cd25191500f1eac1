// SPDX-License-Identifier: Apache-2.0
// validate --device N and --run FILE...: readings of kernels that ran, against predictions.
#pragma once

#include <string>
#include <vector>

#include "cli/device_run.hpp"
#include "cli/validate_measurements.hpp"
#include "cli/verb.hpp"

namespace smtwin {

struct RunFlags {
  DeviceFlags device;
  std::vector<std::string> files;
  double calibrate_share = 0;
  bool probes = false;
  std::string compare;
  std::vector<std::string> where;
};
void add_run_flags(CLI::App& app, RunFlags& flags);

// `shared`: --profile, --worst, --max-median and --max-p90.
Answer answer_runs(const RunFlags& flags, const MeasurementFlags& shared, const VerbInput& input);

}  // namespace smtwin
