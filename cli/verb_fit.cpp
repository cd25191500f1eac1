// SPDX-License-Identifier: Apache-2.0
// smtwin fit: a kernel's configurations on a GPU: what fits, what is pruned and by how many bytes,
// how the survivors rank, and what an autotuner over the list would really have compared.
#include <CLI/CLI.hpp>

#include <memory>

#include "arch/error.hpp"
#include "cli/fit_answer.hpp"
#include "cli/flag_values.hpp"
#include "cli/kernel_choice.hpp"
#include "cli/verb.hpp"

namespace smtwin {
namespace {

struct Flags {
  KernelFlags shared;
  std::string list;
  bool all = false;
};

// "BT16/w4/s2,BT32/w4/s2" or, where an entry is written name=value,..., separated by ';'.
std::vector<std::string> list_entries(const std::string& text) {
  if (text.empty()) return {};
  const bool long_form = text.find('=') != std::string::npos;
  std::vector<std::string> entries = split_list(text, long_form ? ';' : ',');
  for (const std::string& entry : entries) {
    if (entry.empty()) {
      throw UsageError("--list " + quoted(text) + ": an entry is empty; write \"A,B,C\"");
    }
  }
  return entries;
}

Answer answer(const Flags& flags, const VerbInput& input) {
  const KernelChoice choice = choose_kernel(flags.shared.kernel, "", input);
  GpuChoice gpu = choose_gpu(input.gpu, single_values(choice.settings.gpu));
  KernelOptions options = time_options(flags.shared);
  use_profile(flags.shared.profile, gpu, options);
  const auto fit = std::make_shared<FitAnswer>(
      answer_fit(*choice.kernel, gpu, with_settings(choice), list_entries(flags.list), options));
  fit->show_all = flags.all;
  return {.context = gpu.context,
          .exit_code = 0,
          .table = [fit](std::ostream& out) { print_fit(out, *fit); },
          .json = [fit] { return fit_json(*fit); },
          .csv = [fit](std::ostream& out) { write_fit_csv(out, *fit); }};
}

}  // namespace

Verb fit_verb() {
  const auto flags = std::make_shared<Flags>();
  return {
      .name = "fit",
      .summary = "a kernel's configurations on a GPU: what fits, what is pruned, what is picked",
      .example =
          "fit --kernel sparse_decode_fieldnotes --gpu rtx-pro-6000-server --heads 16 "
          "--topk 512 --list \"BT16/w4/s2,BT32/w4/s2,BT32/w8/s2\"",
      .takes_gpu = true,
      .takes_kernel_parameters = true,
      .add_flags =
          [flags](CLI::App& app) {
            add_kernel_flags(app, flags->shared);
            app.add_option("--list", flags->list,
                           "an autotuner's list, \"A,B,C\"; without it the whole space");
            app.add_flag("--all", flags->all, "show every configuration, not the best 20");
          },
      .answer = [flags](const VerbInput& input) { return answer(*flags, input); }};
}

}  // namespace smtwin
