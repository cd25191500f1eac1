// SPDX-License-Identifier: Apache-2.0
// One reading of a run as one line of JSON: what run files and their journals are made of. Keys are
// the member names of validate/runs/run_file.hpp; unknown and missing ones are errors.
#pragma once

#include <string>

#include "validate/observations/hf_json.hpp"
#include "validate/runs/run_file.hpp"

namespace smtwin {

std::string write_reading(const RunGpu& gpu);
std::string write_reading(const ProbeReading& reading);
std::string write_reading(const FunctionReading& reading);
std::string write_reading(const TimeReading& reading);

RunGpu read_run_gpu(const HfObject& o);
ProbeReading read_probe_reading(const HfObject& o);
FunctionReading read_function_reading(const HfObject& o);
TimeReading read_time_reading(const HfObject& o);

}  // namespace smtwin
