// SPDX-License-Identifier: Apache-2.0
#include "kernels/parameter_specs.hpp"

#include <utility>

namespace smtwin {
namespace {

ParameterSpec number(std::string name, std::string meaning, ParameterRole role,
                     std::int64_t default_value, ValueRange allowed) {
  ParameterSpec spec;
  spec.name = std::move(name);
  spec.meaning = std::move(meaning);
  spec.role = role;
  spec.default_value = default_value;
  spec.minimum = allowed.minimum;
  spec.maximum = allowed.maximum;
  return spec;
}

}  // namespace

ParameterSpec shape_parameter(std::string name, std::string meaning, std::int64_t default_value,
                              ValueRange allowed) {
  return number(std::move(name), std::move(meaning), ParameterRole::shape, default_value, allowed);
}

ParameterSpec target_parameter(std::string name, std::string meaning, std::int64_t default_value,
                               ValueRange allowed) {
  return number(std::move(name), std::move(meaning), ParameterRole::target, default_value, allowed);
}

ParameterSpec config_parameter(std::string name, std::string meaning, std::int64_t default_value,
                               ValueRange allowed, std::string short_name,
                               std::vector<std::int64_t> candidates) {
  ParameterSpec spec =
      number(std::move(name), std::move(meaning), ParameterRole::config, default_value, allowed);
  spec.short_name = std::move(short_name);
  spec.candidates = std::move(candidates);
  return spec;
}

ParameterSpec choice_parameter(std::string name, std::string meaning, ParameterRole role,
                               std::vector<std::string> choices, std::int64_t default_index) {
  const auto last = static_cast<std::int64_t>(choices.size()) - 1;
  ParameterSpec spec = number(std::move(name), std::move(meaning), role, default_index, {0, last});
  spec.choices = std::move(choices);
  return spec;
}

}  // namespace smtwin
