// SPDX-License-Identifier: Apache-2.0
#include "cli/kernel_run.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "cli/flag_values.hpp"
#include "cli/next_steps.hpp"
#include "cli/profile_choice.hpp"
#include "cli/report.hpp"
#include "model/timing/transfer.hpp"

namespace smtwin {

KernelRun run_kernel(const KernelDescriptor& kernel, const Parameters& given, const GpuSpec& gpu,
                     const KernelOptions& options) {
  KernelRun run;
  run.parameters = launch_parameters(kernel, given, gpu);
  run.instance = kernel.instantiate(run.parameters, gpu);
  run.residency = residency(gpu, run.instance.resources);
  try {
    run.time = kernel_time(gpu, run.instance, options);
    if (options.families && run.time->runs) {
      run.fitted = options.families->time(gpu, kernel, run.parameters, run.instance, options.l2);
      if (run.fitted) use_family(*run.time, *run.fitted);
    }
  } catch (const DataError& e) {
    // A rate that nobody knows takes the time away, not the bytes and CTAs: say so beside them.
    run.no_time_because = e.what();
  }
  return run;
}

std::string describe_fit(const KernelRun& run) {
  if (!run.instance.impossible.empty()) return "no, impossible";
  switch (run.residency.verdict) {
    case LaunchVerdict::launches:
      return run.residency.ctas_per_sm > 0 ? "yes" : "no";
    case LaunchVerdict::shared_exceeds_cta_limit:
    case LaunchVerdict::shared_needs_opt_in:
      return "no, " + format_bytes(run.residency.shared_bytes_over_limit) + " over";
    case LaunchVerdict::registers_exceed_thread_limit:
    case LaunchVerdict::registers_exceed_cta_limit:
      return "no, registers";
    case LaunchVerdict::threads_exceed_cta_limit:
    case LaunchVerdict::threads_exceed_function_limit:
      return "no, threads";
    case LaunchVerdict::barriers_exceed_sm_limit:
      return "no, barriers";
    case LaunchVerdict::virtual_resources_exceed_sm_limit:
      return "no, virtual resources";
    case LaunchVerdict::cluster_exceeds_limit:
      return "no, cluster size";
  }
  return "no";
}

std::string describe_refusal(const KernelRun& run, const GpuSpec& gpu) {
  if (!run.instance.impossible.empty()) return run.instance.impossible;
  return describe_refusal(gpu, run.instance.resources, run.residency);
}

std::string label(Bound bound) {
  if (bound == Bound::l2) return "L2";
  if (bound == Bound::dram) return "DRAM";
  if (bound == Bound::fp32) return "FP32";
  if (bound == Bound::sfu) return "SFU";
  std::string text(to_string(bound));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

void add_kernel_flags(CLI::App& app, KernelFlags& flags) {
  app.add_option("--kernel", flags.kernel,
                 "kernel (smtwin kernels); its parameters are flags as well");
  app.add_option("--l2", flags.l2, "cold (deployment) or warm (benchmark replay)");
  app.add_option("--launch", flags.launch, "graph (replayed CUDA graph) or stream");
  app.add_option("--profile", flags.profile, kProfileHelp);
}

KernelOptions time_options(const KernelFlags& flags) {
  KernelOptions options;
  if (flags.l2 != "cold" && flags.l2 != "warm") {
    throw UsageError("--l2 " + quoted(flags.l2) + ": use cold or warm");
  }
  if (flags.launch != "graph" && flags.launch != "stream") {
    throw UsageError("--launch " + quoted(flags.launch) + ": use graph or stream");
  }
  options.l2 = flags.l2 == "warm" ? L2State::warm : L2State::cold;
  options.launch = flags.launch == "stream" ? LaunchMode::stream : LaunchMode::graph;
  return options;
}

void use_profile(const std::string& profile, GpuChoice& gpu, KernelOptions& options) {
  const ProfileChoice chosen = choose_profile(profile, gpu.gpu);
  options.unmeasured.reset();
  if (chosen.profile) {
    options.unmeasured = kernel_model_errors(
        chosen.profile->unmeasured.widened(chosen.transferred ? kTransferSd : 0));
  }
  gpu.context.calibration = calibration_context(chosen);
  const std::shared_ptr<const CalibrationProfile> families = kernel_profile(profile, chosen);
  options.families =
      families ? std::make_shared<FittedKernels>(families, find_gpu(families->gpu)) : nullptr;
}

std::string describe_interval(const KernelRun& run) {
  const KernelTime& time = *run.time;
  if (run.fitted) {
    return "90 % interval " + format_time(time.interval->low_s) + " to " +
           format_time(time.interval->high_s) + " of family " + run.fitted->family + ", " +
           std::string(to_string(run.fitted->provenance)) + " from " + run.fitted->fitted_on;
  }
  if (!time.interval) return "no profile, so without an interval";
  return "90 % interval of kernels that nobody measured " + format_time(time.interval->low_s) +
         " to " + format_time(time.interval->high_s);
}

std::string describe_intervals(const KernelOptions& options, const KernelRun& first) {
  if (first.fitted) {
    const double seconds = first.time->seconds;
    return "90 % interval of the first " +
           format_number(first.fitted->interval.low_s / seconds, 2) + " to " +
           format_number(first.fitted->interval.high_s / seconds, 2) + " times, family " +
           first.fitted->family + ", " + std::string(to_string(first.fitted->provenance)) +
           " from " + first.fitted->fitted_on;
  }
  if (!options.unmeasured) return "no profile, so without intervals";
  const TimeInterval factor = options.unmeasured->around(1);
  return "90 % intervals of kernels that nobody measured " + format_number(factor.low_s, 2) +
         " to " + format_number(factor.high_s, 2) + " times each";
}

std::string describe(const KernelTimeOptions& options) {
  return std::string(options.l2 == L2State::warm ? "warm L2" : "cold L2") +
         (options.launch == LaunchMode::stream ? ", launched on a stream"
                                               : ", replayed in a CUDA graph");
}

}  // namespace smtwin
