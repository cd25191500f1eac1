// SPDX-License-Identifier: Apache-2.0
// --profile: which calibration a verb predicts with. By default the shipped profile of the GPU; for
// a GPU that has none, the one of a relative transferred by specification.
#pragma once

#include <memory>
#include <string>

#include "arch/gpu_spec.hpp"
#include "model/timing/profile.hpp"

namespace smtwin {

// `flag`: a file, "none" for no profile, or empty for the default. Null = none. UsageError when the
// file was fitted on another GPU that is no relative of this one.
std::shared_ptr<const CalibrationProfile> choose_profile(const std::string& flag,
                                                         const GpuSpec& gpu);

// "fitted, 90,312 rows, AIConfigurator ..." or "none: every constant is assumed".
std::string profile_text(const CalibrationProfile* profile);

}  // namespace smtwin
