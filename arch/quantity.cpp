// SPDX-License-Identifier: Apache-2.0
#include "arch/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "arch/units.hpp"

namespace smtwin {
namespace {

using Prefix = std::pair<std::string_view, double>;
constexpr double kKibi = kKiB, kMebi = kMiB, kGibi = kGiB;
constexpr std::array<Prefix, 8> kBytePrefixes{{{"B", 1},
                                               {"kB", 1e3},
                                               {"MB", 1e6},
                                               {"GB", 1e9},
                                               {"TB", 1e12},
                                               {"KiB", kKibi},
                                               {"MiB", kMebi},
                                               {"GiB", kGibi}}};
constexpr std::array<Prefix, 4> kHertzPrefixes{
    {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}};
constexpr std::array<Prefix, 4> kSecondPrefixes{
    {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
constexpr std::array<Prefix, 1> kWattPrefixes{{{"W", 1}}};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The number at the start and what follows it.
std::optional<std::pair<double, std::string_view>> split_number(std::string_view text) {
  text = trimmed(text);
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || !std::isfinite(number)) return std::nullopt;
  return std::pair{number, trimmed(text.substr(static_cast<std::size_t>(read.ptr - text.data())))};
}

template <std::size_t N>
std::optional<double> factor(std::string_view suffix, const std::array<Prefix, N>& prefixes,
                             std::string& allowed) {
  for (const auto& [name, value] : prefixes) {
    if (name == suffix) return value;
    allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  }
  return std::nullopt;
}

}  // namespace

std::string number_text(double value) {
  constexpr double kReadable = 1e9;  // counts below stay digits: 100000, not 1e+05
  std::array<char, 32> buffer{};
  const bool count = std::abs(value) < kReadable && value == std::trunc(value);
  char* const end = buffer.data() + buffer.size();
  const auto written = count ? std::to_chars(buffer.data(), end, static_cast<long long>(value))
                             : std::to_chars(buffer.data(), end, value);
  return {buffer.data(), written.ptr};
}

std::optional<double> parse_quantity(std::string_view text, std::string_view unit,
                                     std::string* problem) {
  const auto refuse = [&](const std::string& why) -> std::optional<double> {
    if (problem != nullptr) *problem = why;
    return std::nullopt;
  };
  const auto parts = split_number(text);
  if (!parts) return refuse("not a number");
  auto [number, suffix] = *parts;
  if (suffix.empty()) return number;

  std::string allowed;
  std::optional<double> scale;
  const bool rate = unit == "B/s";
  if (rate && suffix.ends_with("/s")) suffix.remove_suffix(2);
  if (unit == "B" || rate) {
    scale = factor(suffix, kBytePrefixes, allowed);
    if (rate) allowed += ", each also with /s";
  } else if (unit == "Hz") {
    scale = factor(suffix, kHertzPrefixes, allowed);
  } else if (unit == "s") {
    scale = factor(suffix, kSecondPrefixes, allowed);
  } else if (unit == "W") {
    scale = factor(suffix, kWattPrefixes, allowed);
  }
  if (!scale) {
    return refuse(allowed.empty() ? "takes a plain number without unit"
                                  : "unknown unit; known are " + allowed);
  }
  const double value = number * *scale;
  if (!std::isfinite(value)) return refuse("number too large");
  return value;
}

std::optional<double> probable_number(std::string_view text) {
  if (const auto value = parse_quantity(text, "B")) return value;
  const auto parts = split_number(text);
  if (!parts) return std::nullopt;
  const auto& [number, suffix] = *parts;
  if (suffix == "K" || suffix == "k" || suffix == "KB") return number * kKibi;
  if (suffix == "M" || suffix == "m") return number * kMebi;
  return std::nullopt;
}

}  // namespace smtwin
