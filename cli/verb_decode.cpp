// SPDX-License-Identifier: Apache-2.0
// smtwin decode: from a model and a GPU to the time of a decode step and tokens per second, over
// layouts, batches and contexts.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include "arch/error.hpp"
#include "cli/decode_answer.hpp"
#include "cli/flag_values.hpp"
#include "cli/kernel_choice.hpp"
#include "cli/profile_choice.hpp"
#include "cli/settings.hpp"
#include "cli/verb.hpp"
#include "model/serving_kernels.hpp"
#include "validate/model_catalog.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kMostSequences = 65'536;
constexpr std::int64_t kMostReplicas = 4'096;
constexpr std::int64_t kUsualContext = 8'192;

struct Flags {
  std::string model;
  std::string tp = "1";
  std::string ep = "1";
  std::string dp = "1";
  std::string batch = "1";
  std::string context;
  std::string kv_dtype = "auto";
  std::string memory_utilization = "0.9";
  std::string host_time = "0";
  bool greedy = false;
  bool no_padding = false;
  bool fuse_quantization = false;
  bool breakdown = false;
  bool explain = false;
  std::string context_cv = "0";
  std::string profile;
  std::string framework = "vllm";
};

void add_flags(CLI::App& app, Flags& f) {
  app.add_option("--model", f.model,
                 "config.json, the folder of a checkpoint, or a shipped model (smtwin models)");
  app.add_option("--tp", f.tp, "tensor-parallel GPUs of a replica, a list");
  app.add_option("--ep", f.ep, "of these, groups that hold different experts, a list");
  app.add_option("--dp", f.dp, "independent replicas");
  app.add_option("--batch", f.batch, "running sequences of a replica, a list");
  app.add_option("--context", f.context,
                 "cached tokens of each sequence, a list (8192, or what the model was made for)");
  app.add_option("--context-cv", f.context_cv,
                 "standard deviation of the contexts of a batch / their mean (0: all equal)");
  app.add_option("--kv-dtype", f.kv_dtype, "cache format: auto (the checkpoint's), bf16 or fp8");
  app.add_option("--memory-utilization", f.memory_utilization,
                 "share of the GPU's memory that the engine may use");
  app.add_option("--host-time", f.host_time,
                 "seconds between steps that nothing hides (0: asynchronous scheduling)");
  app.add_flag("--greedy", f.greedy, "argmax instead of temperature, softmax and top-k/p");
  app.add_flag("--no-padding", f.no_padding, "run every batch at its size, not a captured one");
  app.add_flag("--fuse-quantization", f.fuse_quantization,
               "norms and activations also quantize, where that is a choice");
  app.add_option("--profile", f.profile, kProfileHelp);
  app.add_option("--framework", f.framework,
                 "whose kernels run where a profile knows several: vllm, sglang or trtllm");
  app.add_flag("--breakdown", f.breakdown, "every kernel of the step");
  app.add_flag("--explain", f.explain, "follow the first step time to its equations");
}

double parse_fraction(const std::string& flag, const std::string& text, double least, double most,
                      const std::string& allowed) {
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || !(value >= least && value <= most)) {
    throw UsageError(flag + ' ' + text + ": " + allowed);
  }
  return value;
}

std::vector<std::int64_t> parse_contexts(const std::string& text, const ModelSpec& model) {
  if (text.empty()) return {std::min(kUsualContext, model.max_context)};
  return parse_counts("--context", text, 1, model.max_context,
                      model.name + " was made for 1 to " + format_count(model.max_context) +
                          " tokens (max_position_embeddings)");
}

std::vector<Layout> parse_layouts(const Flags& f, const ModelSpec& model) {
  const std::string most = " 1 to " + std::to_string(kLargestTp);
  const auto tps = parse_counts("--tp", f.tp, 1, kLargestTp, "a replica has" + most + " GPUs");
  const auto eps =
      parse_counts("--ep", f.ep, 1, kLargestTp, "experts are split over" + most + " GPUs");
  const auto dp = parse_count("--dp", f.dp, 1, kMostReplicas,
                              "there are 1 to " + format_count(kMostReplicas) + " replicas");
  const bool experts = std::any_of(model.layers.begin(), model.layers.end(),
                                   [](const auto& l) { return l.mlp.kind == MlpKind::moe; });
  std::vector<Layout> layouts;
  for (const std::int64_t tp : tps) {
    for (const std::int64_t ep : eps) {
      if (ep > 1 && !experts) {
        throw UsageError("--ep " + std::to_string(ep) + ": " + model.name +
                         " has no experts to split; leave --ep out");
      }
      const Layout layout{
          .tp = static_cast<int>(tp), .ep = static_cast<int>(ep), .dp = static_cast<int>(dp)};
      if (std::find(layouts.begin(), layouts.end(), layout) == layouts.end()) {
        layouts.push_back(layout);
      }
    }
  }
  return layouts;
}

NumberFormat parse_kv_format(const std::string& text, const ModelSpec& model) {
  if (text == "auto") return model.kv_format;
  if (text == "bf16") return NumberFormat::bf16;
  if (text == "fp8") return NumberFormat::fp8;
  throw UsageError("--kv-dtype " + quoted(text) + ": use auto, bf16 or fp8");
}

