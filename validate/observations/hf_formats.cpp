// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/hf_formats.hpp"

#include <map>

namespace smtwin {
namespace {

constexpr std::int64_t kFp8Block = 128;
constexpr std::int64_t kNvfp4Group = 16;
constexpr std::int64_t kMxfp4Group = 32;

void require_nvfp4_group(const HfObject& where) {
  const std::int64_t group = where.integer_or("group_size", kNvfp4Group, kQuantGroup);
  if (group != kNvfp4Group && group > 0) where.not_modelled("group_size", "16 for NVFP4");
}

}  // namespace

void require_fp8_block(const HfObject& where, const char* key) {
  const std::vector<std::int64_t> block = where.integers(key, {.minimum = 1, .maximum = 1 << 20});
  if (block == std::vector<std::int64_t>{kFp8Block, kFp8Block}) return;
  const std::string found =
      block.size() == 2 ? '[' + std::to_string(block[0]) + ", " + std::to_string(block[1]) + ']'
                        : std::to_string(block.size()) + " sides";
  where.fail(key, "a scale block of " + found + " is not modelled; modelled: [128, 128]");
}

std::optional<NumberFormat> modelopt_format(const HfObject& where, const std::string& key) {
  static const std::map<std::string, NumberFormat> kFormats{
      {"FP8", NumberFormat::fp8},
      {"FP8_PER_CHANNEL_PER_TOKEN", NumberFormat::fp8},
      {"FP8_PB_WO", NumberFormat::fp8_block},
      {"NVFP4", NumberFormat::nvfp4},
      {"NVFP4_AWQ", NumberFormat::nvfp4},
      {"W4A8_MXFP4_FP8", NumberFormat::mxfp4},
      {"W4A16_AWQ", NumberFormat::int4},
      {"W4A8_AWQ", NumberFormat::int4},
      {"INT4_AWQ", NumberFormat::int4},
  };
  const auto name = where.optional_text(key);
  if (!name || *name == "MIXED_PRECISION") return std::nullopt;
  const auto found = kFormats.find(*name);
  if (found == kFormats.end()) {
    std::string modelled = "MIXED_PRECISION";
    for (const auto& [known, format] : kFormats) modelled += ", " + known;
    where.not_modelled(key, modelled);
  }
  if (found->second == NumberFormat::nvfp4) require_nvfp4_group(where);
  return found->second;
}

std::optional<NumberFormat> group_format(const HfObject& group) {
  const auto weights = group.optional_object("weights");
  if (!weights) return std::nullopt;
  const std::int64_t bits = weights->integer("num_bits", kQuantBits);
  const std::string type = weights->text("type");
  const std::string strategy = weights->optional_text("strategy").value_or("");
  if (type == "float" && bits == 8) {
    if (strategy == "block" || weights->has("block_structure")) {
      require_fp8_block(*weights, "block_structure");
      return NumberFormat::fp8_block;
    }
    if (strategy == "group") weights->not_modelled("strategy", "tensor, channel, block for fp8");
    return NumberFormat::fp8;
  }
  if (type == "float" && bits == 4) {
    const std::int64_t elements = weights->integer("group_size", kQuantGroup);
    if (elements == kNvfp4Group) return NumberFormat::nvfp4;
    if (elements == kMxfp4Group) return NumberFormat::mxfp4;
    weights->not_modelled("group_size", "16 (NVFP4), 32 (MXFP4)");
  }
  if (type == "int" && bits == 4) return NumberFormat::int4;
  if (type == "int" && bits == 8) return NumberFormat::int8;
  if (type == "int" || type == "float") {
    weights->not_modelled("num_bits", "4 and 8 for type int and float");
  }
  weights->not_modelled("type", "\"int\", \"float\"");
}

std::optional<NumberFormat> kv_cache_format(const HfObject& q) {
  if (const auto algorithm = q.optional_text("kv_cache_quant_algo")) {
    if (*algorithm == "FP8") return NumberFormat::fp8;
    if (*algorithm == "NVFP4") return NumberFormat::nvfp4;
    if (*algorithm == "INT8") return NumberFormat::int8;
    q.not_modelled("kv_cache_quant_algo", "\"FP8\", \"NVFP4\", \"INT8\", null");
  }
  const auto scheme = q.optional_object("kv_cache_scheme");
  if (!scheme) return std::nullopt;
  const std::int64_t bits = scheme->integer("num_bits", kQuantBits);
  const std::string type = scheme->text("type");
  if (type == "float" && bits == 8) return NumberFormat::fp8;
  if (type == "float" && bits == 4) return NumberFormat::nvfp4;
  if (type == "int" && bits == 8) return NumberFormat::int8;
  if (type != "int" && type != "float") scheme->not_modelled("type", "\"int\", \"float\"");
  scheme->not_modelled("num_bits", "8 (float, int), 4 (float)");
}

}  // namespace smtwin
