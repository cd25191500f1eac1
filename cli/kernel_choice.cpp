// SPDX-License-Identifier: Apache-2.0
#include "cli/kernel_choice.hpp"

#include <algorithm>

#include "arch/error.hpp"

namespace smtwin {

const ParameterSpec* find_parameter(const std::vector<ParameterSpec>& parameters,
                                    const std::string& name) {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const auto& p) { return p.name == canonical_name(name); });
  return found == parameters.end() ? nullptr : &*found;
}

KernelChoice choose_kernel(const std::string& name, const std::string& config,
                           const VerbInput& input) {
  if (name.empty()) {
    throw UsageError(
        "--kernel is missing; name one, for example --kernel triton_gemm (smtwin "
        "kernels lists all)");
  }
  KernelChoice choice;
  choice.kernel = &find_kernel(name);
  if (!config.empty()) choice.given = parse_compact_config(*choice.kernel, config);
  const std::vector<ParameterSpec> parameters = choice.kernel->parameters();
  for (const auto& [flag, text] : input.kernel_flags) {
    const ParameterSpec* parameter = find_parameter(parameters, flag);
    if (parameter == nullptr) {
      std::vector<std::string> names = input.verb_flags;
      for (const ParameterSpec& p : parameters) names.push_back("--" + p.name);
      throw UsageError("unknown flag \"--" + flag + '"' + did_you_mean("--" + flag, names) +
                       " (smtwin kernels " + choice.kernel->name() + " lists the parameters)");
    }
    choice.given[parameter->name] = parse_parameter(*parameter, text);
  }
  choice.settings = route_settings(input.settings, choice.kernel);
  return choice;
}

Parameters with_settings(const KernelChoice& choice) {
  Parameters parameters = choice.given;
  const std::vector<ParameterSpec> known = choice.kernel->parameters();
  for (const Setting& setting : choice.settings.kernel) {
    const std::string text = setting.single();
    parameters[setting.path] =
        parse_parameter(*find_parameter(known, setting.path), text.substr(text.find('=') + 1));
  }
  return parameters;
}

std::string describe_parameters(const KernelDescriptor& kernel, const Parameters& parameters,
                                ParameterRole role) {
  std::vector<std::string> words;
  for (const ParameterSpec& spec : kernel.parameters()) {
    const auto found = parameters.find(spec.name);
    if (spec.role == role && found != parameters.end()) {
      words.push_back(spec.name + '=' + format_parameter(spec, found->second));
    }
  }
  return join(words, ", ");
}

std::string label(Limiter limiter) {
  if (limiter == Limiter::cta_slots) return "CTA slots";
  std::string text(to_string(limiter));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string label(const LimiterSet& limiters) {
  std::vector<std::string> words;
  for (const Limiter limiter : limiters.members()) words.push_back(label(limiter));
  return join(words, " + ");
}

}  // namespace smtwin
