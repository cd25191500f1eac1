// SPDX-License-Identifier: Apache-2.0
// The probe readings of a run: what this GPU's memories, pipes and launches reached. DRAM rates
// over the bytes in flight show Little's law.
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/report.hpp"
#include "cli/run_answer.hpp"

namespace smtwin {
namespace {

std::string parameters_text(const ProbeReading& reading) {
  std::string text;
  for (const auto& [name, value] : reading.parameters) {
    text += (text.empty() ? "" : ", ") + name + " " + format_number(value, 6);
  }
  return text.empty() ? "-" : text;
}

}  // namespace

void print_run_probes(std::ostream& out, const RunAnswer& a) {
  print_wrapped(out, "run",
                (a.run.gpu.name.empty() ? a.run.gpu.reported : a.run.gpu.name) + ", driver " +
                    a.run.gpu.driver + ", " + a.run.date);
  print_wrapped(out, "spread", "(p90 - p10) / median of its samples");
  out << '\n';
  TextTable table({{"probe", Align::left}, {"value"}, {"spread"}, {"at", Align::left}});
  for (const ProbeReading& r : a.run.probes) {
    table.add_row({r.probe, format_quantity(r.value, r.unit == "1" ? "" : r.unit),
                   format_percent(r.spread), parameters_text(r)});
  }
  table.print(out);
}

std::string run_probes_json(const RunAnswer& a) {
  using Json = nlohmann::ordered_json;
  Json probes = Json::array();
  for (const ProbeReading& r : a.run.probes) {
    probes.push_back({{"probe", r.probe},
                      {"parameters", r.parameters},
                      {"value", r.value},
                      {"unit", r.unit},
                      {"spread", r.spread},
                      {"samples", r.samples}});
  }
  return Json{{"gpu", a.run.gpu.name}, {"date", a.run.date}, {"probes", probes}}.dump();
}

void write_run_probes_csv(std::ostream& out, const RunAnswer& a) {
  CsvTable table{{"probe", "parameters", "value", "unit", "spread", "samples"}, {}};
  for (const ProbeReading& r : a.run.probes) {
    table.rows.push_back({r.probe, parameters_text(r), csv_number(r.value), r.unit,
                          csv_number(r.spread), std::to_string(r.samples)});
  }
  write_csv(out, table);
}

}  // namespace smtwin
