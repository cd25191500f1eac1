// SPDX-License-Identifier: Apache-2.0
// Parameters of a kernel: defaults, range checks, text <-> value, and the config space as the
// product of every tuner parameter's candidates.
#include "kernels/descriptor.hpp"

#include <algorithm>
#include <charconv>

#include "arch/error.hpp"
#include "kernels/text.hpp"

namespace smtwin {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string allowed_text(const ParameterSpec& spec) {
  if (!spec.choices.empty()) return joined(spec.choices);
  return "an integer from " + std::to_string(spec.minimum) + " to " + std::to_string(spec.maximum);
}

[[noreturn]] void refuse(const ParameterSpec& spec, const std::string& found) {
  throw UsageError(spec.name + ": found " + found + "; allowed: " + allowed_text(spec));
}

void check_value(const ParameterSpec& spec, std::int64_t value) {
  const bool known = spec.choices.empty()
                         ? value >= spec.minimum && value <= spec.maximum
                         : value >= 0 && value < static_cast<std::int64_t>(spec.choices.size());
  if (!known) refuse(spec, std::to_string(value));
}

}  // namespace

std::string to_string(MathPipe pipe) {
  switch (pipe) {
    case MathPipe::none:
      return "none";
    case MathPipe::fp32:
      return "fp32";
    case MathPipe::tf32:
      return "tf32";
    case MathPipe::bf16:
      return "bf16";
    case MathPipe::fp8:
      return "fp8";
    case MathPipe::int8:
      return "int8";
    case MathPipe::mxfp8:
      return "mxfp8";
    case MathPipe::nvfp4:
      return "nvfp4";
  }
  return "none";
}

Parameters complete_parameters(const KernelDescriptor& kernel, const Parameters& given) {
  const auto specs = kernel.parameters();
  for (const auto& [name, value] : given) {
    const auto found = std::find_if(specs.begin(), specs.end(),
                                    [&](const ParameterSpec& spec) { return spec.name == name; });
    if (found == specs.end()) {
      std::vector<std::string> names;
      for (const auto& spec : specs) names.push_back(spec.name);
      throw UsageError(kernel.name() + " has no parameter \"" + name + "\"; it has " +
                       joined(names));
    }
    check_value(*found, value);
  }
  Parameters complete = given;
  for (const auto& spec : specs) complete.emplace(spec.name, spec.default_value);
  return complete;
}

Parameters launch_parameters(const KernelDescriptor& kernel, const Parameters& given,
                             const GpuSpec& gpu) {
  Parameters parameters = complete_parameters(kernel, given);
  for (const auto& [name, value] : kernel.default_config(parameters, gpu)) {
    if (!given.contains(name)) parameters[name] = value;
  }
  return parameters;
}

std::int64_t parse_parameter(const ParameterSpec& spec, const std::string& text) {
  const auto equals = text.find('=');
  const std::string value_text = equals == std::string::npos ? text : text.substr(equals + 1);
  const auto choice = std::find_if(
      spec.choices.begin(), spec.choices.end(),
      [&](const std::string& name) { return lower_case(name) == lower_case(value_text); });
  if (choice != spec.choices.end()) return choice - spec.choices.begin();
  std::int64_t value = 0;
  const char* end = value_text.data() + value_text.size();
  const auto [stop, error] = std::from_chars(value_text.data(), end, value);
  if (!spec.choices.empty() || error != std::errc{} || stop != end) {
    refuse(spec, "\"" + value_text + "\"");
  }
  check_value(spec, value);
  return value;
}

std::string format_parameter(const ParameterSpec& spec, std::int64_t value) {
  if (spec.choices.empty()) return std::to_string(value);
  check_value(spec, value);
  return spec.choices[static_cast<std::size_t>(value)];
}

std::vector<Parameters> config_space(const KernelDescriptor& kernel, const Parameters& base) {
  std::vector<Parameters> space = {complete_parameters(kernel, base)};
  for (const auto& spec : kernel.parameters()) {
    if (spec.role != ParameterRole::config || spec.candidates.empty()) continue;
    std::vector<Parameters> wider;
    wider.reserve(space.size() * spec.candidates.size());
    for (const auto& point : space) {
      for (const auto value : spec.candidates) {
        wider.push_back(point);
        wider.back()[spec.name] = value;
      }
    }
    space = std::move(wider);
  }
  return space;
}

}  // namespace smtwin
