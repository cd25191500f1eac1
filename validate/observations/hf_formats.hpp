// SPDX-License-Identifier: Apache-2.0
// How quantization files name number formats: one NumberFormat for each name or scheme that is
// modelled, a DataError with the list for any other.
#pragma once

#include <optional>

#include "model/model_spec.hpp"
#include "validate/observations/hf_json.hpp"

namespace smtwin {

inline constexpr HfRange kQuantBits{.minimum = 1, .maximum = 64};
inline constexpr HfRange kQuantGroup{.minimum = -1, .maximum = 1 << 20};  // -1: a whole row

// Refuses a scale block of `key` other than [128, 128].
void require_fp8_block(const HfObject& where, const char* key);

// A modelopt name ("FP8", "NVFP4", ...); nullopt for MIXED_PRECISION and null.
std::optional<NumberFormat> modelopt_format(const HfObject& where, const std::string& key);

// The weights of a compressed-tensors group; nullopt when they are not quantized.
std::optional<NumberFormat> group_format(const HfObject& group);

// kv_cache_quant_algo or kv_cache_scheme; nullopt without either.
std::optional<NumberFormat> kv_cache_format(const HfObject& q);

}  // namespace smtwin
