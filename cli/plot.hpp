// SPDX-License-Identifier: Apache-2.0
// A staircase in the terminal: how many CTAs are resident as one resource grows. One line for each
// count that occurs, filled as far as at least that count holds; the present point is marked.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace smtwin {

struct Staircase {
  std::string title;
  std::string unit;        // of the horizontal axis: "B", "registers"
  std::int64_t first = 0;  // horizontal range, both ends included
  std::int64_t last = 0;
  std::int64_t step = 1;     // the function changes at multiples of this only
  std::int64_t present = 0;  // value of today's kernel
  std::function<std::int32_t(std::int64_t)> count;          // resident CTAs at x
  std::function<std::string(std::int32_t)> describe_count;  // "8.3 %"
};

struct PlotStyle {
  bool unicode = true;  // else plain ASCII
};

void print_staircase(std::ostream& out, const Staircase& staircase, PlotStyle style);

// Whether the environment (LC_ALL, LC_CTYPE, LANG) says that the terminal shows UTF-8.
bool terminal_shows_unicode();

}  // namespace smtwin
