// SPDX-License-Identifier: Apache-2.0
// smtwin predict: how long one configuration of a kernel takes on a GPU, what each bound alone
// would take, and which one decides.
#include <CLI/CLI.hpp>

#include <memory>

#include "arch/error.hpp"
#include "cli/kernel_choice.hpp"
#include "cli/predict_answer.hpp"

namespace smtwin {
namespace {

struct Flags {
  KernelFlags shared;
  std::string config;
  bool explain = false;
};

Answer answer(const Flags& flags, const VerbInput& input) {
  const KernelChoice choice = choose_kernel(flags.shared.kernel, flags.config, input);
  const auto predict = std::make_shared<PredictAnswer>();
  predict->kernel = choice.kernel;
  predict->gpu = choose_gpu(input.gpu, single_values(choice.settings.gpu));
  predict->options = time_options(flags.shared);
  use_profile(flags.shared.profile, predict->gpu, predict->options);
  predict->run =
      run_kernel(*choice.kernel, with_settings(choice), predict->gpu.gpu, predict->options);
  // Without a time there is nothing this verb could say; fit and whatif still show the bytes.
  if (!predict->run.time) throw DataError(predict->run.no_time_because);
  return {.context = predict->gpu.context,
          .exit_code = 0,
          .table = [predict, explain = flags.explain](
                       std::ostream& out) { print_predict(out, *predict, explain); },
          .json = [predict] { return predict_json(*predict); },
          .csv = [predict](std::ostream& out) { write_predict_csv(out, *predict); }};
}

}  // namespace

Verb predict_verb() {
  const auto flags = std::make_shared<Flags>();
  return {.name = "predict",
          .summary = "the time of one kernel with every bound and the binding one",
          .example =
              "predict --kernel triton_gemm --gpu rtx-pro-6000-server --m 16 --n 4096 --k "
              "4096 --config BM16/BN64/BK128/w4/s3",
          .takes_gpu = true,
          .takes_kernel_parameters = true,
          .add_flags =
              [flags](CLI::App& app) {
                add_kernel_flags(app, flags->shared);
                app.add_option("--config", flags->config, "configuration, for example BT16/w4/s2");
                app.add_flag("--explain", flags->explain,
                             "the equation of each bound, and every assumption");
              },
          .answer = [flags](const VerbInput& input) { return answer(*flags, input); }};
}

}  // namespace smtwin
