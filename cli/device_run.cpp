// SPDX-License-Identifier: Apache-2.0
#include "cli/device_run.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

#include "arch/error.hpp"
#include "cli/flag_values.hpp"
#include "validate/device/device.hpp"
#include "validate/runs/run_journal.hpp"
#include "validate/runs/run_report.hpp"

namespace smtwin {
namespace {

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Effort parse_effort(const std::string& text) {
  if (text == "check") return Effort::check;
  if (text == "quick") return Effort::quick;
  if (text == "full") return Effort::full;
  throw UsageError("--effort " + quoted(text) +
                   ": use check (results only), quick (at most a minute) or full (at most five)");
}

std::string read_file(const std::string& path, std::istream& in) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(in), {});
  if (std::filesystem::is_directory(path)) {
    throw DataError(path + ": a folder; give run files (smtwin validate --device 0 -o run.json)");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw DataError(path + ": cannot be read; give a run file");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

void add_device_flags(CLI::App& app, DeviceFlags& flags) {
  app.add_option("--device", flags.device,
                 "run kernels and probes on this GPU now (0 is the first); needs a build with CUDA")
      ->check(CLI::Range(0, 1023));
  app.add_option("--kernel", flags.kernel, "with --device: only this kernel and its peers");
  app.add_option(
      "--effort", flags.effort,
      "with --device: check (results and residency, nothing timed), quick (at most a minute) or "
      "full (at most five; default)");
  app.add_option("--max-seconds", flags.max_seconds,
                 "with --device: start no reading later than this; default 280, quick 55")
      ->check(CLI::Range(1.0, 1e6));
}

void check_device_flags(const DeviceFlags& flags) {
  if (flags.device >= 0) return;
  const char* stray = !flags.kernel.empty()    ? "--kernel"
                      : flags.effort != "full" ? "--effort"
                      : flags.max_seconds > 0  ? "--max-seconds"
                                               : nullptr;
  if (stray == nullptr) return;
  throw UsageError(std::string(stray) + ": chooses what --device measures; leave it out");
}

DeviceRun run_on_device(const DeviceFlags& flags, const VerbInput& input) {
  SessionOptions options;
  options.effort = parse_effort(flags.effort);
  if (!flags.kernel.empty()) options.only_kernel = find_kernel(flags.kernel).name();
  options.seed = static_cast<std::uint64_t>(flags.seed);
  options.deadline_s = flags.max_seconds;
  const auto start = std::chrono::steady_clock::now();
  options.clock = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  options.progress = [&](const std::string& line) {
    input.err << format_number(options.clock(), 3) << " s  " << line << std::endl;
  };
  std::unique_ptr<Measurer> gpu = open_gpu(flags.device);
  DeviceRun run;
  run.output = input.output;
  std::shared_ptr<RunJournal> journal;
  if (!input.output.empty()) {
    journal = std::make_shared<RunJournal>(input.output + ".journal",
                                           JournalHead{.gpu = gpu->gpu(),
                                                       .tool_version = tool_version(),
                                                       .compiler = gpu->compiler(),
                                                       .plan = plan_name(options),
                                                       .seed = options.seed});
    const std::size_t there = journal->found().times.size();
    if (there > 0) options.progress("carrying on after " + std::to_string(there) + " medians");
    run.forget = [journal] { journal->remove(); };
  }
  run.result = run_session(*gpu, options, journal.get());
  run.result.run.tool_version = tool_version();
  run.result.run.date = utc_now();
  run.result.run.note = describe(run.result.skipped);
  if (!run.result.stopped.empty()) run.result.run.note += "; ended early: " + run.result.stopped;
  if (!run.result.stopped.empty()) {
    (void)gpu.release();  // freeing memory of a lost GPU may wait for ever
    input.err << "warning: the run ended early, its finished readings are kept: "
              << run.result.stopped << '\n';
  } else if (run.result.out_of_time && journal) {
    input.err << "warning: the time box was used up; the same command carries on\n";
  }
  return run;
}

RunFile load_runs(const std::vector<std::string>& paths, std::istream& in) {
  std::vector<RunFile> runs;
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    names.push_back(path == "-" ? "stdin" : path);
    runs.push_back(read_run(read_file(path, in), names.back()));
  }
  return join_runs(runs, names);
}

int exit_code_of(const DeviceRun& run) { return run.result.stopped.empty() ? 0 : 3; }

}  // namespace smtwin
