// SPDX-License-Identifier: Apache-2.0
// Short ways to write down a ParameterSpec, for descriptors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/descriptor.hpp"

namespace smtwin {

struct ValueRange {
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
};

ParameterSpec shape_parameter(std::string name, std::string meaning, std::int64_t default_value,
                              ValueRange allowed);
ParameterSpec target_parameter(std::string name, std::string meaning, std::int64_t default_value,
                               ValueRange allowed);

// A parameter of the tuner. One candidate or none: not varied, and named in a compact config only
// where it differs from its default.
ParameterSpec config_parameter(std::string name, std::string meaning, std::int64_t default_value,
                               ValueRange allowed, std::string short_name,
                               std::vector<std::int64_t> candidates);

// An enumeration; the first choice is the default unless said otherwise.
ParameterSpec choice_parameter(std::string name, std::string meaning, ParameterRole role,
                               std::vector<std::string> choices, std::int64_t default_index = 0);

}  // namespace smtwin
