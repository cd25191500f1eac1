// SPDX-License-Identifier: Apache-2.0
#include "cli/view_kernel_run.hpp"

#include <nlohmann/json.hpp>

#include "cli/report.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> limiter_names(const Residency& r) {
  std::vector<std::string> names;
  for (const Limiter l : r.limiters.members()) names.emplace_back(to_string(l));
  return names;
}

Json parameters_object(const KernelDescriptor& kernel, const Parameters& parameters,
                       ParameterRole role) {
  Json object = Json::object();
  for (const ParameterSpec& p : kernel.parameters()) {
    if (p.role != role) continue;
    const std::int64_t value = parameters.at(p.name);
    object[p.name] = p.choices.empty() ? Json(value) : Json(format_parameter(p, value));
  }
  return object;
}

Json time_object(const KernelTime& t) {
  Json bounds = Json::array();
  for (const BoundTime& b : t.bounds) {
    bounds.push_back({{"bound", to_string(b.bound)},
                      {"seconds", b.seconds},
                      {"equation", b.equation},
                      {"provenance", to_string(b.provenance)}});
  }
  return {{"seconds", t.seconds},
          {"binding", to_string(t.binding)},
          {"provenance", to_string(t.provenance)},
          {"interval_s", t.interval ? Json{t.interval->low_s, t.interval->high_s} : Json(nullptr)},
          {"bounds", bounds},
          {"dram_bytes", t.dram_bytes},
          {"l2_bytes", t.l2_bytes},
          {"l2_hit", t.l2_hit},
          {"bytes_in_flight", t.bytes_in_flight},
          {"bytes_in_flight_for_dram_peak", t.bytes_in_flight_for_dram_peak},
          {"assumptions", t.assumptions}};
}

Json waves_object(const Waves& w) {
  return {{"ctas", w.ctas},
          {"slots", w.slots},
          {"waves", w.waves},
          {"full_waves", w.full_waves},
          {"tail_ctas", w.tail_ctas},
          {"tail_fill", w.tail_fill},
          {"efficiency", w.efficiency}};
}

}  // namespace

std::string parameters_json(const KernelDescriptor& kernel, const Parameters& parameters,
                            ParameterRole role) {
  return parameters_object(kernel, parameters, role).dump();
}

std::string kernel_run_json(const KernelDescriptor& kernel, const KernelRun& run,
                            const GpuSpec& gpu) {
  const KernelInstance& k = run.instance;
  const Residency& r = run.residency;
  Json object;
  object["config"] = k.config;
  object["parameters"] = parameters_object(kernel, run.parameters, ParameterRole::config);
  object["fits"] = run.fits();
  object["verdict"] = k.impossible.empty() ? std::string(to_string(r.verdict)) : "impossible";
  const std::string reason = describe_refusal(run, gpu);
  object["reason"] = reason.empty() ? Json(nullptr) : Json(reason);
  object["shared_bytes"] = r.shared_bytes_requested;
  object["shared_bytes_over_limit"] = r.shared_bytes_over_limit;
  object["shared_formula"] = k.shared_formula;
  object["shared_provenance"] = to_string(k.shared_provenance);
  object["threads_per_cta"] = k.resources.threads_per_cta;
  object["registers_per_thread"] = k.resources.registers_per_thread;
  object["registers_provenance"] = to_string(k.registers_provenance);
  object["registers_source"] = k.registers_source;
  object["ctas_per_sm"] = run.fits() ? r.ctas_per_sm : 0;
  object["limiters"] = limiter_names(r);
  object["resident_warps"] = r.resident_warps;
  object["theoretical_occupancy"] = r.theoretical_occupancy;
  object["grid"] = {{"x", k.grid.x},
                    {"y", k.grid.y},
                    {"z", k.grid.z},
                    {"formula", k.grid.formula},
                    {"ctas", k.grid.ctas()}};
  object["unique_read_bytes"] = k.unique_read_bytes;
  object["unique_write_bytes"] = k.unique_write_bytes;
  object["requested_read_bytes"] = k.requested_read_bytes();
  object["useful_flops"] = k.useful_flops;
  object["issued_math_flops"] = k.issued_math_flops();
  Json facts = Json::array();
  for (const Fact& f : k.facts) {
    facts.push_back(
        {{"name", f.name}, {"value", f.value}, {"unit", f.unit}, {"meaning", f.meaning}});
  }
  object["facts"] = std::move(facts);
  if (run.has_time()) {
    object["waves"] = waves_object(run.time->waves);
    object["predicted"] = time_object(*run.time);
    if (run.fitted) object["predicted"]["family"] = run.fitted->family;
  } else {
    object["predicted"] = nullptr;
  }
  object["assumptions"] = k.assumptions;
  return object.dump();
}

std::vector<std::string> kernel_run_csv_header() {
  return {"gpu",
          "kernel",
          "config",
          "fits",
          "verdict",
          "shared_bytes",
          "shared_bytes_over_limit",
          "shared_provenance",
          "threads_per_cta",
          "registers_per_thread",
          "registers_provenance",
          "ctas_per_sm",
          "limiters",
          "theoretical_occupancy",
          "grid_ctas",
          "waves",
          "tail_fill",
          "unique_read_bytes",
          "useful_flops",
          "predicted_s",
          "binding",
          "predicted_provenance",
          "predicted_low_s",
          "predicted_high_s"};
}

std::vector<std::string> kernel_run_csv_cells(const KernelRun& run, const GpuSpec& gpu) {
  const KernelInstance& k = run.instance;
  const Residency& r = run.residency;
  const bool timed = run.has_time();
  return {gpu.name,
          k.kernel,
          k.config,
          run.fits() ? "1" : "0",
          k.impossible.empty() ? std::string(to_string(r.verdict)) : "impossible",
          std::to_string(r.shared_bytes_requested),
          std::to_string(r.shared_bytes_over_limit),
          std::string(to_string(k.shared_provenance)),
          std::to_string(k.resources.threads_per_cta),
          std::to_string(k.resources.registers_per_thread),
          std::string(to_string(k.registers_provenance)),
          std::to_string(run.fits() ? r.ctas_per_sm : 0),
          join(limiter_names(r), "+"),
          csv_number(r.theoretical_occupancy),
          std::to_string(k.grid.ctas()),
          timed ? csv_number(run.time->waves.waves) : "",
          timed ? csv_number(run.time->waves.tail_fill) : "",
          csv_number(k.unique_read_bytes),
          csv_number(k.useful_flops),
          timed ? csv_number(run.time->seconds) : "",
          timed ? std::string(to_string(run.time->binding)) : "",
          timed ? std::string(to_string(run.time->provenance)) : "",
          timed && run.time->interval ? csv_number(run.time->interval->low_s) : "",
          timed && run.time->interval ? csv_number(run.time->interval->high_s) : ""};
}

}  // namespace smtwin
