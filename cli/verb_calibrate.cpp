// SPDX-License-Identifier: Apache-2.0
// smtwin calibrate: the constants of the kernel-time families fitted to measured rows or to a run
// of our own kernels, written as a profile that the other verbs load with --profile.
#include <CLI/CLI.hpp>

#include <limits>
#include <memory>
#include <set>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "cli/calibrate_run.hpp"
#include "cli/measurements_answer.hpp"
#include "cli/profile_choice.hpp"
#include "validate/fit/profile_io.hpp"

namespace smtwin {
namespace {

struct Flags {
  std::vector<std::string> measurements;
  std::string show;
  std::string source;
  CalibrateOptions options;
  std::uint64_t max_points = 0;
  std::int64_t seed = 1;
  bool ablate = false;
  CalibrateRunFlags runs;
};

// The one GPU whose rows are there.
std::string only_gpu(const std::vector<FamilyRows>& families) {
  std::set<std::string> gpus;
  for (const FamilyRows& f : families) {
    if (f.problem) gpus.insert(f.gpu);
  }
  if (gpus.size() == 1) return *gpus.begin();
  if (gpus.empty()) {
    throw DataError("--measurements: no row of a known GPU and a modelled kernel" +
                    (families.empty() ? std::string() : ": " + families.front().why));
  }
  throw UsageError("--measurements: rows of several GPUs; pick one with --gpu " +
                   join({gpus.begin(), gpus.end()}, " or --gpu "));
}

Answer show(const Flags& flags, const VerbInput& input) {
  if (flags.ablate || flags.max_points > 0 || !input.gpu.empty()) {
    throw UsageError("--show prints a profile as it is; leave the other flags out");
  }
  const auto result = std::make_shared<CalibrateAnswer>();
  result->profile = find_profile(flags.show);
  result->shown = true;
  ReportContext context;
  context.gpu = result->profile.gpu;
  context.calibration =
      calibration_context(choose_profile(flags.show, find_gpu(result->profile.gpu)));
  return {.context = context,
          .exit_code = 0,
          .table = [result](std::ostream& out) { print_calibration(out, *result); },
          .json = [result] { return calibration_json(*result); },
          .csv = [result](std::ostream& out) { write_calibration_csv(out, *result); },
          .file = [result] { return write_profile(result->profile); }};
}

Answer answer(const Flags& flags, const VerbInput& input) {
  if (!input.settings.empty()) throw UsageError("--set changes nothing that calibrate does");
  const bool device = flags.runs.device.device >= 0;
  const int sources =
      !flags.show.empty() + !flags.measurements.empty() + !flags.runs.files.empty() + device;
  if (sources != 1) {
    throw UsageError(
        "calibrate needs one of --measurements DIR|FILES, tables of measured kernel times, --run "
        "FILES, runs of our kernels, --device 0, such a run now, and --show GPU|FILE, a profile to "
        "look at");
  }
  check_device_flags(flags.runs.device);
  const bool run = device || !flags.runs.files.empty();
  if (!run && (!flags.runs.base.empty() || flags.runs.force || !flags.runs.save_run.empty())) {
    throw UsageError("--base, --force and --save-run go with --device and --run");
  }
  if (!flags.show.empty()) return show(flags, input);
  CalibrateOptions options = flags.options;
  options.max_points = static_cast<int>(flags.max_points);
  options.seed = static_cast<std::uint64_t>(flags.seed);
  if (run) {
    if (flags.ablate) throw UsageError("--ablate: with --measurements only");
    return answer_calibrate_runs(flags.runs, options, flags.source, input);
  }
  if (flags.ablate && input.format == Format::csv) {
    throw UsageError("--ablate: use --format table or json");
  }
  const std::shared_ptr<LoadedMeasurements> rows =
      load_measurements(flags.measurements, input.gpu, input.in);
  const auto result = std::make_shared<CalibrateAnswer>();
  ReportContext context;
  context.gpu = only_gpu(rows->families);
  result->profile = calibrate(rows->families, flags.source, options);
  for (const FamilyRows& f : rows->families) {
    if (f.problem && f.rows.size() >= kRowsForFit) continue;
    result->not_modelled.push_back(
        {f.gpu + "/" + f.identity.key(), f.rows.size(),
         f.problem ? "a fit needs " + std::to_string(kRowsForFit) : f.why});
  }
  if (flags.ablate) {
    for (const FamilyRows& f : rows->families) {
      const FamilyCalibration* fitted = result->profile.find(f.identity);
      if (fitted == nullptr) continue;
      for (Ablation& a : ablate(f, *fitted, options)) result->ablations.push_back(std::move(a));
    }
  }
  return {.context = context,
          .exit_code = 0,
          .table = [result](std::ostream& out) { print_calibration(out, *result); },
          .json = [result] { return calibration_json(*result); },
          .csv = [result](std::ostream& out) { write_calibration_csv(out, *result); },
          .file =
              [result] {
                result->written = true;
                return write_profile(result->profile);
              }};
}

}  // namespace

Verb calibrate_verb() {
  const auto flags = std::make_shared<Flags>();
  return {.name = "calibrate",
          .summary = "constants of the kernel-time model fitted to measured rows or to this GPU",
          .example = "calibrate --measurements tests/golden/calibrate/made_up_rows.csv",
          .takes_gpu = true,
          .takes_kernel_parameters = false,
          .add_flags =
              [flags](CLI::App& app) {
                app.add_option("--measurements", flags->measurements,
                               "CSV tables as AIConfigurator writes them, folders of them; - for "
                               "stdin")
                    ->expected(1, -1);
                app.add_option("--show", flags->show,
                               "print a profile: the shipped one of a GPU, or a file");
                app.add_option("--max-points", flags->max_points,
                               "rows that each family is fitted on; default 1200")
                    ->check(CLI::Range(1, 1000000));
                app.add_option("--seed", flags->seed,
                               "of the draw of those rows and of the parts left out; default 1")
                    ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
                app.add_option("--source", flags->source,
                               "where the rows come from, in words, kept in the profile");
                add_calibrate_run_flags(app, flags->runs);
                app.add_flag("--ablate", flags->ablate,
                             "also refit each family without each of its effects");
                app.add_option("--threads", flags->options.threads,
                               "default: as many as the machine runs at once; the result is the "
                               "same")
                    ->check(CLI::Range(1, 1024));
              },
          .answer = [flags](const VerbInput& input) { return answer(*flags, input); }};
}

}  // namespace smtwin
