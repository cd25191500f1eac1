// SPDX-License-Identifier: Apache-2.0
// The predict report: what is resident, how the grid fills the GPU, the time, and what each bound
// alone would take; --explain adds the equations and every assumption.
#include <nlohmann/json.hpp>

#include <ostream>

#include "cli/kernel_choice.hpp"
#include "cli/predict_answer.hpp"
#include "cli/view_kernel_run.hpp"

namespace smtwin {
namespace {

std::string paren(Provenance p) { return " (" + std::string(to_string(p)) + ")"; }

void print_setting(std::ostream& out, const PredictAnswer& a) {
  const GpuSpec& gpu = a.gpu.gpu;
  const KernelInstance& k = a.run.instance;
  const Residency& r = a.run.residency;
  print_wrapped(out, k.kernel,
                describe_parameters(*a.kernel, a.run.parameters, ParameterRole::shape) + " on " +
                    gpu.display_name + ", " + architecture_name(gpu.compute_capability));
  print_wrapped(out, "config",
                k.config + ": " + format_bytes(r.shared_bytes_requested) + " of shared memory" +
                    paren(k.shared_provenance) + ", " +
                    format_count(k.resources.registers_per_thread) + " registers" +
                    paren(k.registers_provenance) + ", " +
                    format_count(k.resources.threads_per_cta) + " threads");
  const std::string refusal = describe_refusal(a.run, gpu);
  if (!refusal.empty()) {
    print_wrapped(out, "does not run", refusal);
    return;
  }
  print_wrapped(out, "resident",
                format_count(r.ctas_per_sm) + (r.ctas_per_sm == 1 ? " CTA" : " CTAs") + " = " +
                    format_count(r.resident_warps) + " of " +
                    format_count(gpu.sm.max_warps_per_sm) + " warps, " +
                    format_percent(r.theoretical_occupancy) + ", limited by " + label(r.limiters));
}

void print_time(std::ostream& out, const PredictAnswer& a) {
  const KernelTime& t = *a.run.time;
  const KernelInstance& k = a.run.instance;
  const Waves& w = t.waves;
  print_wrapped(out, "grid",
                k.grid.formula + " = " + format_count(w.ctas) + " CTAs, " + format_number(w.waves) +
                    " waves of " + format_count(w.slots) + "; the last wave fills " +
                    format_percent(w.tail_fill) + " of the SMs");
  print_wrapped(out, "memory",
                "DRAM moves " + format_size(t.dram_bytes) + ", the L2 " + format_size(t.l2_bytes) +
                    " and serves " + format_percent(t.l2_hit) + " of the reads; in flight " +
                    format_size(t.bytes_in_flight) + ", the DRAM peak needs " +
                    format_size(t.bytes_in_flight_for_dram_peak));
  print_wrapped(out, "predicted",
                format_time(t.seconds) + ", bound by " + label(t.binding) + "; " +
                    describe(a.options) + "; " + describe_interval(a.run) +
                    "; weakest input: " + std::string(to_string(t.provenance)));
}

void print_bounds(std::ostream& out, const KernelTime& t, bool explain) {
  std::vector<Column> columns{
      {"bound", Align::left}, {"alone"}, {"of the time"}, {"weakest input", Align::left}};
  if (explain) columns.push_back({"equation", Align::left});
  TextTable table(std::move(columns));
  for (const BoundTime& b : t.bounds) {
    std::vector<std::string> cells{label(b.bound) + (b.bound == t.binding ? " <- binds" : ""),
                                   format_time(b.seconds), format_percent(b.seconds / t.seconds),
                                   std::string(to_string(b.provenance))};
    if (explain) cells.push_back(b.equation);
    table.add_row(std::move(cells));
  }
  table.print(out);
}

}  // namespace

void print_predict(std::ostream& out, const PredictAnswer& a, bool explain) {
  print_setting(out, a);
  if (a.run.has_time()) {
    print_time(out, a);
    print_bounds(out, *a.run.time, explain);
    print_wrapped(out, "how they add",
                  "launch + the sum over waves of the slowest bound; `--explain` works each one "
                  "and lists what is assumed");
  }
  if (explain) {
    print_wrapped(out, "shared bytes", a.run.instance.shared_formula);
    print_wrapped(out, "registers", a.run.instance.registers_source);
    for (const Fact& f : a.run.instance.facts) {
      print_wrapped(out, "fact",
                    f.name + " = " + format_quantity(f.value, f.unit) + ": " + f.meaning);
    }
    for (const std::string& text : a.run.instance.assumptions) print_wrapped(out, "assumed", text);
    if (a.run.has_time()) {
      for (const std::string& text : a.run.time->assumptions) print_wrapped(out, "assumed", text);
    }
  }
  print_overrides(out, a.gpu.context.overrides);
}

std::string predict_json(const PredictAnswer& a) {
  using Json = nlohmann::ordered_json;
  Json result;
  result["kernel"] = a.kernel->name();
  result["shape"] = Json::parse(parameters_json(*a.kernel, a.run.parameters, ParameterRole::shape));
  result["target"] =
      Json::parse(parameters_json(*a.kernel, a.run.parameters, ParameterRole::target));
  result["l2"] = a.options.l2 == L2State::warm ? "warm" : "cold";
  result["launch"] = a.options.launch == LaunchMode::stream ? "stream" : "graph";
  result.update(Json::parse(kernel_run_json(*a.kernel, a.run, a.gpu.gpu)));
  return result.dump();
}

void write_predict_csv(std::ostream& out, const PredictAnswer& a) {
  std::vector<std::string> header = kernel_run_csv_header();
  header.insert(header.end(), {"bound", "bound_s", "bound_provenance"});
  write_csv_row(out, header);
  const std::vector<std::string> run = kernel_run_csv_cells(a.run, a.gpu.gpu);
  const std::vector<BoundTime> bounds =
      a.run.has_time() ? a.run.time->bounds : std::vector<BoundTime>{};
  for (const BoundTime& b : bounds) {
    std::vector<std::string> cells = run;
    cells.insert(cells.end(), {std::string(to_string(b.bound)), csv_number(b.seconds),
                               std::string(to_string(b.provenance))});
    write_csv_row(out, cells);
  }
  if (bounds.empty()) {
    std::vector<std::string> cells = run;
    cells.resize(header.size());
    write_csv_row(out, cells);
  }
}

}  // namespace smtwin
