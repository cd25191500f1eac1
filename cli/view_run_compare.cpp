// SPDX-License-Identifier: Apache-2.0
// Pairs of readings that differ in one parameter: measured beside predicted change. A ratio above 1
// says that the second value is slower.
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/report.hpp"
#include "cli/run_answer.hpp"

namespace smtwin {
namespace {

std::string change_text(const ParameterChange& change) {
  return change.parameter + " " + std::to_string(change.from) + " -> " + std::to_string(change.to);
}

std::string sign_text(const ReadingPair& pair) {
  std::string text = "-";
  if (pair.telling()) text = pair.right() ? "right" : "wrong";
  return text + (pair.fitted ? " *" : "");
}

}  // namespace

std::size_t RunAnswer::wrong_signs() const {
  std::size_t wrong = 0;
  for (const ReadingPair& pair : pairs) wrong += !pair.fitted && pair.telling() && !pair.right();
  return wrong;
}

void print_run_comparison(std::ostream& out, const RunAnswer& a) {
  print_wrapped(out, "run", a.run.gpu.name + " (" + a.run.gpu.reported + "), " + a.run.date);
  print_wrapped(out, "profile", a.profile);
  print_wrapped(out, "change", change_text(*a.compare) + ", times with the second over the first");
  std::string kernel;
  std::size_t telling = 0, judged = 0;
  TextTable* table = nullptr;
  std::vector<std::pair<std::string, TextTable>> tables;
  for (const ReadingPair& pair : a.pairs) {
    if (pair.from->reading->kernel != kernel) {
      kernel = pair.from->reading->kernel;
      tables.emplace_back(kernel, TextTable({{"shape", Align::left},
                                             {"config", Align::left},
                                             {"measured"},
                                             {"changed"},
                                             {"ratio"},
                                             {"predicted"},
                                             {"sign", Align::left}}));
      table = &tables.back().second;
    }
    telling += !pair.fitted && pair.telling();
    judged += !pair.fitted;
    table->add_row({pair.shape, pair.from->config, format_time(pair.from->reading->seconds),
                    format_time(pair.to->reading->seconds), format_number(pair.measured_ratio()),
                    format_number(pair.predicted_ratio()), sign_text(pair)});
  }
  for (const auto& [name, rows] : tables) {
    out << '\n' << name << ", cold L2\n";
    rows.print(out);
  }
  out << '\n';
  const std::size_t wrong = a.wrong_signs();
  print_wrapped(
      out, "signs",
      format_count(static_cast<std::int64_t>(telling - wrong)) + " of " +
          format_count(static_cast<std::int64_t>(telling)) +
          " right where the measured times differ by more than " + format_percent(kTellingChange) +
          "; " + format_count(static_cast<std::int64_t>(judged)) + " pairs" +
          (a.calibrate_share > 0 ? "; not counted: *, the constants were fitted on this shape"
                                 : ""));
}

std::string run_comparison_json(const RunAnswer& a) {
  using Json = nlohmann::ordered_json;
  Json pairs = Json::array();
  for (const ReadingPair& pair : a.pairs) {
    pairs.push_back({{"kernel", pair.from->reading->kernel},
                     {"shape", pair.shape},
                     {"from", pair.from->config},
                     {"to", pair.to->config},
                     {"measured_from_s", pair.from->reading->seconds},
                     {"measured_to_s", pair.to->reading->seconds},
                     {"predicted_from_s", pair.from->point->predicted_s},
                     {"predicted_to_s", pair.to->point->predicted_s},
                     {"measured_ratio", pair.measured_ratio()},
                     {"predicted_ratio", pair.predicted_ratio()},
                     {"fitted_on", pair.fitted},
                     {"telling", pair.telling()},
                     {"sign_right", pair.right()}});
  }
  const Json result{{"parameter", a.compare->parameter},
                    {"from", a.compare->from},
                    {"to", a.compare->to},
                    {"wrong_signs", a.wrong_signs()},
                    {"pairs", pairs}};
  return result.dump();
}

void write_run_comparison_csv(std::ostream& out, const RunAnswer& a) {
  CsvTable table{{"kernel", "shape", "from", "to", "measured_from_s", "measured_to_s",
                  "predicted_from_s", "predicted_to_s", "measured_ratio", "predicted_ratio"},
                 {}};
  for (const ReadingPair& pair : a.pairs) {
    table.rows.push_back(
        {pair.from->reading->kernel, pair.shape, pair.from->config, pair.to->config,
         csv_number(pair.from->reading->seconds), csv_number(pair.to->reading->seconds),
         csv_number(pair.from->point->predicted_s), csv_number(pair.to->point->predicted_s),
         csv_number(pair.measured_ratio()), csv_number(pair.predicted_ratio())});
  }
  write_csv(out, table);
}

}  // namespace smtwin
