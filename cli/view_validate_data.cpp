// SPDX-License-Identifier: Apache-2.0
// Validation scores for programs.
#include <nlohmann/json.hpp>

#include <ostream>

#include "cli/report.hpp"
#include "cli/validate_views.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::string occupancy_score_json(const OccupancyScore& s) {
  Json result = {{"table", "occupancy"},
                 {"rows", s.rows},
                 {"compared", s.compared()},
                 {"skipped", s.skipped},
                 {"mismatches", s.mismatches},
                 {"measured_rows", s.measured_rows},
                 {"measured_mismatches", s.measured_mismatches},
                 {"agrees", s.agrees()}};
  result["skipped_reason"] = s.skipped_reason.empty() ? Json(nullptr) : Json(s.skipped_reason);
  result["first_differences"] = Json::array();
  for (const OccupancyDifference& d : s.first_differences) {
    const KernelResources& k = d.row.kernel;
    Json limiters = Json::array();
    for (const Limiter l : d.predicted.limiters.members()) limiters.push_back(to_string(l));
    result["first_differences"].push_back(
        {{"line", d.row.line},
         {"threads", k.threads_per_cta},
         {"regs", k.registers_per_thread},
         {"static_smem", k.static_shared_bytes},
         {"dyn_smem", k.dynamic_shared_bytes},
         {"carveout", k.carveout_percent},
         {"api_blocks", d.row.api_ctas},
         {"measured_blocks", d.row.measured_ctas ? Json(*d.row.measured_ctas) : Json(nullptr)},
         {"predicted_ctas_per_sm", d.predicted.ctas_per_sm},
         {"limiters", limiters}});
  }
  return result.dump();
}

void write_occupancy_score_csv(std::ostream& out, const OccupancyScore& s) {
  write_csv(out, {.header = {"table", "rows", "skipped", "mismatches", "measured_rows",
                             "measured_mismatches"},
                  .rows = {{"occupancy", std::to_string(s.rows), std::to_string(s.skipped),
                            std::to_string(s.mismatches), std::to_string(s.measured_rows),
                            std::to_string(s.measured_mismatches)}}});
}

std::string compiled_score_json(const CompiledScore& s) {
  Json result = {{"table", "compiled"},
                 {"rows", s.rows},
                 {"compared", s.compared()},
                 {"skipped", s.skipped},
                 {"mismatches", s.mismatches},
                 {"agrees", s.agrees()},
                 {"compared_kernels", s.compared_kernels},
                 {"skipped_kernels", s.skipped_kernels}};
  result["registers"] = {{"rows", s.register_rows},
                         {"error_median", optional_json(s.register_error_median)},
                         {"error_p90", optional_json(s.register_error_p90)}};
  result["first_mismatches"] = Json::array();
  for (const CompiledMismatch& m : s.first_mismatches) {
    Json quantities = Json::array();
    for (const CompiledQuantity& q : m.quantities) {
      quantities.push_back({{"name", q.name},
                            {"expected", q.expected},
                            {"computed", q.computed},
                            {"agrees", q.agrees()}});
    }
    result["first_mismatches"].push_back({{"line", m.line},
                                          {"kernel", m.kernel},
                                          {"architecture", m.architecture},
                                          {"config", m.config},
                                          {"quantities", quantities},
                                          {"shared_formula", m.shared_formula},
                                          {"row", m.cells}});
  }
  return result.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write_compiled_score_csv(std::ostream& out, const CompiledScore& s) {
  write_csv(out, {.header = {"table", "rows", "skipped", "mismatches"},
                  .rows = {{"compiled", std::to_string(s.rows), std::to_string(s.skipped),
                            std::to_string(s.mismatches)}}});
}

}  // namespace smtwin
