// SPDX-License-Identifier: Apache-2.0
#include "cli/flag_values.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "arch/error.hpp"
#include "arch/nearest_names.hpp"
#include "arch/quantity.hpp"

namespace smtwin {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string quoted(const std::string& text) {
  constexpr std::size_t kLongest = 60;
  std::string shown = text.substr(0, kLongest) + (text.size() > kLongest ? "..." : "");
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return '"' + shown + '"';
}

std::string canonical_name(std::string name) {
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::tolower(c & 0x7F));
  return name;
}

std::int64_t parse_count(const std::string& flag, const std::string& text, std::int64_t minimum,
                         std::int64_t maximum, const std::string& allowed) {
  const std::string digits = trimmed(text);
  std::int64_t value = 0;
  const auto done = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (done.ec == std::errc::result_out_of_range && done.ptr == digits.data() + digits.size()) {
    throw UsageError(flag + ' ' + digits.substr(0, 30) + ": " + allowed);
  }
  if (digits.empty() || done.ec != std::errc{} || done.ptr != digits.data() + digits.size()) {
    throw UsageError(flag + ": expected a whole number, found " + quoted(text) + "; " + allowed);
  }
  if (value < minimum || value > maximum) throw UsageError(flag + ' ' + digits + ": " + allowed);
  return value;
}

std::vector<std::int64_t> parse_counts(const std::string& flag, const std::string& text,
                                       std::int64_t minimum, std::int64_t maximum,
                                       const std::string& allowed) {
  std::vector<std::int64_t> values;
  for (const std::string& piece : split_list(text)) {
    values.push_back(parse_count(flag, piece, minimum, maximum, allowed));
  }
  return values;
}

std::int64_t parse_bytes(const std::string& flag, const std::string& text) {
  constexpr double kMost = 9.0e15;  // every whole number up to here is exact in a double
  std::string problem;
  const std::optional<double> bytes = parse_quantity(trimmed(text), "B", &problem);
  if (!bytes) {
    throw UsageError(flag + ": expected bytes like 61568, 16KiB or 1MB, found " + quoted(text) +
                     (problem.empty() ? "" : " (" + problem + ")"));
  }
  if (*bytes < 0) throw UsageError(flag + ' ' + trimmed(text) + ": bytes cannot be negative");
  if (!(*bytes <= kMost)) {
    throw UsageError(flag + ' ' + trimmed(text).substr(0, 30) +
                     ": more bytes than any machine has");
  }
  if (*bytes != std::floor(*bytes)) {
    throw UsageError(flag + ' ' + trimmed(text) + ": not a whole number of bytes");
  }
  return static_cast<std::int64_t>(*bytes);
}

std::vector<std::string> split_list(const std::string& text, char separator) {
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    pieces.push_back(trimmed(text.substr(begin, end - begin)));
    if (end == text.size()) return pieces;
    begin = end + 1;
  }
}

std::string did_you_mean(const std::string& text, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  const std::vector<std::string> near = nearest_names(text, names, kMost);
  return near.empty() ? "" : "; did you mean " + comma_list(near) + "?";
}

}  // namespace smtwin
