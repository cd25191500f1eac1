// SPDX-License-Identifier: Apache-2.0
// smtwin validate, host half: predictions against tables from anywhere. --occupancy holds what a
// driver said about residency, --compiled what a compiler produced (exit 1 when any row differs),
// --measurements what kernels took, --run what our own kernels took in a run kept as a file, and
// --device takes such a run now.
#include <CLI/CLI.hpp>

#include <fstream>
#include <memory>
#include <optional>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "cli/settings.hpp"
#include "cli/validate_measurements.hpp"
#include "cli/validate_run.hpp"
#include "cli/validate_views.hpp"
#include "cli/verb.hpp"

namespace smtwin {
namespace {

struct Flags {
  std::string occupancy, compiled;
  MeasurementFlags measurements;
  RunFlags runs;
};

// `in` for "-", else the opened file.
std::istream& open_table(const std::string& path, std::ifstream& file, std::istream& in) {
  if (path == "-") return in;
  file.open(path, std::ios::binary);
  if (!file) throw DataError(path + ": cannot be read; give a CSV file, or - for stdin");
  return file;
}

std::string shown_name(const std::string& path) { return path == "-" ? "stdin" : path; }

Answer answer_occupancy_table(const std::string& path, const VerbInput& input) {
  const GpuChoice gpu =
      choose_gpu(input.gpu, single_values(route_settings(input.settings, nullptr).gpu));
  std::ifstream file;
  const auto score = std::make_shared<OccupancyScore>(
      score_occupancy_table(open_table(path, file, input.in), shown_name(path), gpu.gpu));
  return {.context = gpu.context,
          .exit_code = score->agrees() ? 0 : 1,
          .table = [score, name = gpu.gpu.name](
                       std::ostream& out) { print_occupancy_score(out, *score, name); },
          .json = [score] { return occupancy_score_json(*score); },
          .csv = [score](std::ostream& out) { write_occupancy_score_csv(out, *score); }};
}

// Each row names its chip; rows of the chip that --gpu names use that GPU with its overrides.
Answer answer_compiled_table(const std::string& path, const VerbInput& input) {
  const std::vector<std::string> settings =
      single_values(route_settings(input.settings, nullptr).gpu);
  if (!settings.empty() && input.gpu.empty()) throw UsageError("--set needs --gpu here");
  std::optional<GpuChoice> gpu;
  if (!input.gpu.empty()) gpu = choose_gpu(input.gpu, settings);
  const auto gpu_of = [&](ComputeCapability cc) {
    return gpu && gpu->gpu.compute_capability == cc ? gpu->gpu : find_gpu(architecture_name(cc));
  };
  std::ifstream file;
  const auto score = std::make_shared<CompiledScore>(
      score_compiled_table(open_table(path, file, input.in), shown_name(path), gpu_of));
  return {.context = gpu ? gpu->context : ReportContext{},
          .exit_code = score->agrees() ? 0 : 1,
          .table = [score](std::ostream& out) { print_compiled_score(out, *score); },
          .json = [score] { return compiled_score_json(*score); },
          .csv = [score](std::ostream& out) { write_compiled_score_csv(out, *score); }};
}

}  // namespace

Verb validate_verb() {
  const auto flags = std::make_shared<Flags>();
  return {.name = "validate",
          .summary = "predictions against kernels that ran: tables, stored runs, or this GPU now",
          .example = "validate --occupancy tests/golden/validate_occupancy/rows.csv --gpu h200-sxm",
          .takes_gpu = true,
          .takes_kernel_parameters = false,
          .add_flags =
              [flags](CLI::App& app) {
                app.add_option("--occupancy", flags->occupancy,
                               "CSV: cc,regs,static_smem,threads,dyn_smem,carveout,api_blocks"
                               "[,measured_blocks]; - for stdin");
                app.add_option("--compiled", flags->compiled,
                               "CSV of compiled kernels with their shared bytes; - for stdin");
                add_measurement_flags(app, flags->measurements);
                add_run_flags(app, flags->runs);
              },
          .answer =
              [flags](const VerbInput& input) {
                const bool device = flags->runs.device.device >= 0;
                const int tables = !flags->occupancy.empty() + !flags->compiled.empty() +
                                   !flags->measurements.paths.empty() + !flags->runs.files.empty() +
                                   device;
                if (tables != 1) {
                  throw UsageError(
                      "validate needs one of --occupancy FILE.csv --gpu G, --compiled FILE.csv, "
                      "--measurements DIR|FILES, --run FILES and --device 0");
                }
                check_device_flags(flags->runs.device);
                if (device || !flags->runs.files.empty()) {
                  return answer_runs(flags->runs, flags->measurements, input);
                }
                if (flags->runs.calibrate_share > 0 || !flags->runs.compare.empty() ||
                    !flags->runs.where.empty()) {
                  throw UsageError("--calibrate-share, --compare and --where go with --run");
                }
                if (!flags->measurements.paths.empty()) {
                  return answer_measurements(flags->measurements, input);
                }
                return flags->occupancy.empty() ? answer_compiled_table(flags->compiled, input)
                                                : answer_occupancy_table(flags->occupancy, input);
              }};
}

}  // namespace smtwin
