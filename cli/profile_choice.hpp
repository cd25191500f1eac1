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

inline constexpr const char* kProfileHelp =
    "calibration to predict with: a file, a GPU whose profile ships, none, or the GPU's own "
    "(default)";

struct ProfileChoice {
  std::shared_ptr<const CalibrationProfile> profile;  // null: none
  // Its constants follow the specification of another GPU or of changed fields.
  bool transferred = false;
};

// `flag` as typed. UsageError when the profile was fitted on a GPU that is no relative of this one.
ProfileChoice choose_profile(const std::string& flag, const GpuSpec& gpu);

// A shipped profile by any name of its GPU, or a file. UsageError or DataError when there is none.
CalibrationProfile find_profile(const std::string& name_or_file);

// Where families of kernels come from: the chosen profile when it has any; without a flag else the
// first shipped one that has. Null: nowhere.
std::shared_ptr<const CalibrationProfile> kernel_profile(const std::string& flag,
                                                         const ProfileChoice& chosen);

// The `calibration` of a report's context.
CalibrationContext calibration_context(const ProfileChoice& choice);

// "h200-sxm: fitted, 60,675 rows, SOURCE", "h100-sxm: transferred from h200-sxm by specification,
// ...", "x: none, ...".
std::string profile_text(const ProfileChoice& choice, const std::string& gpu);

}  // namespace smtwin
