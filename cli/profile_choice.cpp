// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_choice.hpp"

#include <algorithm>
#include <filesystem>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "model/fitted_kernels.hpp"
#include "model/timing/timing_gpu.hpp"
#include "model/timing/transfer.hpp"
#include "validate/fit/profile_io.hpp"

namespace smtwin {
namespace {

CalibrationProfile load_shipped(const std::string& gpu) {
  return load_profile(data_directory() + "/calibrations/" + gpu + ".json");
}

ProfileChoice chosen(CalibrationProfile profile, const GpuSpec& gpu) {
  const bool same = profile.gpu == gpu.name &&
                    same_specification(timing_gpu(find_gpu(profile.gpu)), timing_gpu(gpu));
  return {.profile = std::make_shared<CalibrationProfile>(std::move(profile)),
          .transferred = !same};
}

}  // namespace

CalibrationProfile find_profile(const std::string& name_or_file) {
  const std::vector<std::string> shipped = shipped_profiles();
  if (std::filesystem::exists(name_or_file)) return load_profile(name_or_file);
  const std::string gpu = find_gpu(name_or_file).name;
  if (std::find(shipped.begin(), shipped.end(), gpu) == shipped.end()) {
    throw UsageError("no profile ships for " + gpu + "; give a file, or " +
                     (shipped.empty() ? "fit one with smtwin calibrate" : join(shipped, " or ")));
  }
  return load_shipped(gpu);
}

ProfileChoice choose_profile(const std::string& flag, const GpuSpec& gpu) {
  if (flag == "none") return {};
  if (!flag.empty()) {
    CalibrationProfile profile = find_profile(flag);
    if (!are_relatives(find_gpu(profile.gpu).compute_capability, gpu.compute_capability)) {
      throw UsageError("--profile " + flag + ": fitted on " + profile.gpu + ", no relative of " +
                       gpu.name + "; give a profile of that GPU, or --profile none");
    }
    return chosen(std::move(profile), gpu);
  }
  std::vector<std::string> names = shipped_profiles();
  // Its own profile first.
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return name == gpu.name; });
  for (const std::string& name : names) {
    if (!are_relatives(find_gpu(name).compute_capability, gpu.compute_capability)) continue;
    return chosen(load_shipped(name), gpu);
  }
  return {};
}

std::shared_ptr<const CalibrationProfile> kernel_profile(const std::string& flag,
                                                         const ProfileChoice& chosen) {
  if (chosen.profile && FittedKernels::any_in(*chosen.profile)) return chosen.profile;
  if (!flag.empty()) return nullptr;
  for (const std::string& name : shipped_profiles()) {
    CalibrationProfile profile = load_shipped(name);
    if (FittedKernels::any_in(profile)) {
      return std::make_shared<const CalibrationProfile>(std::move(profile));
    }
  }
  return nullptr;
}

CalibrationContext calibration_context(const ProfileChoice& choice) {
  if (!choice.profile) return {};
  return {.fitted_on = choice.profile->gpu,
          .fingerprint = choice.profile->fingerprint,
          .provenance = std::string(
              to_string(choice.transferred ? Provenance::transferred : Provenance::fitted))};
}

std::string profile_text(const ProfileChoice& choice, const std::string& gpu) {
  if (!choice.profile) return gpu + ": none, every constant is assumed from the specification";
  const CalibrationProfile& p = *choice.profile;
  std::string text = gpu + ": fitted";
  if (choice.transferred) {
    text = gpu + ": transferred from " +
           (p.gpu == gpu ? "its own specification, of which fields were changed"
                         : p.gpu + " by specification");
  }
  text += ", " + format_count(p.rows) + " rows";
  if (!p.source.empty()) text += ", " + p.source;
  return text;
}

}  // namespace smtwin
