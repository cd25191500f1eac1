// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_run.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <optional>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "cli/measurements_answer.hpp"
#include "cli/output_file.hpp"
#include "cli/profile_choice.hpp"
#include "validate/fit/profile_io.hpp"
#include "validate/runs/profile_replacement.hpp"
#include "validate/runs/run_calibration.hpp"
#include "validate/runs/run_rows.hpp"

namespace smtwin {
namespace {

// The profile that -o would replace. Empty: there is none, or --force does not care what it is.
std::optional<CalibrationProfile> profile_at(const std::string& path, bool force) {
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) return std::nullopt;
  try {
    return load_profile(path);
  } catch (const DataError& unreadable) {
    if (force) return std::nullopt;
    throw DataError(std::string(unreadable.what()) +
                    "; it is no profile, --force replaces it all the same");
  }
}

void refuse_losses(const CalibrationProfile& fresh, const CalibrationProfile& old,
                   const std::string& path) {
  const std::vector<std::string> worse = losses(fresh, old);
  if (worse.empty()) return;
  throw DataError(path + ": the profile there is better: " + join(worse, "; ") +
                  "; --force replaces it, another -o keeps both");
}

// What the families that nobody measured just now come from: --base, else the file at -o.
CalibrationProfile merged(const CalibrationProfile& fresh, const CalibrateRunFlags& flags,
                          const std::string& output) {
  const std::optional<CalibrationProfile> old = profile_at(output, flags.force);
  if (old && !flags.force) refuse_losses(fresh, *old, output);
  if (!flags.base.empty()) return with_run_families(find_profile(flags.base), fresh);
  if (old && old->gpu == fresh.gpu) return with_run_families(*old, fresh);
  return fresh;
}

}  // namespace

void add_calibrate_run_flags(CLI::App& app, CalibrateRunFlags& flags) {
  add_device_flags(app, flags.device);
  app.add_option("--run", flags.files,
                 "fit to stored runs of one GPU (smtwin validate --device 0 -o run.json); - for "
                 "stdin")
      ->expected(1, -1);
  app.add_option("--base", flags.base,
                 "profile that keeps the families a run does not cover: a GPU's shipped one or a "
                 "file; default the file at -o");
  app.add_option("--save-run", flags.save_run, "with --device: keep the readings as a run file");
  app.add_flag("--force", flags.force,
               "replace the profile at -o even where it predicts unseen shapes better");
}

Answer answer_calibrate_runs(const CalibrateRunFlags& flags, const CalibrateOptions& options,
                             const std::string& source, const VerbInput& input) {
  const bool device = flags.device.device >= 0;
  if (!device && !flags.save_run.empty()) {
    throw UsageError("--save-run: goes with --device; --run has its readings in files");
  }
  if (!flags.base.empty()) find_profile(flags.base);  // before minutes of measuring
  if (!flags.force) profile_at(input.output, false);
  RunFile run;
  int exit_code = 0;
  std::function<void()> forget;
  if (device) {
    DeviceFlags with_seed = flags.device;
    with_seed.seed = static_cast<std::int64_t>(options.seed);
    DeviceRun measured = run_on_device(with_seed, input);
    exit_code = exit_code_of(measured);
    run = std::move(measured.result.run);
    if (measured.result.complete()) forget = measured.forget;
    if (!flags.save_run.empty()) write_file_atomically(flags.save_run, write_run(run));
  } else {
    run = load_runs(flags.files, input.in);
  }
  if (!input.gpu.empty() && find_gpu(input.gpu).name != run.gpu.name) {
    throw UsageError("--gpu " + input.gpu + ": the run was taken on " +
                     (run.gpu.name.empty() ? run.gpu.reported : run.gpu.name));
  }
  CalibrationProfile fresh = calibrate_run(run, run_rows(run, gpu_of_run(run)), options);
  if (fresh.families.empty()) {
    throw DataError("no kernel of the run has the " + std::to_string(kRowsForFit) +
                    " readings that a fit needs");
  }
  if (!source.empty()) fresh.source = source;
  const auto result = std::make_shared<CalibrateAnswer>();
  result->profile = merged(fresh, flags, input.output);
  ReportContext context;
  context.gpu = run.gpu.name;
  return {.context = context,
          .exit_code = exit_code,
          .table = [result](std::ostream& out) { print_calibration(out, *result); },
          .json = [result] { return calibration_json(*result); },
          .csv = [result](std::ostream& out) { write_calibration_csv(out, *result); },
          .file =
              [result] {
                result->written = true;
                return write_profile(result->profile);
              },
          .after_file = forget};
}

}  // namespace smtwin
