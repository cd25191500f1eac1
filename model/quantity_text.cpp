// SPDX-License-Identifier: Apache-2.0
#include "model/quantity_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace smtwin {
namespace {

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return {text.data(), static_cast<std::size_t>(std::clamp(length, 0, 63))};
}

}  // namespace

std::string quantity_text(double value, std::string_view unit) {
  static constexpr std::array<const char*, 11> kPrefixes{"f", "p", "n", "u", "m", "",
                                                         "k", "M", "G", "T", "P"};
  constexpr int kNoPrefix = 5;
  if (!std::isfinite(value) || value == 0) return concat({fixed(value, 0), " ", unit});
  // Round to three digits first: 999.7 must become 1.00 k, not 1000.
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  const double step = std::pow(10.0, exponent - 2);
  const double rounded = std::round(value / step) * step;
  const int digits = static_cast<int>(std::floor(std::log10(std::abs(rounded) * (1 + 1e-12))));
  const int last = static_cast<int>(kPrefixes.size()) - 1;
  const int thousands = static_cast<int>(std::floor(digits / 3.0));
  const int prefix = std::clamp(kNoPrefix + thousands, 0, last);
  const int shift = 3 * (prefix - kNoPrefix);
  const int decimals = std::clamp(2 - (digits - shift), 0, 2);
  return concat({fixed(rounded / std::pow(10.0, shift), decimals), " ",
                 kPrefixes[static_cast<std::size_t>(prefix)], unit});
}

std::string count_text(double value) {
  std::string plain = fixed(std::abs(value), 2);
  while (plain.back() == '0') plain.pop_back();
  if (plain.back() == '.') plain.pop_back();
  const std::size_t whole = std::min(plain.find('.'), plain.size());
  std::string text = value < 0 ? "-" : "";
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (i > 0 && i < whole && (whole - i) % 3 == 0) text.push_back(',');
    text.push_back(plain[i]);
  }
  return text;
}

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

}  // namespace smtwin
