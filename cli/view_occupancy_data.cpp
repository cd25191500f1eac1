// SPDX-License-Identifier: Apache-2.0
// The occupancy answer for programs: JSON and one CSV row. Names are those of the C++ structs.
#include <nlohmann/json.hpp>

#include <ostream>

#include "cli/kernel_choice.hpp"
#include "cli/occupancy_answer.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

Json limit_json(std::int32_t limit) { return limit == kUnlimited ? Json(nullptr) : Json(limit); }

std::vector<std::string> names(const std::vector<Limiter>& limiters) {
  std::vector<std::string> texts;
  for (const Limiter l : limiters) texts.emplace_back(to_string(l));
  return texts;
}

Json step_json(const NextStep& step) {
  Json needs = Json::array();
  for (const Need& need : step.needs) {
    // A limit on warps is given in what a launch sets: threads.
    const std::string resource = need.resource == Limiter::warps
                                     ? std::string("threads_per_cta")
                                     : std::string(to_string(need.resource));
    needs.push_back(
        {{"resource", resource}, {"at_most", need.at_most}, {"reduce_by", need.reduce_by}});
  }
  return {{"ctas_per_sm", step.ctas},
          {"theoretical_occupancy", step.theoretical_occupancy},
          {"needs", needs},
          {"text", describe(step)}};
}

}  // namespace

std::string occupancy_json(const OccupancyAnswer& a) {
  const Residency& r = a.residency;
  const SmSpec& sm = a.gpu.sm;
  const KernelResources& k = a.kernel;
  Json result;
  result["verdict"] = to_string(r.verdict);
  const std::string refusal = describe_refusal(a.gpu, k, r);
  result["reason"] = refusal.empty() ? Json(nullptr) : Json(refusal);
  result["launches"] = r.verdict == LaunchVerdict::launches;
  result["ctas_per_sm"] = r.ctas_per_sm;
  result["limiters"] = names(r.limiters.members());
  result["resident_warps"] = r.resident_warps;
  result["max_warps_per_sm"] = sm.max_warps_per_sm;
  result["theoretical_occupancy"] = r.theoretical_occupancy;
  result["limits"] = {{"shared_memory", limit_json(r.limits.shared_memory)},
                      {"registers", limit_json(r.limits.registers)},
                      {"warps", limit_json(r.limits.warps)},
                      {"cta_slots", limit_json(r.limits.cta_slots)},
                      {"barriers", limit_json(r.limits.barriers)},
                      {"virtual_resources", limit_json(r.limits.virtual_resources)}};
  if (a.instance) {
    result["kernel"] = {{"name", a.instance->kernel},
                        {"config", a.instance->config},
                        {"shared_formula", a.instance->shared_formula},
                        {"shared_provenance", to_string(a.instance->shared_provenance)},
                        {"registers_source", a.instance->registers_source},
                        {"registers_provenance", to_string(a.instance->registers_provenance)}};
  }
  result["cta"] = {{"threads", k.threads_per_cta},
                   {"warps", r.warps_per_cta},
                   {"registers_per_thread", k.registers_per_thread},
                   {"registers_per_warp", r.registers_per_warp},
                   {"registers", r.registers_per_cta},
                   {"static_shared_bytes", k.static_shared_bytes},
                   {"dynamic_shared_bytes", k.dynamic_shared_bytes},
                   {"shared_bytes_requested", r.shared_bytes_requested},
                   {"shared_bytes_allocated", r.shared_bytes_allocated},
                   {"barriers", k.barriers_per_cta},
                   {"max_threads_at_these_registers", r.max_threads_at_these_registers},
                   {"max_threads_keeping_ctas", r.max_threads_keeping_ctas}};
  result["shared_memory"] = {{"limit_bytes", shared_limit_per_cta(sm, k)},
                             {"opt_in_limit_bytes", sm.shared_bytes_per_cta_optin},
                             {"over_limit_bytes", r.shared_bytes_over_limit},
                             {"opt_in_required", r.shared_opt_in_required},
                             {"carveout_bytes", r.carveout_bytes},
                             {"carveout_smallest_bytes", r.carveout_smallest_bytes},
                             {"l1_bytes", r.l1_bytes}};
  result["free"] = {{"shared_bytes", r.free_shared_bytes},
                    {"registers", r.free_registers},
                    {"warps", r.free_warps},
                    {"cta_slots", r.free_cta_slots}};
  result["warps_per_partition"] = {{"busiest", r.warps_per_partition_busiest},
                                   {"idlest", r.warps_per_partition_idlest}};
  result["next_steps"] = Json::array();
  for (const NextStep& step : a.steps) result["next_steps"].push_back(step_json(step));
  if (r.cluster.applies) {
    result["cluster"] = {{"ctas", k.cluster_ctas},
                         {"portable", r.cluster.portable},
                         {"max_portable_ctas", sm.max_cluster_ctas_portable},
                         {"max_active_clusters", r.cluster.max_active_clusters},
                         {"bound_reason", r.cluster.reason}};
  }
  result["notes"] = a.notes;
  result["provenance"] = to_string(a.provenance);
  return result.dump();
}

void write_occupancy_csv(std::ostream& out, const OccupancyAnswer& a) {
  const KernelResources& k = a.kernel;
  write_csv(
      out, {.header = {"gpu", "threads", "regs", "static_smem", "dyn_smem", "carveout",
                       "ctas_per_sm", "limiters", "theoretical_occupancy", "verdict"},
            .rows = {{a.gpu.name, std::to_string(k.threads_per_cta),
                      std::to_string(k.registers_per_thread), std::to_string(k.static_shared_bytes),
                      std::to_string(k.dynamic_shared_bytes), std::to_string(k.carveout_percent),
                      std::to_string(a.residency.ctas_per_sm),
                      join(names(a.residency.limiters.members()), "+"),
                      csv_number(a.residency.theoretical_occupancy),
                      std::string(to_string(a.residency.verdict))}}});
}

}  // namespace smtwin
