// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_choice.hpp"

#include <algorithm>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "cli/report.hpp"
#include "validate/fit/profile_io.hpp"

namespace smtwin {

std::shared_ptr<const CalibrationProfile> choose_profile(const std::string& flag,
                                                         const GpuSpec& gpu) {
  if (flag == "none") return nullptr;
  if (!flag.empty()) {
    auto profile = std::make_shared<CalibrationProfile>(load_profile(flag));
    if (profile->gpu != gpu.name) {
      throw UsageError(flag + ": fitted on " + profile->gpu + ", asked about " + gpu.name +
                       "; give a profile of that GPU, or --profile none");
    }
    return profile;
  }
  const std::vector<std::string> shipped = shipped_profiles();
  if (std::find(shipped.begin(), shipped.end(), gpu.name) == shipped.end()) return nullptr;
  return std::make_shared<CalibrationProfile>(
      load_profile(data_directory() + "/calibrations/" + gpu.name + ".json"));
}

std::string profile_text(const CalibrationProfile* profile) {
  if (profile == nullptr) return "none: every constant is assumed from the specification";
  std::string text = profile->gpu + ": " + std::string(to_string(profile->provenance())) + ", " +
                     format_count(profile->rows) + " rows";
  if (!profile->source.empty()) text += ", " + profile->source;
  return text;
}

}  // namespace smtwin
