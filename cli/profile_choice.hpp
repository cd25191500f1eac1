// SPDX-License-Identifier: Apache-2.0
// --profile: which calibration a verb predicts with. By default the shipped profile of the GPU; for
// a GPU that has none, the one of a relative transferred by specification.
#pragma once

#include <memory>
#include <string>

#include "arch/gpu_spec.hpp"
#include "cli/report.hpp"
#include "model/timing/profile.hpp"

namespace smtwin {

// `flag`: a file, "none" for no profile, or empty for the default. Null = none. UsageError when the
// file was fitted on another GPU that is no relative of this one.
std::shared_ptr<const CalibrationProfile> choose_profile(const std::string& flag,
                                                         const GpuSpec& gpu);

inline constexpr const char* kProfileHelp =
    "calibration to predict with: a file, none, or the shipped one of the GPU (default)";

// The `calibration` of a report's context.
CalibrationContext calibration_context(const CalibrationProfile* profile, const std::string& gpu);

// "h200-sxm: fitted, 45,002 rows, SOURCE", "h100-sxm: transferred from h200-sxm ...", "x: none".
std::string profile_text(const CalibrationProfile* profile, const std::string& gpu);

}  // namespace smtwin
