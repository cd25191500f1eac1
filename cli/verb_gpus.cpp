// SPDX-License-Identifier: Apache-2.0
// smtwin gpus [NAME]: the GPUs that are known, or one of them with every number, its unit and
// where it comes from.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <ostream>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "cli/settings.hpp"
#include "cli/verb.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string cc_text(const GpuSpec& gpu) {
  return std::to_string(gpu.compute_capability.major) + '.' +
         std::to_string(gpu.compute_capability.minor);
}

// Every name begins with the vendor's: left out where the line is short.
std::string short_name(const GpuSpec& gpu) {
  const std::string vendor = "NVIDIA ";
  return gpu.display_name.rfind(vendor, 0) == 0 ? gpu.display_name.substr(vendor.size())
                                                : gpu.display_name;
}

void print_list(std::ostream& out, const std::vector<GpuSpec>& gpus) {
  TextTable table({{"name", Align::left},
                   {"cc"},
                   {"SMs"},
                   {"shared/SM"},
                   {"L2"},
                   {"DRAM"},
                   {"bandwidth"},
                   {"", Align::left}});
  const auto or_dash = [](const auto& value, auto format) {
    return value ? format(*value) : std::string("-");
  };
  for (const GpuSpec& g : gpus) {
    table.add_row({g.name, cc_text(g), or_dash(g.sm_count, format_count),
                   format_bytes(g.sm.shared_bytes_per_sm), or_dash(g.l2_bytes, format_size),
                   or_dash(g.dram_bytes, format_size),
                   or_dash(g.dram_bytes_per_s, format_bandwidth), short_name(g)});
  }
  table.print(out);
  print_wrapped(out, "note",
                "- is not known. `smtwin gpus NAME` shows every number with its source; --gpu also "
                "takes marketing names and JSON files");
}

Json list_json(const std::vector<GpuSpec>& gpus) {
  Json list = Json::array();
  for (const GpuSpec& g : gpus) {
    list.push_back({{"name", g.name},
                    {"display_name", g.display_name},
                    {"compute_capability", cc_text(g)},
                    {"sm_count", optional_json(g.sm_count)},
                    {"shared_bytes_per_sm", g.sm.shared_bytes_per_sm},
                    {"l2_bytes", optional_json(g.l2_bytes)},
                    {"dram_bytes", optional_json(g.dram_bytes)},
                    {"dram_bytes_per_s", optional_json(g.dram_bytes_per_s)}});
  }
  return list;
}

CsvTable list_csv(const std::vector<GpuSpec>& gpus) {
  CsvTable csv{.header = {"name", "display_name", "compute_capability", "sm_count",
                          "shared_bytes_per_sm", "l2_bytes", "dram_bytes", "dram_bytes_per_s"},
               .rows = {}};
  const auto number = [](const auto& value) {
    return value ? csv_number(static_cast<double>(*value)) : std::string();
  };
  for (const GpuSpec& g : gpus) {
    csv.rows.push_back({g.name, g.display_name, cc_text(g), number(g.sm_count),
                        std::to_string(g.sm.shared_bytes_per_sm), number(g.l2_bytes),
                        number(g.dram_bytes), number(g.dram_bytes_per_s)});
  }
  return csv;
}

Answer answer_list() {
  const auto gpus = std::make_shared<std::vector<GpuSpec>>();
  for (const std::string& name : gpu_names()) gpus->push_back(find_gpu(name));
  return {.context = {},
          .exit_code = 0,
          .table = [gpus](std::ostream& out) { print_list(out, *gpus); },
          .json = [gpus] { return list_json(*gpus).dump(); },
          .csv = [gpus](std::ostream& out) { write_csv(out, list_csv(*gpus)); }};
}

void print_one(std::ostream& out, const GpuChoice& choice) {
  const GpuSpec& g = choice.gpu;
  out << g.display_name << "   " << g.name << ", " << architecture_name(g.compute_capability)
      << '\n';
  print_wrapped(out, "file", choice.context.gpu_file);
  if (!g.aliases.empty()) print_wrapped(out, "also called", join(g.aliases, ", "));
  TextTable table({{"field", Align::left},
                   {"value", Align::left},
                   {"known from", Align::left},
                   {"source", Align::left}});
  for (const FieldInfo& f : describe_fields(g)) {
    std::string source = f.source.source;
    if (!f.source.note.empty()) source += " (" + f.source.note + ")";
    std::string value = f.value;
    if (value.find(',') != std::string::npos) {  // a list: too wide for its column
      source = value + " " + f.unit + ": " + source;
      value = "a list";
    } else if (value != "null" && !f.unit.empty()) {
      value += ' ' + f.unit;
    }
    table.add_row({f.path, value, std::string(to_string(f.source.provenance)), source});
  }
  table.print(out);
  for (const std::string& note : g.notes) print_wrapped(out, "note", note);
  print_overrides(out, choice.context.overrides);
}

Json one_json(const GpuSpec& g) {
  Json fields = Json::array();
  for (const FieldInfo& f : describe_fields(g)) {
    const Json value = Json::parse(f.value, nullptr, false);
    fields.push_back({{"path", f.path},
                      {"value", value.is_discarded() ? Json(f.value) : value},
                      {"unit", f.unit},
                      {"meaning", f.meaning},
                      {"provenance", to_string(f.source.provenance)},
                      {"source", f.source.source},
                      {"note", f.source.note}});
  }
  return {{"name", g.name},       {"display_name", g.display_name},
          {"aliases", g.aliases}, {"compute_capability", cc_text(g)},
          {"notes", g.notes},     {"fields", fields}};
}

CsvTable one_csv(const GpuSpec& g) {
  CsvTable csv{.header = {"path", "value", "unit", "meaning", "provenance", "source", "note"},
               .rows = {}};
  for (const FieldInfo& f : describe_fields(g)) {
    csv.rows.push_back({f.path, f.value, f.unit, f.meaning,
                        std::string(to_string(f.source.provenance)), f.source.source,
                        f.source.note});
  }
  return csv;
}

Answer answer_one(const std::string& name, const VerbInput& input) {
  const auto choice = std::make_shared<GpuChoice>(
      choose_gpu(name, single_values(route_settings(input.settings, nullptr).gpu)));
  return {.context = choice->context,
          .exit_code = 0,
          .table = [choice](std::ostream& out) { print_one(out, *choice); },
          .json = [choice] { return one_json(choice->gpu).dump(); },
          .csv = [choice](std::ostream& out) { write_csv(out, one_csv(choice->gpu)); }};
}

}  // namespace

Verb gpus_verb() {
  const auto name = std::make_shared<std::string>();
  return {.name = "gpus",
          .summary = "the GPUs that are known; one of them with every number and its source",
          .example = "gpus rtx-pro-6000-server",
          .takes_gpu = true,
          .takes_kernel_parameters = false,
          .add_flags =
              [name](CLI::App& app) { app.add_option("NAME", *name, "show this one in full"); },
          .answer =
              [name](const VerbInput& input) {
                const std::string& wanted = name->empty() ? input.gpu : *name;
                if (!wanted.empty()) return answer_one(wanted, input);
                if (!input.settings.empty()) throw UsageError("--set needs a GPU: gpus NAME");
                return answer_list();
              }};
}

}  // namespace smtwin
