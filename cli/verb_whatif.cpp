// SPDX-License-Identifier: Apache-2.0
// smtwin whatif: a kernel before and after a change of tile, warps, shape, GPU or a field of the
// GPU ("what if SM120 had 228 KiB"), side by side, with the reason for the difference.
#include <CLI/CLI.hpp>

#include <memory>

#include "arch/error.hpp"
#include "cli/flag_values.hpp"
#include "cli/verb.hpp"
#include "cli/whatif_answer.hpp"

namespace smtwin {
namespace {

struct Flags {
  KernelFlags shared;
  std::string config;
};

Answer answer(const Flags& flags, const VerbInput& input) {
  const KernelChoice choice = choose_kernel(flags.shared.kernel, flags.config, input);
  const auto whatif = std::make_shared<WhatifAnswer>(answer_whatif(
      choice, split_list(input.gpu), time_options(flags.shared), flags.shared.profile));
  return {.context = whatif->points.front().gpu.context,
          .exit_code = 0,
          .table = [whatif](std::ostream& out) { print_whatif(out, *whatif); },
          .json = [whatif] { return whatif_json(*whatif); },
          .csv = [whatif](std::ostream& out) { write_whatif_csv(out, *whatif); }};
}

}  // namespace

Verb whatif_verb() {
  const auto flags = std::make_shared<Flags>();
  return {.name = "whatif",
          .summary = "a kernel under several settings or GPUs, side by side, and why they differ",
          .example =
              "whatif --kernel sparse_decode_fieldnotes --gpu rtx-pro-6000-server --heads "
              "64 --topk 512 --batch 64 --set block_h=32,16",
          .takes_gpu = true,
          .takes_kernel_parameters = true,
          .add_flags =
              [flags](CLI::App& app) {
                add_kernel_flags(app, flags->shared);
                app.add_option("--config", flags->config,
                               "base configuration, for example BT16/w4/s2");
              },
          .answer = [flags](const VerbInput& input) { return answer(*flags, input); }};
}

}  // namespace smtwin
