// SPDX-License-Identifier: Apache-2.0
#include "model/timing/serving_framework.hpp"

#include <string>

namespace smtwin {

std::string_view to_string(ServingFramework framework) {
  switch (framework) {
    case ServingFramework::vllm:
      return "vllm";
    case ServingFramework::sglang:
      return "sglang";
    case ServingFramework::trtllm:
      return "trtllm";
  }
  return "?";
}

std::optional<ServingFramework> serving_framework_from(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (c == ' ' || c == '-' || c == '_') continue;
    name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (name == "vllm") return ServingFramework::vllm;
  if (name == "sglang") return ServingFramework::sglang;
  if (name == "trtllm" || name == "tensorrtllm") return ServingFramework::trtllm;
  return std::nullopt;
}

}  // namespace smtwin
