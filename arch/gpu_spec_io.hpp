// SPDX-License-Identifier: Apache-2.0
// GpuSpec <-> JSON (data/gpus/*.json, layout in data/SCHEMA.md) and --set overrides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu_spec.hpp"

namespace smtwin {

// Parses one GPU file. Unknown, missing or out-of-range keys are DataErrors that name the file,
// the JSON pointer, what was found and what is allowed.
GpuSpec read_gpu_spec(std::string_view json_text, const std::string& file_name);
GpuSpec load_gpu_spec(const std::string& path);

// Complete JSON of a spec; read_gpu_spec(write_gpu_spec(x)) == x in every field and source.
std::string write_gpu_spec(const GpuSpec& gpu);

struct FieldInfo {
  std::string path;     // "sm.registers_per_sm"
  std::string unit;     // "registers", "B", "B/s", "Hz", "cycles", "" for a count
  std::string meaning;  // one line
  std::string value;    // as text; "null" when unknown
  Source source;
};

// Every field of a GPU in file order, for `smtwin gpus NAME`.
std::vector<FieldInfo> describe_fields(const GpuSpec& gpu);

struct AppliedOverride {
  std::string path;
  std::string before;
  std::string after;
  std::string reason;  // "" for what the user set, else why it followed ("follows ...")
};

// Applies "sm.shared_bytes_per_sm=233472" style settings (value in base units; KiB, MiB, GB
// suffixes accepted for byte fields). What must follow follows, and is reported: a larger
// shared_bytes_per_sm raises the opt-in limit to it less the reserve, the largest carveout and the
// unified L1. Unknown paths and out-of-range values are UsageErrors listing the near names.
std::vector<AppliedOverride> apply_overrides(GpuSpec& gpu,
                                             const std::vector<std::string>& settings);

// True when path names a field of a GPU ("sm.count" and so on), so that a verb with several
// override targets can tell them apart.
bool is_gpu_field(const std::string& path);

}  // namespace smtwin
