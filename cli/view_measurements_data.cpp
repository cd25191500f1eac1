// SPDX-License-Identifier: Apache-2.0
// Scores of measured rows, for programs.
#include <nlohmann/json.hpp>

#include <cmath>
#include <ostream>

#include "cli/measurements_answer.hpp"
#include "cli/report.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

Json finite(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json group_json(const GroupScore& g) {
  return {{"name", g.name},
          {"rows", g.errors.rows},
          {"median_error", g.errors.median_error},
          {"mean_error", g.errors.mean_error},
          {"p90_error", g.errors.p90_error},
          {"bias", g.errors.bias},
          {"spearman", finite(g.errors.spearman)},
          {"interval_coverage", g.with_interval ? Json(g.interval_coverage) : Json(nullptr)}};
}

Json bounds_json(const TimeParts& parts) {
  Json bounds = Json::object();
  for (std::size_t r = 0; r < kRegimeCount; ++r) {
    bounds[std::string(to_string(static_cast<Regime>(r)))] = parts.regime_s[r];
  }
  return bounds;
}

}  // namespace

std::string measurements_json(const MeasurementsAnswer& a) {
  Json result = {{"table", "measurements"},          {"rows", a.rows_read},
                 {"predicted", a.score.rows.size()}, {"profiles", a.profiles},
                 {"families", Json::array()},        {"regimes", Json::array()},
                 {"not_modelled", Json::array()},    {"worst", Json::array()}};
  for (const GroupScore& g : a.score.families) {
    Json family = group_json(g);
    family["constants"] = g.constants;
    family["provenance"] = to_string(g.provenance);
    result["families"].push_back(family);
  }
  for (const GroupScore& g : a.score.regimes) result["regimes"].push_back(group_json(g));
  for (const MeasurementScore::NotModelled& n : a.score.not_modelled) {
    result["not_modelled"].push_back({{"name", n.name}, {"rows", n.rows}, {"why", n.why}});
  }
  for (const WorstRow& w : a.worst) {
    result["worst"].push_back({{"where", w.where},
                               {"family", w.family},
                               {"shape", w.shape},
                               {"measured_s", w.measured_s},
                               {"predicted_s", w.parts.seconds},
                               {"interval_s", {w.interval.low_s, w.interval.high_s}},
                               {"regime", to_string(w.parts.regime())},
                               {"bounds_s", bounds_json(w.parts)},
                               {"choice", w.parts.choice}});
  }
  if (a.audited) {
    result["audit"] = Json::array();
    for (const AuditLine& l : a.audit) {
      result["audit"].push_back({{"where", l.where}, {"kind", l.kind}, {"reason", l.reason}});
    }
  }
  return result.dump();
}

void write_measurements_csv(std::ostream& out, const MeasurementsAnswer& a) {
  CsvTable table{.header = {"group", "name", "rows", "median_error", "mean_error", "p90_error",
                            "bias", "spearman", "interval_coverage", "constants", "provenance"},
                 .rows = {}};
  const auto add = [&](const char* kind, const GroupScore& g) {
    table.rows.push_back(
        {kind, g.name, std::to_string(g.errors.rows), csv_number(g.errors.median_error),
         csv_number(g.errors.mean_error), csv_number(g.errors.p90_error), csv_number(g.errors.bias),
         csv_number(g.errors.spearman), g.with_interval ? csv_number(g.interval_coverage) : "",
         g.constants > 0 ? std::to_string(g.constants) : "", std::string(to_string(g.provenance))});
  };
  for (const GroupScore& g : a.score.families) add("family", g);
  for (const GroupScore& g : a.score.regimes) add("regime", g);
  write_csv(out, table);
}

}  // namespace smtwin
