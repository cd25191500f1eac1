// SPDX-License-Identifier: Apache-2.0
#include "cli/plot.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ostream>

#include "cli/report.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kPlotColumns = 56;

std::string repeated(const std::string& text, std::int64_t n) {
  std::string result;
  for (std::int64_t i = 0; i < n; ++i) result += text;
  return result;
}

std::string padded_left(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, display_width(text)), ' ') + text;
}

}  // namespace

void print_staircase(std::ostream& out, const Staircase& s, PlotStyle style) {
  // The largest x at which each count still holds, looked for at every place where it can change.
  std::map<std::int32_t, std::int64_t, std::greater<>> last_x;
  for (std::int64_t x = s.first; x <= s.last; x += s.step) last_x[s.count(x)] = x;
  last_x[s.count(s.last)] = s.last;

  const std::int64_t span = std::max<std::int64_t>(1, s.last - s.first);
  const auto column_of = [&](std::int64_t x) {
    return std::clamp<std::int64_t>((x - s.first) * (kPlotColumns - 1) / span, 0, kPlotColumns - 1);
  };
  const auto x_of = [&](std::int64_t column) {
    return s.first + (span * column / (kPlotColumns - 1)) / s.step * s.step;
  };
  std::vector<std::int32_t> counts;
  for (std::int64_t c = 0; c < kPlotColumns; ++c) counts.push_back(s.count(x_of(c)));
  const std::int64_t present_column = column_of(s.present);
  const std::int32_t present_count = s.count(s.present);

  out << '\n' << s.title << '\n';
  const std::size_t count_width = 5;
  const std::size_t share_width = 8;
  const std::size_t x_width = std::max<std::size_t>(9, format_count(s.last).size() + 2);
  out << padded_left("CTAs", count_width) << padded_left("warps", share_width)
      << padded_left("up to", x_width) << ' ' << s.unit << '\n';
  const std::string fill = style.unicode ? "\u2588" : "#";
  const std::string mark = style.unicode ? "\u25c6" : "@";
  const std::string axis = style.unicode ? "\u2502" : "|";
  for (const auto& [count, x] : last_x) {
    if (count == 0 && last_x.size() > 1) {
      if (present_count != 0) continue;
    }
    out << padded_left(format_count(count), count_width)
        << padded_left(s.describe_count(count), share_width)
        << padded_left(format_count(x), x_width) << std::string(s.unit.size() + 2, ' ') << axis;
    std::string line;
    std::int64_t blanks = 0;
    for (std::int64_t c = 0; c < kPlotColumns; ++c) {
      const bool marked = c == present_column && count == present_count;
      const bool filled = counts[static_cast<std::size_t>(c)] >= count && count > 0;
      if (!marked && !filled) {
        ++blanks;
        continue;
      }
      line += repeated(" ", blanks) + (marked ? mark : fill);
      blanks = 0;
    }
    out << line << '\n';
  }
  out << padded_left("", count_width + share_width + x_width + s.unit.size() + 2)
      << (style.unicode ? "\u2514" : "+") << repeated(style.unicode ? "\u2500" : "-", kPlotColumns)
      << '\n';
  const std::string right = format_count(s.last) + ' ' + s.unit;
  const std::string left = format_count(s.first);
  out << padded_left("", count_width + share_width + x_width + s.unit.size() + 3) << left
      << padded_left(right, static_cast<std::size_t>(kPlotColumns) - left.size()) << '\n';
  out << mark << " now: " << format_count(s.present) << ' ' << s.unit << '\n';
}

bool terminal_shows_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string text(value);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return text.find("utf-8") != std::string::npos || text.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace smtwin
