// SPDX-License-Identifier: Apache-2.0
// The whatif answer for programs: every point in full, every comparison with its sentence.
#include <nlohmann/json.hpp>

#include <ostream>

#include "cli/view_kernel_run.hpp"
#include "cli/whatif_answer.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

Json comparison_json(const WhatifPoint& base, const WhatifPoint& point) {
  const TimeComparison& c = point.against_base;
  Json bounds = Json::array();
  for (const BoundChange& b : c.bounds) {
    bounds.push_back(
        {{"bound", to_string(b.bound)}, {"before_s", b.before_s}, {"after_s", b.after_s}});
  }
  return {{"base", base.label},
          {"point", point.label},
          {"comparable", c.comparable},
          {"time_ratio", c.comparable ? Json(c.time_ratio) : Json(nullptr)},
          {"binding_before", c.comparable ? Json(to_string(c.binding_before)) : Json(nullptr)},
          {"binding_after", c.comparable ? Json(to_string(c.binding_after)) : Json(nullptr)},
          {"bounds", bounds},
          {"why", c.sentence}};
}

}  // namespace

std::string whatif_json(const WhatifAnswer& a) {
  Json result;
  const WhatifPoint& base = a.points.front();
  result["kernel"] = a.kernel->name();
  result["shape"] =
      Json::parse(parameters_json(*a.kernel, base.run.parameters, ParameterRole::shape));
  result["l2"] = a.options.l2 == L2State::warm ? "warm" : "cold";
  result["points"] = Json::array();
  result["comparisons"] = Json::array();
  for (const WhatifPoint& p : a.points) {
    Json point;
    point["label"] = p.label;
    point["gpu"] = p.gpu.gpu.name;
    point["overrides"] = Json::array();
    for (const AppliedOverride& o : p.gpu.context.overrides) {
      point["overrides"].push_back({{"path", o.path}, {"before", o.before}, {"after", o.after}});
    }
    point["shape"] =
        Json::parse(parameters_json(*a.kernel, p.run.parameters, ParameterRole::shape));
    point.update(Json::parse(kernel_run_json(*a.kernel, p.run, p.gpu.gpu)));
    point["no_time_because"] =
        p.run.no_time_because.empty() ? Json(nullptr) : Json(p.run.no_time_because);
    result["points"].push_back(std::move(point));
    if (&p != &base) result["comparisons"].push_back(comparison_json(base, p));
  }
  return result.dump();
}

void write_whatif_csv(std::ostream& out, const WhatifAnswer& a) {
  std::vector<std::string> header = kernel_run_csv_header();
  header.insert(header.begin(), "label");
  header.emplace_back("time_ratio");
  write_csv_row(out, header);
  for (const WhatifPoint& p : a.points) {
    std::vector<std::string> cells = kernel_run_csv_cells(p.run, p.gpu.gpu);
    cells.insert(cells.begin(), p.label);
    cells.push_back(p.against_base.comparable ? csv_number(p.against_base.time_ratio) : "");
    write_csv_row(out, cells);
  }
}

}  // namespace smtwin
