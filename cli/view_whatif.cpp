// SPDX-License-Identifier: Apache-2.0
// The whatif report for people: one column a setting, one line a quantity, the change where two
// are compared, and the reason in a sentence.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <ostream>

#include "cli/whatif_answer.hpp"

namespace smtwin {
namespace {

struct Cell {
  std::string text = "-";
  std::optional<double> value = {};  // for the change column
};

enum class ChangeAs { nothing, difference, ratio };

struct Line {
  std::string title;
  ChangeAs change = ChangeAs::nothing;
  std::function<Cell(const WhatifPoint&)> cell;
};

Cell count(std::int64_t n) { return {format_count(n), static_cast<double>(n)}; }

Cell quantity(double value, const std::string& unit) {
  return {format_quantity(value, unit), value};
}

std::string with_provenance(const std::string& text, Provenance p) {
  return text + " (" + std::string(to_string(p)) + ")";
}

void add_resource_lines(std::vector<Line>& lines) {
  lines.push_back({"config", ChangeAs::nothing,
                   [](const WhatifPoint& p) { return Cell{p.run.instance.config}; }});
  lines.push_back({"shared bytes", ChangeAs::difference, [](const WhatifPoint& p) {
                     return count(p.run.residency.shared_bytes_requested);
                   }});
  lines.push_back({"  known as", ChangeAs::nothing, [](const WhatifPoint& p) {
                     return Cell{std::string(to_string(p.run.instance.shared_provenance))};
                   }});
  lines.push_back(
      {"registers / thread", ChangeAs::difference, [](const WhatifPoint& p) {
         const std::int32_t n = p.run.instance.resources.registers_per_thread;
         return Cell{with_provenance(format_count(n), p.run.instance.registers_provenance), n};
       }});
  lines.push_back({"threads / CTA", ChangeAs::difference, [](const WhatifPoint& p) {
                     return count(p.run.instance.resources.threads_per_cta);
                   }});
  lines.push_back(
      {"fits", ChangeAs::nothing, [](const WhatifPoint& p) { return Cell{describe_fit(p.run)}; }});
  lines.push_back({"resident CTAs / SM", ChangeAs::difference, [](const WhatifPoint& p) {
                     return count(p.run.fits() ? p.run.residency.ctas_per_sm : 0);
                   }});
  lines.push_back({"resident warps", ChangeAs::difference, [](const WhatifPoint& p) {
                     const Residency& r = p.run.residency;
                     return Cell{format_count(r.resident_warps) + " of " +
                                     format_count(p.gpu.gpu.sm.max_warps_per_sm) + ", " +
                                     format_percent(r.theoretical_occupancy),
                                 r.resident_warps};
                   }});
  lines.push_back({"limited by", ChangeAs::nothing,
                   [](const WhatifPoint& p) { return Cell{label(p.run.residency.limiters)}; }});
}

// Facts of the kernel that differ between the points: head groups, splits, tokens gathered.
void add_fact_lines(std::vector<Line>& lines, const WhatifAnswer& a) {
  for (const Fact& fact : a.points.front().run.instance.facts) {
    const auto cell = [name = fact.name](const WhatifPoint& p) {
      for (const Fact& f : p.run.instance.facts) {
        if (f.name == name) return quantity(f.value, f.unit);
      }
      return Cell{};
    };
    const bool differs = std::any_of(a.points.begin(), a.points.end(), [&](const auto& p) {
      return cell(p).value != std::optional<double>(fact.value);
    });
    if (differs) lines.push_back({fact.name, ChangeAs::ratio, cell});
  }
}

void add_grid_lines(std::vector<Line>& lines) {
  lines.push_back({"grid", ChangeAs::nothing,
                   [](const WhatifPoint& p) { return Cell{p.run.instance.grid.formula}; }});
  lines.push_back({"CTAs", ChangeAs::ratio,
                   [](const WhatifPoint& p) { return count(p.run.instance.grid.ctas()); }});
  lines.push_back({"waves", ChangeAs::ratio, [](const WhatifPoint& p) {
                     if (!p.run.has_time()) return Cell{};
                     return Cell{format_number(p.run.time->waves.waves), p.run.time->waves.waves};
                   }});
  lines.push_back({"last wave fills", ChangeAs::nothing, [](const WhatifPoint& p) {
                     if (!p.run.has_time()) return Cell{};
                     return Cell{format_percent(p.run.time->waves.tail_fill) + " of the SMs"};
                   }});
}

void add_work_lines(std::vector<Line>& lines) {
  lines.push_back({"bytes read once", ChangeAs::ratio, [](const WhatifPoint& p) {
                     return quantity(p.run.instance.unique_read_bytes, "B");
                   }});
  lines.push_back({"bytes requested", ChangeAs::ratio, [](const WhatifPoint& p) {
                     return quantity(p.run.instance.requested_read_bytes(), "B");
                   }});
  lines.push_back({"useful flops", ChangeAs::ratio, [](const WhatifPoint& p) {
                     return quantity(p.run.instance.useful_flops, "flop");
                   }});
  lines.push_back({"issued flops", ChangeAs::ratio, [](const WhatifPoint& p) {
                     return quantity(p.run.instance.issued_math_flops(), "flop");
                   }});
  lines.push_back({"predicted", ChangeAs::ratio, [](const WhatifPoint& p) {
                     if (!p.run.has_time()) return Cell{};
                     return Cell{format_time(p.run.time->seconds), p.run.time->seconds};
                   }});
  lines.push_back({"  weakest input", ChangeAs::nothing, [](const WhatifPoint& p) {
                     return p.run.has_time() ? Cell{std::string(to_string(p.run.time->provenance))}
                                             : Cell{};
                   }});
  lines.push_back({"bound by", ChangeAs::nothing, [](const WhatifPoint& p) {
                     return p.run.has_time() ? Cell{label(p.run.time->binding)} : Cell{};
                   }});
}

std::string change_text(const Line& line, const Cell& before, const Cell& after) {
  if (!before.value || !after.value || line.change == ChangeAs::nothing) return "";
  if (*before.value == *after.value) return "";
  if (line.change == ChangeAs::ratio) return format_ratio(*after.value, *before.value);
  const auto difference = static_cast<std::int64_t>(std::llround(*after.value - *before.value));
  return (difference > 0 ? "+" : "") + format_count(difference);
}

// Columns of points [first, last) beside the line titles; a change column for exactly two.
TextTable block(const std::vector<Line>& lines, const WhatifAnswer& a, std::size_t first,
                std::size_t last) {
  const bool with_change = a.points.size() == 2;
  std::vector<Column> columns{{"", Align::left}};
  for (std::size_t i = first; i < last; ++i) columns.push_back({a.points[i].label});
  if (with_change) columns.push_back({"change"});
  TextTable table(std::move(columns));
  for (const Line& line : lines) {
    std::vector<std::string> cells{line.title};
    for (std::size_t i = first; i < last; ++i) cells.push_back(line.cell(a.points[i]).text);
    if (with_change) {
      cells.push_back(change_text(line, line.cell(a.points.front()), line.cell(a.points.back())));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

void print_blocks(std::ostream& out, const std::vector<Line>& lines, const WhatifAnswer& a) {
  for (std::size_t first = 0; first < a.points.size();) {
    std::size_t last = std::min(a.points.size(), first + (a.points.size() == 2 ? 2 : 1));
    while (last < a.points.size() && block(lines, a, first, last + 1).width() <= kReportColumns) {
      ++last;
    }
    if (first > 0) out << '\n';
    block(lines, a, first, last).print(out);
    first = last;
  }
}

// What no point changes.
Parameters common_parameters(const WhatifAnswer& a) {
  Parameters common = a.points.front().run.parameters;
  std::erase_if(common, [&](const auto& parameter) {
    return std::any_of(a.points.begin(), a.points.end(), [&](const WhatifPoint& p) {
      return p.run.parameters.at(parameter.first) != parameter.second;
    });
  });
  return common;
}

// Overrides that several points share are listed once, with the first point that has them.
void print_overrides_once(std::ostream& out, const WhatifAnswer& a) {
  std::vector<std::string> said;
  for (const WhatifPoint& p : a.points) {
    std::vector<AppliedOverride> fresh;
    for (const AppliedOverride& o : p.gpu.context.overrides) {
      const std::string key = p.gpu.gpu.name + ' ' + o.path + ' ' + o.after;
      if (std::find(said.begin(), said.end(), key) != said.end()) continue;
      said.push_back(key);
      fresh.push_back(o);
    }
    if (fresh.empty()) continue;
    if (a.points.size() > 2) print_wrapped(out, "overrides of", p.label);
    print_overrides(out, fresh);
  }
}

}  // namespace

void print_whatif(std::ostream& out, const WhatifAnswer& a) {
  const WhatifPoint& base = a.points.front();
  const bool one_gpu = std::all_of(a.points.begin(), a.points.end(), [&](const WhatifPoint& p) {
    return p.gpu.gpu.name == base.gpu.gpu.name;
  });
  print_wrapped(out, a.kernel->name(),
                describe_parameters(*a.kernel, common_parameters(a), ParameterRole::shape) +
                    (one_gpu ? " on " + base.gpu.gpu.display_name + ", " +
                                   architecture_name(base.gpu.gpu.compute_capability)
                             : ""));
  std::vector<Line> lines;
  add_resource_lines(lines);
  add_fact_lines(lines, a);
  add_grid_lines(lines);
  add_work_lines(lines);
  print_blocks(out, lines, a);
  for (const WhatifPoint& p : a.points) {
    const std::string refusal = describe_refusal(p.run, p.gpu.gpu);
    if (!refusal.empty()) print_wrapped(out, p.label, refusal);
    if (!p.run.no_time_because.empty()) print_wrapped(out, "no time", p.run.no_time_because);
    if (p.against_base.comparable) {
      print_wrapped(out, a.points.size() == 2 ? "why" : p.label, p.against_base.sentence);
    }
  }
  print_wrapped(out, "predicted",
                describe(a.options) + "; " + describe_intervals(a.options, a.points.front().run));
  print_overrides_once(out, a);
}

}  // namespace smtwin
