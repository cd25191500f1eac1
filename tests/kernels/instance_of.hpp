// SPDX-License-Identifier: Apache-2.0
// One kernel by name with some parameters set ("block_m=64 dtype=fp8", the last one counts), the
// rest at their defaults.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include "arch/error.hpp"
#include "kernels/descriptor.hpp"

namespace smtwin::test {

inline KernelInstance instance_of(const std::string& kernel, const GpuSpec& gpu,
                                  const std::string& settings) {
  const KernelDescriptor& descriptor = find_kernel(kernel);
  const auto specs = descriptor.parameters();
  Parameters parameters;
  std::istringstream words(settings);
  for (std::string word; words >> word;) {
    const std::string name = word.substr(0, word.find('='));
    const auto spec = std::find_if(specs.begin(), specs.end(),
                                   [&](const ParameterSpec& s) { return s.name == name; });
    if (spec == specs.end()) throw UsageError("a test names an unknown parameter: " + word);
    parameters[name] = parse_parameter(*spec, word);
  }
  return descriptor.instantiate(complete_parameters(descriptor, parameters), gpu);
}

inline double fact(const KernelInstance& instance, const std::string& name) {
  const auto found = std::find_if(instance.facts.begin(), instance.facts.end(),
                                  [&](const Fact& f) { return f.name == name; });
  if (found == instance.facts.end()) throw UsageError("no fact " + name);
  return found->value;
}

inline bool says(const KernelInstance& instance, const std::string& words) {
  return std::any_of(instance.assumptions.begin(), instance.assumptions.end(),
                     [&](const std::string& s) { return s.find(words) != std::string::npos; });
}

// The message of the UsageError that f throws; "" when it throws none.
template <typename F>
std::string usage_error(F f) {
  try {
    f();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace smtwin::test
