// SPDX-License-Identifier: Apache-2.0
// --device N: a run on a GPU of this machine, as `validate` and `calibrate` start it, with its
// journal beside the output file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "validate/runs/run_session.hpp"

namespace CLI {
class App;
}

namespace smtwin {

struct DeviceFlags {
  int device = -1;  // -1: not given
  std::string kernel;
  std::string effort = "full";
  double max_seconds = 0;  // 0 = the effort's
  std::int64_t seed = 1;
};
void add_device_flags(CLI::App& app, DeviceFlags& flags);
// UsageError when one of them was given without --device.
void check_device_flags(const DeviceFlags& flags);

// One run with what was skipped, finished or not.
struct DeviceRun {
  SessionResult result;
  std::string output;            // -o, beside which the journal lies; may be empty
  std::function<void()> forget;  // removes the journal: the run is kept elsewhere
};

// Takes `device`, and every reading that the journal of an interrupted run lacks. Progress goes to
// input.err. NoDeviceError, NotBuiltError; UsageError for a kernel that is none.
DeviceRun run_on_device(const DeviceFlags& flags, const VerbInput& input);

// Run files joined; `paths` is not empty. DataError names the file that cannot be read or joined.
RunFile load_runs(const std::vector<std::string>& paths, std::istream& in);

// 3 when the GPU was lost on the way: the report then covers what there is.
int exit_code_of(const DeviceRun& run);

}  // namespace smtwin