ServingFramework parse_framework(const std::string& text) {
  if (const auto framework = serving_framework_from(text)) return *framework;
  throw UsageError("--framework " + quoted(text) + ": use vllm, sglang or trtllm");
}

// --set kernel.NAME.parameter=value pins a parameter of every op on that kernel.
struct KernelPins {
  KernelSettings settings;
  std::vector<AppliedOverride> applied;
  std::vector<std::string> rest;  // settings of the GPU and the model
};

void pin(KernelPins& pins, const std::string& path, const std::string& value) {
  const std::size_t dot = path.find('.');
  const std::string name = path.substr(0, dot);
  const std::string parameter = dot == std::string::npos ? "" : path.substr(dot + 1);
  const std::vector<std::string> known = step_kernel_names();
  const std::string kernel = canonical_name(name);
  if (std::find(known.begin(), known.end(), kernel) == known.end()) {
    throw UsageError("--set kernel." + path + ": a decode step runs on " + join(known, ", "));
  }
  const std::vector<ParameterSpec> parameters = find_kernel(kernel).parameters();
  const ParameterSpec* spec = find_parameter(parameters, parameter);
  if (spec == nullptr) {
    std::vector<std::string> names;
    for (const ParameterSpec& p : parameters) names.push_back(p.name);
    throw UsageError("--set kernel." + path + ": " + kernel + " has " + join(names, ", "));
  }
  pins.settings[kernel][spec->name] = parse_parameter(*spec, value);
  pins.applied.push_back({.path = "kernel." + kernel + '.' + spec->name,
                          .before = "the fastest of a list",
                          .after = value,
                          .reason = ""});
}

KernelPins take_kernel_pins(const std::vector<std::string>& settings) {
  const std::string prefix = "kernel.";
  KernelPins pins;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (!setting.starts_with(prefix) || equals == std::string::npos) {
      pins.rest.push_back(setting);
      continue;
    }
    pin(pins, setting.substr(prefix.size(), equals - prefix.size()), setting.substr(equals + 1));
  }
  return pins;
}

Answer answer(const Flags& f, const VerbInput& input) {
  if (f.model.empty()) {
    throw UsageError(
        "--model is missing; name a config.json or a shipped model, for example --model "
        "deepseek-v4-flash (smtwin models lists all)");
  }
  const KernelPins pins = take_kernel_pins(input.settings);
  const RoutedSettings routed = route_settings(pins.rest, nullptr, true);
  GpuChoice gpu = choose_gpu(input.gpu, single_values(routed.gpu));
  ModelSpec model = find_model(f.model, single_values(routed.model));
  for (const Setting& s : routed.model) {
    gpu.context.overrides.push_back({.path = "model." + s.path,
                                     .before = "the file's",
                                     .after = s.values.front(),
                                     .reason = ""});
  }
  gpu.context.overrides.insert(gpu.context.overrides.end(), pins.applied.begin(),
                               pins.applied.end());

  DecodeRequest request;
  request.layouts = parse_layouts(f, model);
  request.batches =
      parse_counts("--batch", f.batch, 1, kMostSequences,
                   "a replica runs 1 to " + format_count(kMostSequences) + " sequences");
  request.contexts = parse_contexts(f.context, model);
  request.kv_format = parse_kv_format(f.kv_dtype, model);
  request.memory.utilization = parse_fraction("--memory-utilization", f.memory_utilization, 0.01, 1,
                                              "a share of the memory, 0.01 to 1");
  request.host_s =
      parse_fraction("--host-time", f.host_time, 0, 10, "seconds a step, 0 to 10 (0.0005)");
  request.step.context_cv =
      parse_fraction("--context-cv", f.context_cv, 0, 3, "standard deviation / mean, 0 to 3 (0.5)");
  request.step.pad_batch = !f.no_padding;
  request.step.greedy_sampling = f.greedy;
  request.step.fuse_quantization = f.fuse_quantization;
  request.kernels = pins.settings;
  request.profile = choose_profile(f.profile, gpu.gpu);
  request.framework = parse_framework(f.framework);
  gpu.context.calibration = calibration_context(request.profile);

  const auto result =
      std::make_shared<DecodeAnswer>(answer_decode(std::move(model), gpu, std::move(request)));
  const bool ops = f.breakdown;
  return {.context = gpu.context,
          .exit_code = 0,
          .table =
              [result, f](std::ostream& out) {
                print_decode(out, *result);
                if (f.breakdown) print_decode_breakdown(out, *result);
                if (f.explain) print_decode_explanation(out, *result);
              },
          .json = [result, ops] { return decode_json(*result, ops); },
          .csv = [result, ops](std::ostream& out) { write_decode_csv(out, *result, ops); }};
}

}  // namespace

Verb decode_verb() {
  const auto flags = std::make_shared<Flags>();
  return {
      .name = "decode",
      .summary = "a model on a GPU: time of a decode step and tokens/s over layouts and batches",
      .example =
          "decode --model deepseek-v4-flash --gpu rtx-pro-6000-server --tp 2,4 "
          "--batch 1,16,64 --context 8192",
      .takes_gpu = true,
      .takes_kernel_parameters = false,
      .add_flags = [flags](CLI::App& app) { add_flags(app, *flags); },
      .answer = [flags](const VerbInput& input) { return answer(*flags, input); }};
}

}  // namespace smtwin
