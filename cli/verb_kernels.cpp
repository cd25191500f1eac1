// SPDX-License-Identifier: Apache-2.0
// smtwin kernels [NAME]: the kernels whose bytes, grid and work are known as formulas, or one of
// them with its parameters, its formulas worked at the defaults, and where they come from.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <ostream>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "cli/kernel_choice.hpp"
#include "cli/verb.hpp"

namespace smtwin {
namespace {

// Any chip does to show the formulas; --gpu says which.
constexpr const char* kShownOn = "rtx-pro-6000-server";

using Json = nlohmann::ordered_json;

std::string role_name(ParameterRole role) {
  switch (role) {
    case ParameterRole::shape:
      return "shape";
    case ParameterRole::config:
      return "config";
    case ParameterRole::target:
      return "target";
  }
  return "shape";
}

std::string values_text(const ParameterSpec& p) {
  if (!p.choices.empty()) return join(p.choices, ", ");
  return format_count(p.minimum) + " to " + format_count(p.maximum);
}

std::string candidates_text(const ParameterSpec& p) {
  std::vector<std::string> words;
  for (const std::int64_t value : p.candidates) words.push_back(format_parameter(p, value));
  return join(words, " ");
}

// The kernel, and one instance at its defaults whose worked formulas are shown.
struct KernelAnswer {
  const KernelDescriptor* kernel = nullptr;
  GpuChoice gpu;
  KernelInstance instance;
};

void print_one(std::ostream& out, const KernelAnswer& a) {
  print_wrapped(out, a.kernel->name(), a.kernel->summary());
  TextTable table({{"parameter", Align::left},
                   {"role", Align::left},
                   {"default"},
                   {"values", Align::left},
                   {"tuned over", Align::left},
                   {"meaning", Align::left}});
  for (const ParameterSpec& p : a.kernel->parameters()) {
    table.add_row({p.name + (p.short_name.empty() ? "" : " (" + p.short_name + ")"),
                   role_name(p.role), format_parameter(p, p.default_value), values_text(p),
                   candidates_text(p), p.meaning});
  }
  table.print(out);
  out << "at the defaults on " << a.gpu.gpu.name << ", " << a.instance.config << '\n';
  print_wrapped(out, "shared bytes",
                a.instance.shared_formula + " (" +
                    std::string(to_string(a.instance.shared_provenance)) + ")");
  print_wrapped(out, "registers",
                format_count(a.instance.resources.registers_per_thread) + " (" +
                    a.instance.registers_source + ")");
  print_wrapped(out, "grid",
                a.instance.grid.formula + " = " + format_count(a.instance.grid.ctas()) + " CTAs");
  for (const std::string& text : a.instance.assumptions) print_wrapped(out, "assumed", text);
  for (const std::string& source : a.kernel->sources()) print_wrapped(out, "source", source);
}

Json parameter_json(const ParameterSpec& p) {
  Json candidates = Json::array();
  for (const std::int64_t value : p.candidates) candidates.push_back(value);
  Json entry = {{"name", p.name},
                {"role", role_name(p.role)},
                {"meaning", p.meaning},
                {"default", format_parameter(p, p.default_value)}};
  if (p.choices.empty()) {
    entry["minimum"] = p.minimum;
    entry["maximum"] = p.maximum;
  } else {
    entry["choices"] = p.choices;
  }
  entry["candidates"] = candidates;
  entry["short_name"] = p.short_name;
  return entry;
}

Json one_json(const KernelAnswer& a) {
  Json parameters = Json::array();
  for (const ParameterSpec& p : a.kernel->parameters()) parameters.push_back(parameter_json(p));
  return {{"name", a.kernel->name()},
          {"summary", a.kernel->summary()},
          {"parameters", parameters},
          {"default_instance",
           {{"config", a.instance.config},
            {"shared_formula", a.instance.shared_formula},
            {"shared_provenance", to_string(a.instance.shared_provenance)},
            {"registers_per_thread", a.instance.resources.registers_per_thread},
            {"registers_source", a.instance.registers_source},
            {"grid", a.instance.grid.formula},
            {"assumptions", a.instance.assumptions}}},
          {"sources", a.kernel->sources()}};
}

CsvTable one_csv(const KernelDescriptor& kernel) {
  CsvTable csv{.header = {"name", "role", "default", "values", "candidates", "meaning"},
               .rows = {}};
  for (const ParameterSpec& p : kernel.parameters()) {
    csv.rows.push_back({p.name, role_name(p.role), format_parameter(p, p.default_value),
                        values_text(p), candidates_text(p), p.meaning});
  }
  return csv;
}

Answer answer_one(const std::string& name, const VerbInput& input) {
  const auto answer = std::make_shared<KernelAnswer>();
  answer->kernel = &find_kernel(name);
  const RoutedSettings settings = route_settings(input.settings, answer->kernel);
  const std::string gpu = input.gpu.empty() ? kShownOn : input.gpu;
  answer->gpu = choose_gpu(gpu, single_values(settings.gpu));
  const KernelChoice choice{.kernel = answer->kernel, .given = {}, .settings = settings};
  answer->instance = answer->kernel->instantiate(
      launch_parameters(*answer->kernel, with_settings(choice), answer->gpu.gpu), answer->gpu.gpu);
  return {.context = answer->gpu.context,
          .exit_code = 0,
          .table = [answer](std::ostream& out) { print_one(out, *answer); },
          .json = [answer] { return one_json(*answer).dump(); },
          .csv = [answer](std::ostream& out) { write_csv(out, one_csv(*answer->kernel)); }};
}

void print_list(std::ostream& out) {
  TextTable table({{"kernel", Align::left}, {"config", Align::left}, {"what it is", Align::left}});
  const GpuSpec gpu = find_gpu(kShownOn);
  for (const auto& kernel : kernel_registry()) {
    std::vector<std::string> tuned;
    for (const ParameterSpec& p : kernel->parameters()) {
      if (p.role == ParameterRole::config) tuned.push_back(p.name);
    }
    table.add_row({kernel->name(),
                   kernel->instantiate(launch_parameters(*kernel, {}, gpu), gpu).config,
                   kernel->summary() + " (tuned: " + join(tuned, ", ") + ")"});
  }
  table.print(out);
}

Answer answer_list() {
  return {.context = {},
          .exit_code = 0,
          .table = [](std::ostream& out) { print_list(out); },
          .json =
              [] {
                Json list = Json::array();
                for (const auto& kernel : kernel_registry()) {
                  list.push_back({{"name", kernel->name()}, {"summary", kernel->summary()}});
                }
                return list.dump();
              },
          .csv =
              [](std::ostream& out) {
                CsvTable csv{.header = {"name", "summary"}, .rows = {}};
                for (const auto& kernel : kernel_registry()) {
                  csv.rows.push_back({kernel->name(), kernel->summary()});
                }
                write_csv(out, csv);
              }};
}

}  // namespace

Verb kernels_verb() {
  const auto name = std::make_shared<std::string>();
  return {.name = "kernels",
          .summary = "the kernels with a descriptor; one of them with parameters and formulas",
          .example = "kernels sparse_decode_fieldnotes",
          .takes_gpu = true,
          .takes_kernel_parameters = false,
          .add_flags =
              [name](CLI::App& app) { app.add_option("NAME", *name, "show this one in full"); },
          .answer =
              [name](const VerbInput& input) {
                if (!name->empty()) return answer_one(*name, input);
                if (!input.settings.empty()) throw UsageError("--set needs a kernel: kernels NAME");
                return answer_list();
              }};
}

}  // namespace smtwin
