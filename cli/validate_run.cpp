// SPDX-License-Identifier: Apache-2.0
#include "cli/validate_run.hpp"

#include <CLI/CLI.hpp>

#include <memory>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "cli/profile_choice.hpp"
#include "cli/run_answer.hpp"
#include "validate/runs/run_calibration.hpp"

namespace smtwin {
namespace {

void check_flags(const RunFlags& flags, const MeasurementFlags& shared, const VerbInput& input) {
  if (!input.settings.empty()) {
    throw UsageError("--set: kernels ran on a GPU as it is; leave it out");
  }
  if (shared.audit) throw UsageError("--audit: of --measurements only");
  if (input.format == Format::csv && shared.worst > 0) {
    throw UsageError("--worst: use --format table or json; csv has every reading");
  }
  if (!flags.compare.empty() && flags.device.device >= 0) {
    throw UsageError("--compare: of --run only; give --device an output file and compare that");
  }
  if (flags.probes && (flags.device.device >= 0 || !flags.compare.empty() || shared.worst > 0)) {
    throw UsageError("--probes shows what a stored --run read; leave the other flags out");
  }
  if (flags.compare.empty() && !flags.where.empty()) {
    throw UsageError("--where chooses pairs of --compare; give that too");
  }
  if (!flags.compare.empty() && shared.worst > 0) {
    throw UsageError("--worst: leave it out with --compare, which lists every pair");
  }
  if (!(flags.calibrate_share >= 0 && flags.calibrate_share < 1)) {
    throw UsageError("--calibrate-share: a share of the shapes, from 0 to less than 1");
  }
  if (flags.calibrate_share > 0 && !shared.profile.empty()) {
    throw UsageError("--calibrate-share fits its own constants; leave --profile out");
  }
}

RunTolerance tolerance_of(const MeasurementFlags& shared) {
  for (const double percent : {shared.max_median, shared.max_p90}) {
    if (!(percent >= 0 && percent <= 1000)) {
      throw UsageError("--max-median, --max-p90: percent from 0 to 1000");
    }
  }
  RunTolerance tolerance;
  if (shared.max_median > 0) tolerance.median_error = shared.max_median / 100;
  if (shared.max_p90 > 0) tolerance.p90_error = shared.max_p90 / 100;
  return tolerance;
}

// The profile's constants, or constants fitted here on a share of the shapes.
void score(RunAnswer& answer, const RunFlags& flags, const MeasurementFlags& shared,
           ReportContext& context) {
  // What was just measured must not be lost because the catalog lacks the GPU.
  if (answer.run.gpu.name.empty() && flags.device.device >= 0) return;
  const GpuSpec gpu = gpu_of_run(answer.run);
  context.gpu = gpu.name;
  if (flags.calibrate_share > 0) {
    answer.calibrate_share = flags.calibrate_share;
    const HoldOutOptions options{.calibrate_share = flags.calibrate_share,
                                 .seed = static_cast<std::uint64_t>(flags.device.seed),
                                 .threads = shared.threads};
    answer.profile = gpu.name + ": fitted here on " + format_percent(flags.calibrate_share) +
                     " of the shapes; only the others are scored";
    answer.report =
        report_run(answer.run, [&](const RunRows& rows) { return score_held_out(rows, options); });
    return;
  }
  const ProfileChoice choice = choose_profile(shared.profile, gpu);
  const bool own = choice.profile && choice.profile->gpu == gpu.name;
  context.calibration = own ? calibration_context(choice) : CalibrationContext{};
  answer.profile = profile_text(own ? choice : ProfileChoice{}, gpu.name);
  answer.report = report_run(answer.run, [&](const RunRows& rows) {
    return score_run(rows, own ? choice.profile.get() : nullptr);
  });
}

}  // namespace

void add_run_flags(CLI::App& app, RunFlags& flags) {
  add_device_flags(app, flags.device);
  app.add_option("--run", flags.files,
                 "score stored runs of one GPU, ours and its peers', without a GPU; - for stdin")
      ->expected(1, -1);
  app.add_option("--calibrate-share", flags.calibrate_share,
                 "of a run's shapes: fit constants on these and score the others, 0.25 for a "
                 "quarter");
  app.add_flag("--probes", flags.probes,
               "instead of predictions: what the probes of a run read (memories, pipes, launches)");
  app.add_option("--compare", flags.compare,
                 "instead of the whole run: pairs of readings that differ in this parameter alone, "
                 "as in num_warps=4,8; exit 1 when a predicted sign is wrong");
  app.add_option("--where", flags.where,
                 "of --compare: only readings with this shape or configuration, as in heads=64")
      ->expected(1, -1);
  app.add_option("--seed", flags.device.seed,
                 "of random inputs with --device, of the draw of --calibrate-share; default 1")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 62));
}

