// SPDX-License-Identifier: Apache-2.0
// The serving frameworks whose kernels were measured, and their names as users and tables write
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace smtwin {

enum class ServingFramework : std::uint8_t { vllm, sglang, trtllm };

std::string_view to_string(ServingFramework framework);  // "vllm", "sglang", "trtllm"

// "vLLM", "VLLM", "SGLang", "TRTLLM", "TensorRT-LLM": case, blanks and dashes do not matter.
// Nothing for any other text.
std::optional<ServingFramework> serving_framework_from(std::string_view text);

}  // namespace smtwin
