// SPDX-License-Identifier: Apache-2.0
// The fit answer for programs.
#include <nlohmann/json.hpp>

#include <ostream>

#include "cli/fit_answer.hpp"
#include "cli/view_kernel_run.hpp"

namespace smtwin {

std::string fit_json(const FitAnswer& a) {
  using Json = nlohmann::ordered_json;
  Json entries = Json::array();
  Json picked = nullptr;
  for (const FitEntry& entry : a.entries) {
    Json item = Json::parse(kernel_run_json(*a.kernel, entry.run, a.gpu.gpu));
    item["rank"] = entry.rank > 0 ? Json(entry.rank) : Json(nullptr);
    item["picked"] = entry.picked;
    item["picked_because"] = entry.picked ? Json(entry.picked_because) : Json(nullptr);
    if (entry.picked) picked = entry.run.instance.config;
    entries.push_back(std::move(item));
  }
  Json also = Json::array();
  for (const KernelRun& run : a.also_fit) {
    also.push_back(Json::parse(kernel_run_json(*a.kernel, run, a.gpu.gpu)));
  }
  Json result;
  result["kernel"] = a.kernel->name();
  result["shape"] = Json::parse(parameters_json(*a.kernel, a.shapes, ParameterRole::shape));
  result["target"] = Json::parse(parameters_json(*a.kernel, a.shapes, ParameterRole::target));
  result["l2"] = a.options.l2 == L2State::warm ? "warm" : "cold";
  result["entries"] = std::move(entries);
  result["autotuner"] = {{"from_list", a.from_list}, {"entries", a.entries.size()},
                         {"fit", a.fitting},         {"pruned", a.entries.size() - a.fitting},
                         {"picked", picked},         {"sentences", a.sentences}};
  result["also_fit"] = std::move(also);
  result["no_time_because"] = a.no_time_because.empty() ? Json(nullptr) : Json(a.no_time_because);
  return result.dump();
}

void write_fit_csv(std::ostream& out, const FitAnswer& a) {
  std::vector<std::string> header = kernel_run_csv_header();
  header.insert(header.end(), {"rank", "picked"});
  write_csv_row(out, header);
  for (const FitEntry& entry : a.entries) {
    std::vector<std::string> cells = kernel_run_csv_cells(entry.run, a.gpu.gpu);
    cells.push_back(entry.rank > 0 ? std::to_string(entry.rank) : "");
    cells.push_back(entry.picked_because);
    write_csv_row(out, cells);
  }
}

}  // namespace smtwin
