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
  const auto relative = [&](const std::string& fitted_on) {
    return fitted_on == gpu.name ||
           find_gpu(fitted_on).compute_capability.major == gpu.compute_capability.major;
  };
  if (!flag.empty()) {
    auto profile = std::make_shared<CalibrationProfile>(load_profile(flag));
    if (!relative(profile->gpu)) {
      throw UsageError(flag + ": fitted on " + profile->gpu + ", no relative of " + gpu.name +
                       "; give a profile of that GPU, or --profile none");
    }
    return profile;
  }
  std::vector<std::string> names = shipped_profiles();
  // Its own profile first.
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return name == gpu.name; });
  for (const std::string& name : names) {
    if (!relative(name)) continue;
    return std::make_shared<CalibrationProfile>(
        load_profile(data_directory() + "/calibrations/" + name + ".json"));
  }
  return nullptr;
}

CalibrationContext calibration_context(const CalibrationProfile* profile, const std::string& gpu) {
  if (profile == nullptr) return {};
  return {.fitted_on = profile->gpu,
          .fingerprint = profile->fingerprint,
          .provenance = std::string(
              to_string(profile->gpu == gpu ? Provenance::fitted : Provenance::transferred))};
}

std::string profile_text(const CalibrationProfile* profile, const std::string& gpu) {
  if (profile == nullptr) return gpu + ": none, every constant is assumed from the specification";
  std::string text = profile->gpu == gpu
                         ? gpu + ": fitted"
                         : gpu + ": transferred from " + profile->gpu + " by specification";
  text += ", " + format_count(profile->rows) + " rows";
  if (!profile->source.empty()) text += ", " + profile->source;
  return text;
}

}  // namespace smtwin
