// SPDX-License-Identifier: Apache-2.0
// Reading one value that somebody typed: counts, bytes with suffixes, lists, names nearly right.
// Every refusal names the flag, what was found and what is allowed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

// "a, b" -> {"a", "b"}; an empty piece stays as "".
std::vector<std::string> split_list(const std::string& text, char separator = ',');

// Without the blanks around it.
std::string trimmed(const std::string& text);

// In quotes, shortened, without line breaks: what a message may repeat of pasted text.
std::string quoted(const std::string& text);

// Lower case, '-' as '_': spellings that name the same thing.
std::string canonical_name(std::string name);

// "; did you mean a, b?" or "".
std::string did_you_mean(const std::string& text, const std::vector<std::string>& names);

}  // namespace smtwin
