// SPDX-License-Identifier: Apache-2.0
// --set path=v1,v2: taken apart and sorted by what it changes, a parameter of the verb's kernel, a
// field of the GPU, or the model.
#pragma once

#include <string>
#include <vector>

#include "cli/flag_values.hpp"
#include "kernels/descriptor.hpp"

namespace smtwin {

// "path=v1,v2" taken apart.
struct Setting {
  std::string path;
  std::vector<std::string> values;
  std::string single() const;  // "path=v1"; UsageError when there are several values
};

struct RoutedSettings {
  std::vector<Setting> kernel;  // path is the parameter's name
  std::vector<Setting> gpu;
  std::vector<Setting> model;  // path without "model."
};

// A path is a parameter of `kernel` (also as kernel.NAME.x; null when the verb has none), a field
// of a GPU, or "model.x" where `has_model`. UsageError with near names otherwise.
RoutedSettings route_settings(const std::vector<std::string>& settings,
                              const KernelDescriptor* kernel, bool has_model = false);

// Every setting as "path=v1"; UsageError names one with several values.
std::vector<std::string> single_values(const std::vector<Setting>& settings);

}  // namespace smtwin