Answer answer_runs(const RunFlags& flags, const MeasurementFlags& shared, const VerbInput& input) {
  check_flags(flags, shared, input);
  const auto answer = std::make_shared<RunAnswer>();
  answer->tolerance = tolerance_of(shared);
  answer->worst = shared.worst;
  std::function<std::string()> file;
  std::function<void()> after_file;
  int device_exit = 0;
  if (flags.device.device >= 0) {
    DeviceRun run = run_on_device(flags.device, input);
    device_exit = exit_code_of(run);
    answer->stopped = run.result.stopped;
    answer->checked_results = static_cast<std::size_t>(run.result.checked_results);
    answer->wrong_results = static_cast<std::size_t>(run.result.wrong_results);
    answer->run = std::move(run.result.run);
    file = [answer] { return write_run(answer->run); };
    if (run.result.complete()) after_file = run.forget;
  } else {
    answer->run = load_runs(flags.files, input.in);
    answer->files = flags.files;
  }
  if (!input.gpu.empty() && find_gpu(input.gpu).name != answer->run.gpu.name) {
    throw UsageError(
        "--gpu " + input.gpu + ": the run was taken on " +
        (answer->run.gpu.name.empty() ? answer->run.gpu.reported : answer->run.gpu.name));
  }
  ReportContext context;
  if (flags.probes) {
    if (answer->run.probes.empty()) {
      throw UsageError("--probes: the run has no probe readings; one of --device has them");
    }
    context.gpu = answer->run.gpu.name;
    return {.context = context,
            .exit_code = 0,
            .table = [answer](std::ostream& out) { print_run_probes(out, *answer); },
            .json = [answer] { return run_probes_json(*answer); },
            .csv = [answer](std::ostream& out) { write_run_probes_csv(out, *answer); }};
  }
  score(*answer, flags, shared, context);
  if (!flags.compare.empty()) {
    if (answer->report == nullptr) gpu_of_run(answer->run);  // says why there is no prediction
    answer->compare = parse_parameter_change(flags.compare);
    Parameters where;
    for (const std::string& text : flags.where) where.insert(parse_parameter_value(text));
    answer->pairs = compare_readings(*answer->report, *answer->compare, where);
    return {.context = context,
            .exit_code = answer->wrong_signs() > 0 ? 1 : 0,
            .table = [answer](std::ostream& out) { print_run_comparison(out, *answer); },
            .json = [answer] { return run_comparison_json(*answer); },
            .csv = [answer](std::ostream& out) { write_run_comparison_csv(out, *answer); }};
  }
  const int exit_code = device_exit != 0 ? device_exit : answer->outside().empty() ? 0 : 1;
  return {.context = context,
          .exit_code = exit_code,
          .table = [answer](std::ostream& out) { print_run(out, *answer); },
          .json = [answer] { return run_json(*answer); },
          .csv = [answer](std::ostream& out) { write_run_csv(out, *answer); },
          .file = file,
          .after_file = after_file};
}

}  // namespace smtwin
