// SPDX-License-Identifier: Apache-2.0
#include "model/fitted_kernels.hpp"

#include <algorithm>

#include "model/families/own_kernels/own_kernel_model.hpp"
#include "model/regime_bound.hpp"
#include "model/timing/timing_gpu.hpp"
#include "model/timing/transfer.hpp"
#include "model/timing/uncertainty.hpp"

namespace smtwin {
namespace {

// Standard deviation, in log, of constants carried to another architecture: assumed. Rates and
// latencies follow its specification, code and pipes do not.
constexpr double kArchitectureTransferSd = 0.4;

// Of the uncalibrated bounds that are work of an SM, the largest names the family's.
Bound work_bound(const KernelTime& time) {
  constexpr Bound kWork[] = {Bound::tensor, Bound::fp32, Bound::sfu, Bound::shared_memory,
                             Bound::issue};
  for (const BoundTime& b : time.bounds) {  // slowest first
    if (std::find(std::begin(kWork), std::end(kWork), b.bound) != std::end(kWork)) return b.bound;
  }
  return Bound::issue;
}

const char* equation_of(Regime regime) {
  switch (regime) {
    case Regime::launch:
      return "launch, what CTAs do before and after their loops, kernels beside this one";
    case Regime::latency:
      return "rounds x steps x the chain of one CTA";
    case Regime::l2:
      return "bytes through the L2 / fitted rate";
    case Regime::dram:
      return "bytes of DRAM / fitted rate";
    case Regime::compute:
      return "CTAs of the busiest SM x steps x busy units of the SM";
    case Regime::link:
      break;
  }
  return "";
}

}  // namespace

bool FittedKernels::any_in(const CalibrationProfile& profile) {
  return std::any_of(profile.families.begin(), profile.families.end(),
                     [](const FamilyCalibration& f) { return f.identity.table == "run"; });
}

std::optional<FittedKernelTime> FittedKernels::time(const GpuSpec& gpu,
                                                    const KernelDescriptor& descriptor,
                                                    const Parameters& parameters,
                                                    const KernelInstance& kernel,
                                                    L2State l2) const {
  const OwnKernelFamily family = own_kernel_family(descriptor, parameters);
  if (family.kernel.empty() || !kernel.impossible.empty() || kernel.grid.ctas() <= 0 ||
      resident_ctas(gpu.sm, kernel.resources).ctas_per_sm <= 0 ||
      refused_outside_sm(gpu.sm, kernel.resources)) {
    return std::nullopt;
  }
  const FamilyCalibration* calibration = profile_->find(family.identity());
  if (calibration == nullptr) return std::nullopt;
  const std::unique_ptr<OwnKernelModel> model = own_kernel_model(family, gpu);
  const TimingGpu here = timing_gpu(gpu), there = timing_gpu(fitted_on_);
  const std::vector<double> values =
      transferred_values(*calibration, own_kernel_model(family, fitted_on_)->constants(), there,
                         model->constants(), here);
  const bool same = same_specification(here, there);
  double transfer_sd = 0;
  if (!same) {
    transfer_sd = are_relatives(gpu.compute_capability, fitted_on_.compute_capability)
                      ? kTransferSd
                      : kArchitectureTransferSd;
  }
  const std::unique_ptr<const OwnKernelPoint> point = model->point(kernel, parameters, l2);
  FittedKernelTime time;
  time.parts = point->parts(values);
  time.seconds = time.parts.seconds;
  time.loop = point->loop(values);
  const double variance = variance_from_constants(
      log_sensitivities([&](std::span<const double> v) { return point->seconds(v); }, values),
      calibration->covariance);
  time.interval =
      interval_of(time.seconds, time.parts.regime(), *calibration, variance, transfer_sd);
  time.family = family.identity().key();
  time.fitted_on = fitted_on_.name;
  time.provenance = same ? Provenance::fitted : Provenance::transferred;
  return time;
}

void use_family(KernelTime& time, const FittedKernelTime& fitted) {
  const Bound work = work_bound(time);
  time.seconds = fitted.seconds;
  time.interval = fitted.interval;
  time.provenance = fitted.provenance;
  time.binding = bound_of(fitted.parts.regime(), work);
  time.bounds.clear();
  for (std::size_t r = 0; r < kRegimeCount; ++r) {
    const auto regime = static_cast<Regime>(r);
    if (fitted.parts.regime_s[r] <= 0) continue;
    time.bounds.push_back({.bound = bound_of(regime, work),
                           .seconds = fitted.parts.regime_s[r],
                           .equation = equation_of(regime),
                           .provenance = fitted.provenance});
  }
  std::stable_sort(time.bounds.begin(), time.bounds.end(),
                   [](const BoundTime& a, const BoundTime& b) { return a.seconds > b.seconds; });
  time.assumptions = {"constants of family " + fitted.family + ", fitted on " + fitted.fitted_on};
}

}  // namespace smtwin
