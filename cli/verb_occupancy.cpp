// SPDX-License-Identifier: Apache-2.0
// smtwin occupancy: from the threads, registers and bytes of a CTA (or a kernel and its
// configuration) to how many an SM holds, what limits it and how far the next step is.
#include <CLI/CLI.hpp>

#include <fstream>
#include <memory>

#include "arch/error.hpp"
#include "cli/flag_values.hpp"
#include "cli/kernel_choice.hpp"
#include "cli/occupancy_answer.hpp"
#include "cli/occupancy_rows.hpp"
#include "cli/settings.hpp"
#include "cli/verb.hpp"

namespace smtwin {
namespace {

struct Flags {
  std::string threads, regs, smem, static_smem, carveout, cluster, barriers, max_threads;
  std::string kernel, config, from;
  bool no_opt_in = false;
  bool plot = false;
  bool ascii = false;
  bool explain = false;
};

void add_flags(CLI::App& app, Flags& f) {
  app.add_option("--threads", f.threads, "threads of a CTA");
  app.add_option("--regs", f.regs, "registers per thread, as the compiler reports them");
  app.add_option("--smem", f.smem, "dynamic shared memory of a CTA (61568, 16KiB)");
  app.add_option("--static-smem", f.static_smem, "static shared memory of a CTA");
  app.add_option("--carveout", f.carveout, "preferred shared memory, percent of the most (0..100)");
  app.add_option("--cluster", f.cluster, "CTAs of a cluster: 8, or 2x2x1");
  app.add_option("--barriers", f.barriers, "named barriers of a CTA (1: __syncthreads only)");
  app.add_option("--max-threads", f.max_threads, "launch bound the function was compiled with");
  app.add_flag("--no-opt-in", f.no_opt_in, "the launch does not raise the default shared limit");
  app.add_option("--kernel", f.kernel, "take the resources of a kernel (smtwin kernels)");
  app.add_option("--config", f.config, "its configuration, for example BT16/w4/s2");
  app.add_option("--from", f.from, "CSV of many rows (threads, regs, dyn_smem, ...; - for stdin)");
  app.add_flag("--plot", f.plot, "draw resident CTAs over shared memory and registers");
  app.add_flag("--ascii", f.ascii, "plot without Unicode");
  app.add_flag("--explain", f.explain, "the arithmetic, line by line");
}

std::int64_t cluster_ctas(const std::string& text) {
  constexpr std::int64_t kMost = 1024;  // a CTA count no chip comes near
  std::int64_t product = 1;
  for (const std::string& piece : split_list(text, 'x')) {
    product *= parse_count("--cluster", piece, 1, kMost,
                           "a cluster has 1 to 1,024 CTAs, as 8 or "
                           "2x2x1");
    if (product > kMost) throw UsageError("--cluster " + text + ": a cluster has 1 to 1,024 CTAs");
  }
  return product;
}

// Flags on top of what the kernel's descriptor says.
KernelResources resources(const Flags& f, const GpuSpec& gpu, KernelResources kernel,
                          std::vector<std::string>& notes) {
  const SmSpec& sm = gpu.sm;
  const auto count = [](const char* flag, const std::string& text, std::int64_t least,
                        std::int64_t most, const std::string& allowed) {
    return static_cast<std::int32_t>(parse_count(flag, text, least, most, allowed));
  };
  const std::string most_threads = std::to_string(sm.max_threads_per_cta);
  if (!f.threads.empty()) {
    kernel.threads_per_cta = count("--threads", f.threads, 1, sm.max_threads_per_cta,
                                   "a CTA has 1 to " + most_threads + " threads");
  } else if (f.kernel.empty()) {
    kernel.threads_per_cta = sm.threads_per_warp;
    notes.push_back("--threads not given: one warp (" + std::to_string(sm.threads_per_warp) +
                    " threads) assumed, the smallest CTA");
  }
  if (!f.regs.empty()) {
    kernel.registers_per_thread =
        count("--regs", f.regs, 0, sm.registers_per_sm,
              "registers per thread, 0 to " + std::to_string(sm.max_registers_per_thread) +
                  " on this chip");
  } else if (f.kernel.empty()) {
    notes.push_back("--regs not given: registers are not counted");
  }
  if (!f.smem.empty()) kernel.dynamic_shared_bytes = parse_bytes("--smem", f.smem);
  if (!f.static_smem.empty()) {
    kernel.static_shared_bytes = parse_bytes("--static-smem", f.static_smem);
  }
  if (!f.carveout.empty()) {
    kernel.carveout_percent = count("--carveout", f.carveout, kCarveoutDefault, 100,
                                    "a percentage, 0 to 100, or -1 for no preference");
  }
  if (!f.cluster.empty()) {
    kernel.cluster_ctas = static_cast<std::int32_t>(cluster_ctas(f.cluster));
  }
  if (!f.barriers.empty()) {
    kernel.barriers_per_cta =
        count("--barriers", f.barriers, 0, 1024, "named barriers of a CTA, 0 to 1,024");
  }
  if (!f.max_threads.empty()) {
    kernel.function_max_threads_per_cta =
        count("--max-threads", f.max_threads, 1, sm.max_threads_per_cta,
              "a launch bound is 1 to " + most_threads + " threads");
  }
  if (f.no_opt_in) kernel.shared_opt_in = false;
  return kernel;
}

Answer answer_one(const Flags& f, const VerbInput& input) {
  std::vector<std::string> notes;
  std::optional<KernelInstance> instance;
  KernelResources kernel;
  GpuChoice gpu;
  if (!f.kernel.empty()) {
    const KernelChoice choice = choose_kernel(f.kernel, f.config, input);
    gpu = choose_gpu(input.gpu, single_values(choice.settings.gpu));
    instance = choice.kernel->instantiate(
        launch_parameters(*choice.kernel, with_settings(choice), gpu.gpu), gpu.gpu);
    kernel = instance->resources;
    notes.push_back("registers: " + instance->registers_source);
    if (!instance->impossible.empty()) notes.push_back(instance->impossible);
  } else {
    if (!f.config.empty())
      throw UsageError("--config needs --kernel; name one (smtwin kernels lists all)");
    if (!input.kernel_flags.empty()) {
      const std::string flag = "--" + input.kernel_flags.front().first;
      throw UsageError("unknown flag " + quoted(flag) + did_you_mean(flag, input.verb_flags) +
                       " (a kernel's parameters need --kernel; smtwin occupancy --help)");
    }
    gpu = choose_gpu(input.gpu, single_values(route_settings(input.settings, nullptr).gpu));
    if (f.threads.empty() && f.regs.empty() && f.smem.empty() && f.static_smem.empty()) {
      throw UsageError(
          "nothing to answer: give --threads, --regs and --smem, or --kernel, or "
          "--from rows.csv (smtwin occupancy --help)");
    }
  }
  kernel = resources(f, gpu.gpu, kernel, notes);
  const auto answer = std::make_shared<OccupancyAnswer>(
      answer_occupancy(gpu, kernel, std::move(instance), std::move(notes)));
  return {.context = gpu.context,
          .exit_code = 0,
          .table =
              [answer, f](std::ostream& out) {
                print_occupancy(out, *answer);
                if (f.explain) print_occupancy_arithmetic(out, *answer);
                if (f.plot) {
                  print_occupancy_plots(out, *answer,
                                        {.unicode = !f.ascii && terminal_shows_unicode()});
                }
              },
          .json = [answer] { return occupancy_json(*answer); },
          .csv = [answer](std::ostream& out) { write_occupancy_csv(out, *answer); }};
}

Answer answer_many(const Flags& f, const VerbInput& input) {
  for (const std::string* text : {&f.threads, &f.regs, &f.smem, &f.static_smem, &f.carveout,
                                  &f.cluster, &f.barriers, &f.max_threads, &f.kernel}) {
    if (!text->empty() || !input.kernel_flags.empty() || f.no_opt_in) {
      throw UsageError("--from takes every kernel from its file; leave out the other flags");
    }
  }
  const std::vector<std::string> settings =
      single_values(route_settings(input.settings, nullptr).gpu);
  std::optional<GpuChoice> choice;
  if (!input.gpu.empty()) choice = choose_gpu(input.gpu, settings);
  std::ifstream file;
  if (f.from != "-") {
    file.open(f.from, std::ios::binary);
    if (!file)
      throw DataError(f.from + ": cannot be read; --from wants a CSV file, or - for stdin");
  }
  std::istream& rows = f.from == "-" ? input.in : file;
  const std::string name = f.from == "-" ? "stdin" : f.from;
  const auto text = std::make_shared<std::string>(
      input.format == Format::json ? occupancy_rows_json(rows, name, choice, settings)
                                   : occupancy_rows_csv(rows, name, choice, settings));
  const auto print = [text](std::ostream& out) { out << *text; };
  return {.context = choice ? choice->context : ReportContext{},
          .exit_code = 0,
          .table = print,
          .json = [text] { return *text; },
          .csv = print};
}

}  // namespace

Verb occupancy_verb() {
  const auto flags = std::make_shared<Flags>();
  return {.name = "occupancy",
          .summary = "threads, registers and bytes of a CTA: how many an SM holds, what limits it",
          .example = "occupancy --gpu rtx-pro-6000-server --threads 128 --regs 255 --smem 61568",
          .takes_gpu = true,
          .takes_kernel_parameters = true,
          .add_flags = [flags](CLI::App& app) { add_flags(app, *flags); },
          .answer =
              [flags](const VerbInput& input) {
                return flags->from.empty() ? answer_one(*flags, input) : answer_many(*flags, input);
              }};
}

}  // namespace smtwin
