// SPDX-License-Identifier: Apache-2.0
// The one table of GPU fields: path, unit, meaning, range, and where the value lives in GpuSpec.
// The reader, the writer, --set and `smtwin gpus` all walk it, so that a field is listed once; the
// path is also the JSON key ("sm.registers_per_sm" is key registers_per_sm of group sm).
// Rules between fields (opt-in + reserve <= shared memory of the SM) are broken_rule().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arch/gpu_spec.hpp"

namespace smtwin {

inline constexpr int kGpuSchemaVersion = 1;

// Not known, a count, a rate, or the list of shared-memory carveouts.
using FieldValue = std::variant<std::monostate, std::int64_t, double, std::vector<std::int64_t>>;

enum class FieldKind { integer, real, integer_list };

struct GpuField {
  std::string_view path;
  std::string_view unit;  // "" for a count or a ratio
  std::string_view meaning;
  double minimum = 0;  // inclusive, of each entry for a list
  double maximum = 0;
  FieldKind kind = FieldKind::integer;
  bool nullable = false;
  FieldValue (*get)(const GpuSpec&) = nullptr;
  void (*set)(GpuSpec&, const FieldValue&) = nullptr;  // value already checked
};

// Every field, in file order.
std::span<const GpuField> gpu_fields();

// By full path, or by its last part where only one field has it; nullptr otherwise.
const GpuField* find_gpu_field(std::string_view path);

// The JSON group a field lies in ("" at the top) and its key there.
struct FieldKey {
  std::string group;
  std::string key;
};
FieldKey field_key(std::string_view path);

std::string field_text(const FieldValue& value);  // "102400", "1.792e+12", "0, 8192", "null"

bool in_range(const GpuField& field, const FieldValue& value);
std::string expected_type(const GpuField& field);   // "a positive integer", "a number or null"
std::string expected_range(const GpuField& field);  // "an integer from 1 to 1024"

// A contradiction between fields, worded to follow "PATH: ".
struct BrokenRule {
  std::string path;
  std::string problem;
};
std::optional<BrokenRule> broken_rule(const GpuSpec& gpu);

}  // namespace smtwin
