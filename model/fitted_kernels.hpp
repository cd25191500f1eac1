// SPDX-License-Identifier: Apache-2.0
// Times of kernels that a family of a calibration profile covers (our own kernels, and the Triton
// sparse decode): the family's equations with the fitted constants, the interval, and what decides.
// Kernels without a family keep the uncalibrated model of kernel_time.hpp. On another GPU, or with
// changed fields, constants follow the specification.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "arch/gpu_spec.hpp"
#include "kernels/descriptor.hpp"
#include "model/kernel_time.hpp"
#include "model/timing/loop_time.hpp"
#include "model/timing/profile.hpp"
#include "model/timing/time_problem.hpp"

namespace smtwin {

struct FittedKernelTime {
  double seconds = 0;
  TimeInterval interval;  // 90 %
  TimeParts parts;        // what each regime alone would take
  LoopTime loop;
  std::string family;  // "run/sparse_mla_decode"
  std::string fitted_on;
  Provenance provenance = Provenance::fitted;
};

class FittedKernels {
 public:
  // `fitted_on`: the GPU of the profile as its file says.
  FittedKernels(std::shared_ptr<const CalibrationProfile> profile, GpuSpec fitted_on)
      : profile_(std::move(profile)), fitted_on_(std::move(fitted_on)) {}

  // Nothing where no family of the profile covers the kernel or it does not run. `parameters` are
  // complete, `kernel` their instance on `gpu`. DataError when the profile was written for other
  // equations or the GPU lacks a number.
  std::optional<FittedKernelTime> time(const GpuSpec& gpu, const KernelDescriptor& descriptor,
                                       const Parameters& parameters, const KernelInstance& kernel,
                                       L2State l2) const;

  // Whether the profile has families of kernels at all.
  static bool any_in(const CalibrationProfile& profile);

 private:
  std::shared_ptr<const CalibrationProfile> profile_;
  GpuSpec fitted_on_;
};

// A time of the uncalibrated model with the family's seconds, interval and bounds in place of its
// own; waves, residency and bytes stay.
void use_family(KernelTime& time, const FittedKernelTime& fitted);

}  // namespace smtwin
