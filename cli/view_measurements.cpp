// SPDX-License-Identifier: Apache-2.0
// Scores of measured rows, for people.
#include <algorithm>
#include <ostream>

#include "cli/measurements_answer.hpp"
#include "cli/report.hpp"

namespace smtwin {
namespace {

std::string signed_percent(double fraction) {
  return (fraction > 0 ? "+" : "") + format_percent(fraction);
}

std::string three_digits(double x) { return x == x ? format_number(x, 3) : "-"; }

TextTable figures_table(const std::vector<Column>& first) {
  std::vector<Column> columns = first;
  for (const char* title : {"rows", "median", "mean", "p90", "bias", "Spearman", "in 90 %"}) {
    columns.push_back({title});
  }
  return TextTable(std::move(columns));
}

void add_figures(TextTable& table, std::vector<std::string> cells, const GroupScore& g) {
  cells.insert(cells.end(),
               {format_count(static_cast<std::int64_t>(g.errors.rows)),
                format_percent(g.errors.median_error), format_percent(g.errors.mean_error),
                format_percent(g.errors.p90_error), signed_percent(g.errors.bias),
                three_digits(g.errors.spearman),
                g.with_interval ? format_percent(g.interval_coverage) : "-"});
  table.add_row(std::move(cells));
}

void print_families(std::ostream& out, const std::vector<GroupScore>& groups) {
  TextTable table = figures_table({});
  std::vector<std::string> names;
  for (const GroupScore& g : groups) {
    names.push_back(g.name);
    add_figures(table, {}, g);
  }
  print_named_rows(out, names, table);
}

void print_regimes(std::ostream& out, const std::vector<GroupScore>& groups) {
  TextTable table = figures_table({{"regime", Align::left}});
  for (const GroupScore& g : groups) add_figures(table, {g.name}, g);
  table.print(out);
}

// "DRAM 31 us > latency 12 us > ..."
std::string bounds_text(const TimeParts& parts) {
  std::vector<std::pair<double, Regime>> sorted;
  for (std::size_t r = 0; r < kRegimeCount; ++r) {
    if (parts.regime_s[r] > 0) sorted.emplace_back(parts.regime_s[r], static_cast<Regime>(r));
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::string> words;
  for (const auto& [seconds, regime] : sorted) {
    words.push_back(std::string(to_string(regime)) + " " + format_time(seconds));
  }
  return join(words, " > ");
}

}  // namespace

void print_measurements(std::ostream& out, const MeasurementsAnswer& a) {
  print_wrapped(out, "rows",
                format_count(static_cast<std::int64_t>(a.rows_read)) + " read, " +
                    format_count(static_cast<std::int64_t>(a.score.rows.size())) + " predicted");
  for (const std::string& profile : a.profiles) print_wrapped(out, "profile", profile);
  out << '\n';
  print_families(out, a.score.families);
  out << '\n';
  print_regimes(out, a.score.regimes);
  for (const MeasurementScore::NotModelled& n : a.score.not_modelled) {
    print_wrapped(
        out, "not modelled",
        n.name + ": " + format_count(static_cast<std::int64_t>(n.rows)) + " rows: " + n.why);
  }
  if (!a.worst.empty()) {
    out << "\nworst rows\n";
    for (const WorstRow& w : a.worst) {
      out << w.where << '\n';
      print_wrapped(out, "", w.family + " " + w.shape);
      print_wrapped(out, "",
                    "measured " + format_time(w.measured_s) + ", predicted " +
                        format_time(w.parts.seconds) + " (" +
                        signed_percent(w.parts.seconds / w.measured_s - 1) + "), 90 % interval " +
                        format_time(w.interval.low_s) + " to " + format_time(w.interval.high_s));
      print_wrapped(
          out, "",
          bounds_text(w.parts) + (w.parts.choice.empty() ? "" : "; runs " + w.parts.choice));
    }
  }
  if (!a.audited) return;
  out << "\naudit: " << format_count(static_cast<std::int64_t>(a.audit.size()))
      << " rows that no physics allows or that contradict each other\n";
  for (const AuditLine& l : a.audit) {
    out << l.where << '\n';
    print_wrapped(out, "", l.kind + ": " + l.reason);
  }
}

}  // namespace smtwin
