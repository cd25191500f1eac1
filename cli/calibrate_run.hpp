// SPDX-License-Identifier: Apache-2.0
// calibrate --device N and --run FILE...: constants of our own kernels and of the GPU from
// readings, merged into the profile that is there.
#pragma once

#include <string>
#include <vector>

#include "cli/device_run.hpp"
#include "cli/verb.hpp"
#include "validate/fit/calibrate.hpp"

namespace smtwin {

struct CalibrateRunFlags {
  DeviceFlags device;
  std::vector<std::string> files;
  std::string base;
  std::string save_run;
  bool force = false;
};
void add_calibrate_run_flags(CLI::App& app, CalibrateRunFlags& flags);

Answer answer_calibrate_runs(const CalibrateRunFlags& flags, const CalibrateOptions& options,
                             const std::string& source, const VerbInput& input);

}  // namespace smtwin
