// SPDX-License-Identifier: Apache-2.0
#include "cli/settings.hpp"

#include <algorithm>
#include <set>

#include "arch/error.hpp"
#include "arch/gpu_spec_io.hpp"
#include "cli/flag_values.hpp"

namespace smtwin {

std::string Setting::single() const {
  if (values.size() != 1) {
    throw UsageError("--set " + path + ": one value expected, found " +
                     std::to_string(values.size()) + "; `smtwin whatif` compares several");
  }
  return path + '=' + values.front();
}

std::vector<std::string> single_values(const std::vector<Setting>& settings) {
  std::vector<std::string> texts;
  for (const Setting& setting : settings) texts.push_back(setting.single());
  return texts;
}

RoutedSettings route_settings(const std::vector<std::string>& settings,
                              const KernelDescriptor* kernel, bool has_model) {
  RoutedSettings routed;
  std::set<std::string> seen;
  for (const std::string& text : settings) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || trimmed(text.substr(equals + 1)).empty()) {
      throw UsageError("--set " + quoted(text) +
                       ": expected path=value, for example sm.shared_bytes_per_sm=228KiB");
    }
    Setting setting{.path = trimmed(text.substr(0, equals)),
                    .values = split_list(text.substr(equals + 1))};
    if (std::find(setting.values.begin(), setting.values.end(), "") != setting.values.end()) {
      throw UsageError("--set " + quoted(text) + ": a value of the list is empty");
    }
    if (!seen.insert(canonical_name(setting.path)).second) {
      throw UsageError("--set " + setting.path + ": set twice; give several values as " +
                       setting.path + "=v1,v2");
    }
    std::vector<std::string> known;
    if (kernel != nullptr) {
      std::string name = canonical_name(setting.path);
      const std::string prefix = canonical_name("kernel." + kernel->name() + '.');
      if (name.rfind(prefix, 0) == 0) name = name.substr(prefix.size());
      for (const ParameterSpec& parameter : kernel->parameters()) {
        known.push_back(parameter.name);
        if (parameter.name == name) setting.path = name;
      }
      if (std::find(known.begin(), known.end(), setting.path) != known.end()) {
        routed.kernel.push_back(std::move(setting));
        continue;
      }
    }
    if (is_gpu_field(setting.path)) {
      routed.gpu.push_back(std::move(setting));
      continue;
    }
    if (has_model && setting.path.rfind("model.", 0) == 0) {
      setting.path = setting.path.substr(6);
      routed.model.push_back(std::move(setting));
      continue;
    }
    for (const FieldInfo& field : describe_fields(GpuSpec{})) known.push_back(field.path);
    const std::string suggestion = did_you_mean(setting.path, known);
    throw UsageError("--set " + setting.path + ": " +
                     (kernel != nullptr
                          ? "neither a parameter of " + kernel->name() + " nor a field of a GPU"
                          : std::string("not a field of a GPU")) +
                     (suggestion.empty() ? "; `smtwin gpus NAME` lists the fields" : suggestion));
  }
  return routed;
}

}  // namespace smtwin
