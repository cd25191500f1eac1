// SPDX-License-Identifier: Apache-2.0
// smtwin models [NAME|config.json]: the models that ship, or one of them (or any Hugging Face
// config.json) as the decode model sees it: layers, matrices, formats, cache bytes.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <ostream>

#include "arch/error.hpp"
#include "cli/model_summary.hpp"
#include "cli/settings.hpp"
#include "cli/verb.hpp"
#include "validate/model_catalog.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

struct Listed {
  ModelCard card;
  ModelSpec model;
};
using List = std::vector<Listed>;

void print_list(std::ostream& out, const List& models) {
  TextTable table({{"name", Align::left},
                   {"parameters"},
                   {"active"},
                   {"layers"},
                   {"weights"},
                   {"formats by weight bytes", Align::left}});
  for (const auto& [card, model] : models) {
    table.add_row({card.name, format_parameters(total_parameters(model)),
                   format_parameters(active_parameters(model)),
                   format_count(static_cast<std::int64_t>(model.layers.size())),
                   format_size(weight_bytes(model)), formats_by_bytes(model)});
  }
  table.print(out);
  print_wrapped(out, "note",
                "--model also takes a config.json or the folder of a checkpoint; `smtwin models "
                "NAME|config.json` shows one in full");
}

Json list_json(const List& models) {
  Json list = Json::array();
  for (const auto& [card, model] : models) {
    Json item = {{"name", card.name},
                 {"display_name", card.display_name},
                 {"architecture", model.architecture},
                 {"total_parameters", total_parameters(model)},
                 {"active_parameters", active_parameters(model)},
                 {"layers", model.layers.size()},
                 {"weight_bytes", weight_bytes(model)},
                 {"source", card.source}};
    list.push_back(std::move(item));
  }
  return list;
}

void write_list_csv(std::ostream& out, const List& models) {
  CsvTable csv{.header = {"name", "architecture", "total_parameters", "active_parameters", "layers",
                          "weight_bytes"},
               .rows = {}};
  for (const auto& [card, model] : models) {
    csv.rows.push_back({card.name, model.architecture, csv_number(total_parameters(model)),
                        csv_number(active_parameters(model)), std::to_string(model.layers.size()),
                        csv_number(weight_bytes(model))});
  }
  write_csv(out, csv);
}

Answer answer_list() {
  const auto models = std::make_shared<List>();
  for (const std::string& name : model_names()) {
    models->push_back({find_model_card(name), find_model(name)});
  }
  return {.context = {},
          .exit_code = 0,
          .table = [models](std::ostream& out) { print_list(out, *models); },
          .json = [models] { return list_json(*models).dump(); },
          .csv = [models](std::ostream& out) { write_list_csv(out, *models); }};
}

Answer answer_one(const std::string& name, const VerbInput& input) {
  const RoutedSettings routed = route_settings(input.settings, nullptr, true);
  if (!routed.gpu.empty()) {
    throw UsageError("--set " + routed.gpu.front().path + ": models has no GPU; use model.FIELD");
  }
  const auto model = std::make_shared<ModelSpec>(find_model(name, single_values(routed.model)));
  return {.context = {},
          .exit_code = 0,
          .table = [model](std::ostream& out) { print_model(out, *model); },
          .json = [model] { return model_json(*model); },
          .csv = [model](std::ostream& out) { write_model_csv(out, *model); }};
}

}  // namespace

Verb models_verb() {
  const auto name = std::make_shared<std::string>();
  return {.name = "models",
          .summary = "the models that ship; one of them or any config.json with its matrices",
          .example = "models deepseek-v4-flash",
          .takes_gpu = false,
          .takes_kernel_parameters = false,
          .add_flags =
              [name](CLI::App& app) {
                app.add_option("NAME", *name, "a shipped model, a config.json, or a folder");
              },
          .answer =
              [name](const VerbInput& input) {
                if (!name->empty()) return answer_one(*name, input);
                if (!input.settings.empty()) throw UsageError("--set needs a model: models NAME");
                return answer_list();
              }};
}

}  // namespace smtwin
