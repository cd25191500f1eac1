// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/run_calibration.hpp"

#include <algorithm>

#include "arch/error.hpp"
#include "validate/runs/run_probes.hpp"

namespace smtwin {

CalibrationProfile calibrate_run(const RunFile& run, const RunRows& rows,
                                 const CalibrateOptions& options) {
  const GpuSpec gpu = gpu_of_run(run);
  CalibrateOptions fit = options;
  fit.noise = kRunNoise;
  CalibrationProfile profile =
      calibrate(rows.families, "run of " + run.date + " on " + run.gpu.reported, fit);
  profile.gpu = gpu.name;
  const std::vector<FittedConstant> probes =
      probe_constants(probed_gpu(run, gpu), assumed_probes(gpu));
  profile.gpu_constants.insert(profile.gpu_constants.end(), probes.begin(), probes.end());
  return profile;
}

CalibrationProfile with_run_families(CalibrationProfile base, const CalibrationProfile& run) {
  if (base.gpu != run.gpu) {
    throw DataError("profile: families of a run on " + run.gpu + " cannot join a profile of " +
                    base.gpu + "; give a profile of " + run.gpu);
  }
  for (const FamilyCalibration& family : run.families) {
    std::erase_if(base.families,
                  [&](const FamilyCalibration& f) { return f.identity == family.identity; });
    base.families.push_back(family);
  }
  for (const FittedConstant& constant : run.gpu_constants) {
    std::erase_if(base.gpu_constants,
                  [&](const FittedConstant& c) { return c.name == constant.name; });
    base.gpu_constants.push_back(constant);
  }
  if (base.source.find(run.source) == std::string::npos) base.source += "; " + run.source;
  return base;
}

}  // namespace smtwin
