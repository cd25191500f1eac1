// SPDX-License-Identifier: Apache-2.0
// Calibration profiles as JSON (layout in data/SCHEMA.md), and finding the one for a GPU.
#pragma once

#include <optional>
#include <string>

#include "arch/gpu_spec.hpp"
#include "model/timing/profile.hpp"

namespace smtwin {

// Complete text of a profile. Constants keep 6 significant digits, covariances 4: far below their
// uncertainty, and the same text on every machine.
std::string write_profile(const CalibrationProfile& profile);

// DataError with file and JSON pointer for anything that is not such a profile.
CalibrationProfile read_profile(const std::string& json_text, const std::string& file_name);
CalibrationProfile load_profile(const std::string& path);

// Names of the GPUs with a shipped profile (data/calibrations/NAME.json).
std::vector<std::string> shipped_profiles();

}  // namespace smtwin
