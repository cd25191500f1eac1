// SPDX-License-Identifier: Apache-2.0
// A run for programs: JSON with everything, CSV with one row a reading.
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/report.hpp"
#include "cli/run_answer.hpp"
#include "validate/runs/reading_io.hpp"
#include "validate/runs/run_readings.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

Json finite(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }
Json known(double x) { return x > 0 ? Json(x) : Json(nullptr); }
template <typename Number>
Json optional(const std::optional<Number>& x) {
  return x ? Json(*x) : Json(nullptr);
}

Json function_json(const FunctionScore& f) {
  const FunctionReading& r = *f.reading;
  return {{"kernel", r.kernel},
          {"config", f.config},
          {"symbol", r.symbol},
          {"predicted_ctas_per_sm", optional(f.predicted_ctas_per_sm)},
          {"driver_ctas_per_sm", r.driver_ctas_per_sm},
          {"seen_ctas_per_sm", r.seen_ctas_per_sm < 0 ? Json(nullptr) : Json(r.seen_ctas_per_sm)},
          {"compiled_registers", optional(f.compiled_registers)},
          {"driver_registers", r.registers_per_thread},
          {"predicted_shared_bytes", optional(f.predicted_shared_bytes)},
          {"shared_bytes", r.dynamic_shared_bytes + r.static_shared_bytes},
          {"local_bytes", r.local_bytes},
          {"differs", f.differs()}};
}

Json family_json(const RunFamilyScore& f) {
  return {{"name", f.name},
          {"constants", f.fitted ? "fitted" : "assumed"},
          {"rows", f.errors.rows},
          {"shapes", f.scored_shapes},
          {"median_error", finite(f.errors.median_error)},
          {"mean_error", finite(f.errors.mean_error)},
          {"p90_error", finite(f.errors.p90_error)},
          {"bias", finite(f.errors.bias)},
          {"spearman", finite(f.errors.spearman)},
          {"interval_coverage", f.fitted ? Json(f.interval_coverage) : Json(nullptr)},
          {"good_picks", f.good_picks},
          {"judged_picks", f.judged_picks}};
}

Json predicted_json(const PointReport* point) {
  return point != nullptr && point->point != nullptr ? Json(point->point->predicted_s)
                                                     : Json(nullptr);
}

Json shape_json(const ShapeReport& s) {
  Json peers = Json::array();
  for (const PeerTime& peer : s.peers) {
    peers.push_back({{"name", peer.name}, {"config", peer.config}, {"measured_s", peer.seconds}});
  }
  Json picked = nullptr;
  if (s.picked != nullptr) {
    picked = {{"config", s.picked->config},
              {"predicted_s", predicted_json(s.picked)},
              {"measured_s", s.picked->reading->seconds},
              {"costs", s.picked_costs()}};
  }
  return {{"kernel", s.kernel},
          {"shape", s.shape},
          {"configs", s.configs},
          {"fastest", s.best->config},
          {"measured_s", s.best->reading->seconds},
          {"predicted_s", predicted_json(s.best)},
          {"floor_s", known(s.floor_s)},
          {"floor_ratio", known(s.floor_s / s.best->reading->seconds)},
          {"picked", picked},
          {"peers", peers}};
}

Json point_json(const PointReport& p) {
  Json json = Json::parse(write_reading(*p.reading));
  json["config_text"] = p.config;
  json["predicted_s"] = predicted_json(&p);
  json["interval_s"] = p.point != nullptr
                           ? Json({p.point->interval.low_s, p.point->interval.high_s})
                           : Json(nullptr);
  json["regime"] = p.point != nullptr ? Json(to_string(p.point->regime)) : Json(nullptr);
  return json;
}

}  // namespace

std::string run_json(const RunAnswer& a) {
  Json result = {{"table", "run"},
                 {"gpu", Json::parse(write_reading(a.run.gpu))},
                 {"date", a.run.date},
                 {"method", a.run.method},
                 {"note", a.run.note},
                 {"profile", a.profile},
                 {"calibrate_share", a.calibrate_share},
                 {"stopped", a.stopped},
                 {"outside", a.outside()}};
  if (a.report == nullptr) return result.dump();
  const RunReport& report = *a.report;
  if (a.checked_results > 0) result["checked_results"] = a.checked_results;
  result["wrong_results"] = report.wrong_results + a.wrong_results;
  result["checked"] = report.checked;
  result["floor"] = {{"dram_bytes_per_s", known(report.dram_bytes_per_s)},
                     {"bf16_flops_per_s", known(report.math_flops_per_s)},
                     {"source", report.rates_source}};
  for (const char* key : {"families", "functions", "shapes", "points", "worst"}) {
    result[key] = Json::array();
  }
  for (const RunFamilyScore& f : report.times.families)
    result["families"].push_back(family_json(f));
  for (const FunctionScore& f : report.functions) result["functions"].push_back(function_json(f));
  for (const ShapeReport& s : report.shapes) result["shapes"].push_back(shape_json(s));
  for (const PointReport& p : report.points) result["points"].push_back(point_json(p));
  for (const PointReport* p : worst_points(report, a.worst)) {
    result["worst"].push_back(point_json(*p));
  }
  result["left_out"] = report.times.left_out;
  return result.dump();
}

void write_run_csv(std::ostream& out, const RunAnswer& a) {
  CsvTable table{.header = {"kernel", "peer", "config", "shape", "cache", "measured_s", "p10_s",
                            "p90_s", "samples", "medians", "predicted_s", "low_s", "high_s",
                            "regime", "relative_error", "sm_clock_hz"},
                 .rows = {}};
  if (a.report != nullptr) {
    for (const PointReport& p : a.report->points) {
      const TimeReading& t = *p.reading;
      const RunPoint* point = p.point;
      table.rows.push_back({t.kernel, t.peer ? "1" : "0", p.config, plain_text(t.shape),
                            t.cache == SampleCache::cold ? "cold" : "warm", csv_number(t.seconds),
                            csv_number(t.p10_s), csv_number(t.p90_s), std::to_string(t.samples),
                            std::to_string(t.medians), point ? csv_number(point->predicted_s) : "",
                            point ? csv_number(point->interval.low_s) : "",
                            point ? csv_number(point->interval.high_s) : "",
                            point ? std::string(to_string(point->regime)) : "",
                            csv_number(t.relative_error), csv_number(t.sm_clock_hz)});
    }
  }
  write_csv(out, table);
}

}  // namespace smtwin
