// SPDX-License-Identifier: Apache-2.0
// What a calibration found: errors on shapes left out of each fit, the constants, the ablation.
#include <nlohmann/json.hpp>

#include <cmath>
#include <ostream>

#include "cli/measurements_answer.hpp"
#include "cli/report.hpp"
#include "validate/fit/profile_io.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

std::string signed_percent(double fraction) {
  return (fraction > 0 ? "+" : "") + format_percent(fraction);
}

// "1.52 TB/s +- 0.4 %"
std::string constant_text(const FittedConstant& c) {
  return c.name + " " + format_quantity(c.value, c.unit == "1" ? "" : c.unit) +
         (c.log_sd > 0 ? " +-" + format_percent(c.log_sd) : " held") +
         (c.at_bound ? " AT BOUND" : "");
}

// Each family refitted without one of its effects after the other.
void print_ablations(std::ostream& out, const std::vector<Ablation>& ablations) {
  for (std::size_t i = 0; i < ablations.size();) {
    const Ablation& full = ablations[i];  // nothing taken out
    out << full.family << '\n';
    TextTable table(
        {{"without", Align::left}, {"median"}, {"p90"}, {"costs, median"}, {"costs, p90"}});
    table.add_row({"nothing", format_percent(full.median_error), format_percent(full.p90_error)});
    for (++i; i < ablations.size() && !ablations[i].constant.empty(); ++i) {
      const Ablation& a = ablations[i];
      table.add_row({a.constant, format_percent(a.median_error), format_percent(a.p90_error),
                     signed_percent(a.median_error - full.median_error),
                     signed_percent(a.p90_error - full.p90_error)});
    }
    table.print(out);
    out << '\n';
  }
}

}  // namespace

void print_calibration(std::ostream& out, const CalibrateAnswer& a) {
  const CalibrationProfile& p = a.profile;
  print_wrapped(out, "calibration",
                p.gpu + ": " + format_count(p.rows) + " rows, " +
                    format_count(static_cast<std::int64_t>(p.families.size())) +
                    " families, data " + p.fingerprint);
  print_wrapped(
      out, "errors",
      "of shapes left out of the fit, " +
          std::string(p.families.empty() ? "no" : std::to_string(p.families[0].unseen.folds)) +
          " parts of whole shapes in turn");
  if (!p.source.empty()) print_wrapped(out, "source", p.source);
  print_wrapped(out, "unmeasured",
                "before a row of theirs was fitted, families took " +
                    format_number(std::exp(p.unmeasured.low), 2) + " to " +
                    format_number(std::exp(p.unmeasured.high), 2) +
                    " times what they were predicted (90 %)");
  for (const FittedConstant& c : p.gpu_constants) {
    print_wrapped(out, "of the GPU", constant_text(c) + ": " + c.meaning);
  }
  out << '\n';
  std::vector<std::string> names;
  TextTable table({{"rows"},
                   {"shapes"},
                   {"constants"},
                   {"median"},
                   {"p90"},
                   {"bias"},
                   {"Spearman"},
                   {"in 90 %"}});
  for (const FamilyCalibration& f : p.families) {
    const UnseenShapes& u = f.unseen;
    names.push_back(f.identity.key());
    table.add_row({format_count(u.rows), format_count(u.shapes), std::to_string(f.constants.size()),
                   format_percent(u.median_error), format_percent(u.p90_error),
                   signed_percent(u.bias),
                   u.spearman == u.spearman ? format_number(u.spearman, 3) : "-",
                   format_percent(u.interval_coverage)});
  }
  print_named_rows(out, names, table);
  out << '\n';
  for (const FamilyCalibration& f : p.families) {
    std::vector<std::string> words;
    for (const FittedConstant& c : f.constants) words.push_back(constant_text(c));
    print_wrapped(out, "constants", f.identity.key() + ": " + join(words, ", "));
  }
  for (const MeasurementScore::NotModelled& n : a.not_modelled) {
    print_wrapped(
        out, "not modelled",
        n.name + ": " + format_count(static_cast<std::int64_t>(n.rows)) + " rows: " + n.why);
  }
  if (!a.ablations.empty()) {
    out << '\n';
    print_ablations(out, a.ablations);
  }
  if (!a.written && !a.shown) {
    out << '\n';
    print_wrapped(out, "next",
                  "-o profile.json writes the profile; --profile profile.json of "
                  "the other verbs uses it");
  }
}

std::string calibration_json(const CalibrateAnswer& a) {
  Json result = {{"profile", Json::parse(write_profile(a.profile))},
                 {"ablations", Json::array()},
                 {"not_modelled", Json::array()}};
  for (const Ablation& x : a.ablations) {
    result["ablations"].push_back({{"family", x.family},
                                   {"without", x.constant},
                                   {"median_error", x.median_error},
                                   {"p90_error", x.p90_error}});
  }
  for (const MeasurementScore::NotModelled& n : a.not_modelled) {
    result["not_modelled"].push_back({{"name", n.name}, {"rows", n.rows}, {"why", n.why}});
  }
  return result.dump();
}

void write_calibration_csv(std::ostream& out, const CalibrateAnswer& a) {
  CsvTable table{
      .header = {"family", "constant", "value", "unit", "log_sd", "prior", "at_bound", "of_gpu"},
      .rows = {}};
  for (const FamilyCalibration& f : a.profile.families) {
    for (const FittedConstant& c : f.constants) {
      table.rows.push_back({f.identity.key(), c.name, csv_number(c.value), c.unit,
                            csv_number(c.log_sd), csv_number(c.prior), c.at_bound ? "1" : "0",
                            c.of_gpu ? "1" : "0"});
    }
  }
  write_csv(out, table);
}

}  // namespace smtwin
