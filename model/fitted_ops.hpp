// SPDX-License-Identifier: Apache-2.0
// Times of the ops of a decode step from a calibration profile: which family stands for an op
// (serving_kernels.hpp), its equations with the fitted constants on cold weights and cache, and
// the 90 % interval. An op that no family covers has no fitted time; the caller then uses the
// uncalibrated kernel model (kernel_time.hpp), whose interval is that of kernels never measured.
//
// Some families time several ops at once: an expert layer with routing, activation and combine;
// attention with the kernel that combines its splits. StepOp::part_of names the op that carries
// the time of such a group.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "model/families/gemm/gemm_implementation.hpp"
#include "model/step_ops.hpp"
#include "model/timing/profile.hpp"
#include "model/timing/timing_gpu.hpp"
#include "model/timing/transfer.hpp"

namespace smtwin {

struct FittedTime {
  double seconds = 0;
  TimeInterval interval;
  double dram_bytes = 0;  // that must come from DRAM meanwhile
  TimeParts parts;        // what each regime alone would take, and what the library runs
  std::string family;     // "gemm_perf/torch_flow/bfloat16"
  const FamilyCalibration* calibration = nullptr;  // of the profile
  std::vector<double> values;                      // of its constants on this GPU
  bool spread_modelled = false;                    // unequal contexts were taken into account
  Regime regime() const { return parts.regime(); }
};

class FittedOps {
 public:
  // `fitted_on`: the GPU of the profile as its file says; constants are transferred where `gpu` is
  // another one or has changed fields. DataError when one lacks a number that the families need.
  FittedOps(const GpuSpec& gpu, const GpuSpec& fitted_on,
            std::shared_ptr<const CalibrationProfile> profile, ServingFramework framework);

  std::optional<FittedTime> time(const StepOp& op) const;

  const CalibrationProfile& profile() const { return *profile_; }
  ServingFramework framework() const { return framework_; }
  double dram_rate() const { return dram_rate_; }
  bool transferred() const { return transferred_; }
  // Errors to expect of kernels without a family.
  UnmeasuredErrors unmeasured() const {
    return profile_->unmeasured.widened(transferred_ ? kTransferSd : 0);
  }

 private:
  using Specs = std::vector<ConstantSpec>;
  using PartsAt = std::function<TimeParts(std::span<const double>)>;
  FittedTime finish(const FamilyCalibration& family, const Specs& source, const Specs& target,
                    const PartsAt& parts_at) const;

  std::optional<FittedTime> gemm(const StepOp& op) const;
  std::optional<FittedTime> attention(const StepOp& op) const;
  std::optional<FittedTime> latent_attention(const StepOp& op) const;
  std::optional<FittedTime> experts(const StepOp& op) const;
  std::optional<FittedTime> collective(const StepOp& op) const;

  TimingGpu gpu_;
  TimingGpu fitted_on_;
  std::shared_ptr<const CalibrationProfile> profile_;
  ServingFramework framework_;
  bool transferred_ = false;
  double dram_rate_ = 0;
};

}  // namespace smtwin
