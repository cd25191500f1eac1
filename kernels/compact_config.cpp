// SPDX-License-Identifier: Apache-2.0
// Configs as users write them: "BT16/w4/s2", "block_t=16,num_warps=4", or a word in the kernel's
// own notation ("128x128x256B"). A word is a short name and a number, or name=value.
#include <algorithm>

#include "arch/error.hpp"
#include "kernels/descriptor.hpp"
#include "kernels/text.hpp"

namespace smtwin {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string::size_type begin = 0;
  while (begin <= text.size()) {
    const auto end = std::min(text.find_first_of("/,", begin), text.size());
    words.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return words;
}

bool in_short_form(const ParameterSpec& spec) {
  return spec.role == ParameterRole::config && !spec.short_name.empty();
}

std::string long_form(const KernelDescriptor& kernel, const Parameters& values) {
  std::string text;
  for (const auto& spec : kernel.parameters()) {
    if (!in_short_form(spec) || spec.candidates.size() < 2) continue;
    text +=
        (text.empty() ? "" : ",") + spec.name + "=" + format_parameter(spec, values.at(spec.name));
  }
  return text;
}

[[noreturn]] void refuse(const KernelDescriptor& kernel, const std::string& word,
                         const std::string& text) {
  const Parameters defaults = complete_parameters(kernel, {});
  std::string names;
  for (const auto& spec : kernel.parameters()) {
    if (in_short_form(spec)) {
      names += (names.empty() ? "" : ", ") + spec.short_name + " = " + spec.name;
    }
  }
  throw UsageError(kernel.name() + " config \"" + text + "\": cannot read \"" + word +
                   "\"; write for example " + kernel.compact_config(defaults) + " or " +
                   long_form(kernel, defaults) + " (" + names + ")");
}

}  // namespace

std::string KernelDescriptor::compact_config(const Parameters& parameters) const {
  std::string text;
  for (const auto& spec : this->parameters()) {
    if (!in_short_form(spec)) continue;
    const auto value = parameters.at(spec.name);
    const bool varied = spec.candidates.size() > 1;
    if (!varied && value == spec.default_value) continue;
    text += (text.empty() ? "" : "/") + spec.short_name + std::to_string(value);
  }
  return text;
}

Parameters KernelDescriptor::parse_config_word(const std::string&) const { return {}; }

Parameters parse_compact_config(const KernelDescriptor& kernel, const std::string& text) {
  const auto specs = kernel.parameters();
  const auto find = [&](auto matches) { return std::find_if(specs.begin(), specs.end(), matches); };
  Parameters parsed;
  const auto set = [&](const std::string& name, std::int64_t value) {
    if (!parsed.emplace(name, value).second) {
      throw UsageError(kernel.name() + " config \"" + text + "\": " + name +
                       " is set twice; give it once");
    }
  };
  for (const auto& word : words_of(text)) {
    const auto own = kernel.parse_config_word(word);
    if (!own.empty()) {
      for (const auto& [name, value] : own) set(name, value);
      continue;
    }
    const auto equals = word.find('=');
    if (equals != std::string::npos) {
      const auto name = lower_case(trimmed(word.substr(0, equals)));
      const auto spec = find([&](const ParameterSpec& s) { return s.name == name; });
      if (spec == specs.end()) refuse(kernel, word, text);
      set(spec->name, parse_parameter(*spec, trimmed(word.substr(equals + 1))));
      continue;
    }
    const auto digits = word.find_first_of("0123456789");
    if (digits == 0 || digits == std::string::npos) refuse(kernel, word, text);
    const auto name = lower_case(word.substr(0, digits));
    const auto spec = find([&](const ParameterSpec& s) {
      return in_short_form(s) && lower_case(s.short_name) == name;
    });
    if (spec == specs.end() || word.find_first_not_of("0123456789", digits) != std::string::npos) {
      refuse(kernel, word, text);
    }
    set(spec->name, parse_parameter(*spec, word.substr(digits)));
  }
  return parsed;
}

}  // namespace smtwin
