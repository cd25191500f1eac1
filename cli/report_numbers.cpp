// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them. Inside the program everything is in base units; prefixes, percent
// and thousands separators are added here (for equations in model/quantity_text.cpp and
// kernels/text.cpp). Locale-independent on purpose: a
// report pasted from any machine looks the same.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "cli/report.hpp"

namespace smtwin {
namespace {

// "1234567" -> "1,234,567"; leaves a sign and a fraction alone.
std::string separate_thousands(std::string digits) {
  const std::size_t first = !digits.empty() && digits[0] == '-' ? 1 : 0;
  const std::size_t end = std::min(digits.find('.'), digits.size());
  for (std::size_t i = end; i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string fixed(double value, int decimals) {
  std::array<char, 400> text{};
  const auto done = std::to_chars(text.data(), text.data() + text.size(), value,
                                  std::chars_format::fixed, decimals);
  return {text.data(), done.ptr};
}

// 17.0, 1.36, 152: three significant digits, kept where they are zero, so that columns line up.
std::string three_digits(double value) {
  const double size = std::abs(value);
  return separate_thousands(fixed(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2));
}

struct Prefix {
  double scale;
  const char* text;
};

// The prefix under which the rounded value is at least 1: 999.9996 us is printed as 1 ms.
template <std::size_t N>
std::string with_prefix(double value, const std::array<Prefix, N>& prefixes,
                        const std::string& unit) {
  if (value == 0) return "0 " + unit;
  const double size = std::abs(value);
  const Prefix* chosen = &prefixes.back();
  for (const Prefix& p : prefixes) {
    if (size >= p.scale * 0.9995) {
      chosen = &p;
      break;
    }
  }
  return three_digits(value / chosen->scale) + ' ' + chosen->text + unit;
}

constexpr std::array<Prefix, 5> kLargeUnits{
    {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
constexpr std::array<Prefix, 4> kTimeUnits{{{1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}}};

}  // namespace

std::string format_count(std::int64_t n) { return separate_thousands(std::to_string(n)); }

std::string format_bytes(std::int64_t bytes) { return format_count(bytes) + " B"; }

std::string format_number(double value, int digits) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e-4 || size >= 1e15) {
    std::array<char, 64> text{};
    const auto done = std::to_chars(text.data(), text.data() + text.size(), value,
                                    std::chars_format::scientific, digits - 1);
    return {text.data(), done.ptr};
  }
  const int magnitude = static_cast<int>(std::floor(std::log10(size)));
  std::string text = fixed(value, std::max(0, digits - 1 - magnitude));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return separate_thousands(text);
}

std::string format_size(double bytes) { return with_prefix(bytes, kLargeUnits, "B"); }

std::string format_time(double seconds) {
  if (seconds == 0) return "0 us";
  return with_prefix(seconds, kTimeUnits, "s");
}

std::string format_percent(double fraction) {
  if (!std::isfinite(fraction)) return "-";
  const double percent = fraction * 100;
  // 100 % and 67 % need no decimal, 8.3 % does.
  const bool whole = std::abs(percent - std::round(percent)) < 0.05;
  return fixed(percent, whole ? 0 : 1) + " %";
}

std::string format_bandwidth(double bytes_per_s) {
  if (std::abs(bytes_per_s) >= 1e8) {
    return separate_thousands(fixed(bytes_per_s / 1e9, bytes_per_s < 1e10 ? 1 : 0)) + " GB/s";
  }
  return with_prefix(bytes_per_s, kLargeUnits, "B/s");
}

std::string format_ratio(double changed, double base) {
  if (changed == base) return "same";
  if (base == 0 || !std::isfinite(changed / base)) return "-";
  const double ratio = changed / base;
  if (ratio >= 1.995) return format_number(ratio, 2) + "x";
  const double percent = (ratio - 1) * 100;
  const std::string text = fixed(percent, std::abs(percent) < 9.95 ? 1 : 0);
  return (percent > 0 ? "+" : "") + text + " %";
}

std::string format_quantity(double value, const std::string& unit) {
  if (unit == "B") return format_size(value);
  if (unit == "B/s") return format_bandwidth(value);
  if (unit == "s") return format_time(value);
  if (unit == "Hz" || unit == "flop" || unit == "flop/s") {
    return with_prefix(value, kLargeUnits, unit);
  }
  const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
  const std::string text =
      whole ? format_count(static_cast<std::int64_t>(value)) : format_number(value);
  return unit.empty() ? text : text + ' ' + unit;
}

std::string csv_number(double value) {
  if (!std::isfinite(value)) return "";
  std::array<char, 64> text{};
  const auto done = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), done.ptr};
}

}  // namespace smtwin
