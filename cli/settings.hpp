// SPDX-License-Identifier: Apache-2.0
// Reading what people type: counts, bytes with suffixes, lists, and --set path=v1,v2 sorted by
// what it changes: a parameter of the verb's kernel, a field of the GPU, or the model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/descriptor.hpp"

namespace smtwin {

// Whole number in [minimum, maximum]. UsageError "--threads 2000: a CTA has 1 to 1024 threads"
// where `allowed` is the text after the colon.
std::int64_t parse_count(const std::string& flag, const std::string& text, std::int64_t minimum,
                         std::int64_t maximum, const std::string& allowed);
// The same for a list "1,2,4".
std::vector<std::int64_t> parse_counts(const std::string& flag, const std::string& text,
                                       std::int64_t minimum, std::int64_t maximum,
                                       const std::string& allowed);
// "61568", "16KiB", "1.5MB"; B, KiB, MiB, GiB (1024) and kB, MB, GB (1000). Never negative.
std::int64_t parse_bytes(const std::string& flag, const std::string& text);

std::vector<std::string> split_list(const std::string& text, char separator = ',');

// Up to three of `names` that resemble `text`, most alike first.
std::vector<std::string> near_names(const std::string& text,
                                    const std::vector<std::string>& names);
// "; did you mean a, b?" or "".
std::string did_you_mean(const std::string& text, const std::vector<std::string>& names);

// "path=v1,v2" taken apart.
struct Setting {
  std::string path;
  std::vector<std::string> values;
  std::string single() const;  // "path=v1"; UsageError when there are several values
};

struct RoutedSettings {
  std::vector<Setting> kernel;  // path is the parameter's name
  std::vector<Setting> gpu;
  std::vector<Setting> model;   // path without "model."
};

// A path is a parameter of `kernel` (also as kernel.NAME.x; null when the verb has none), a field
// of a GPU, or "model.x" where `has_model`. UsageError with near names otherwise.
RoutedSettings route_settings(const std::vector<std::string>& settings,
                              const KernelDescriptor* kernel, bool has_model = false);

// Every setting as "path=v1"; UsageError names one with several values.
std::vector<std::string> single_values(const std::vector<Setting>& settings);

}  // namespace smtwin
