// SPDX-License-Identifier: Apache-2.0
// One model in full: its groups of layers with every matrix, and the totals.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ostream>

#include "cli/model_summary.hpp"
#include "cli/report.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

std::string shard_name(Shard shard) {
  switch (shard) {
    case Shard::replicated:
      return "replicated";
    case Shard::columns:
      return "columns";
    case Shard::rows:
      return "rows";
    case Shard::heads:
      return "heads";
    case Shard::kv_heads:
      return "kv_heads";
    case Shard::experts:
      return "experts";
    case Shard::vocabulary:
      return "vocabulary";
  }
  return "replicated";
}

void add_matrix(TextTable& table, const std::string& group, const WeightMatrix& w) {
  table.add_row({group, w.name, format_count(w.out) + " x " + format_count(w.in),
                 w.copies == 1 ? "" : format_count(w.copies), std::string(to_string(w.format)),
                 format_size(w.bytes()), shard_name(w.shard)});
}

// Cache and state of all layers at the checkpoint's format.
struct CacheBytes {
  double per_token = 0;
  double per_sequence = 0;
};
CacheBytes cache_bytes(const ModelSpec& model) {
  CacheBytes sum;
  for (const LayerSpec& layer : model.layers) {
    sum.per_token += kv_bytes_per_token(layer, model.kv_format);
    sum.per_sequence += state_bytes_per_sequence(layer, model.kv_format);
  }
  return sum;
}

Json matrix_json(const WeightMatrix& w) {
  return {{"name", w.name},     {"module", w.module},          {"out", w.out},
          {"in", w.in},         {"copies", w.copies},          {"format", to_string(w.format)},
          {"bytes", w.bytes()}, {"shard", shard_name(w.shard)}};
}

}  // namespace

void print_model(std::ostream& out, const ModelSpec& model) {
  const CacheBytes cache = cache_bytes(model);
  print_wrapped(out, model.name,
                model.architecture + ", " + format_parameters(total_parameters(model)) +
                    " parameters, " + format_parameters(active_parameters(model)) + " active, " +
                    format_count(static_cast<std::int64_t>(model.layers.size())) +
                    " layers, hidden " + format_count(model.hidden) + ", vocabulary " +
                    format_count(model.vocabulary) + ", context up to " +
                    format_count(model.max_context));
  print_wrapped(out, "weights", format_size(weight_bytes(model)) + ": " + formats_by_bytes(model));
  print_wrapped(out, "cache",
                format_size(cache.per_token) + " a token and " + format_size(cache.per_sequence) +
                    " a sequence, all layers, before any split over GPUs (" +
                    std::string(to_string(model.kv_format)) + ")");
  const std::vector<LayerGroup> groups = group_layers(model);
  TextTable table({{"layers", Align::left},
                   {"matrix", Align::left},
                   {"out x in"},
                   {"copies"},
                   {"format", Align::left},
                   {"bytes"},
                   {"split by", Align::left}});
  struct Row {
    std::string groups;
    const WeightMatrix* matrix;
  };
  std::vector<Row> rows;  // a matrix that several groups share is one row
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::string name(1, static_cast<char>('A' + g % 26));
    print_wrapped(out, "layers " + name,
                  format_count(static_cast<std::int64_t>(groups[g].layers.size())) + " (" +
                      describe_indices(groups[g].layers) +
                      "): " + describe_attention(groups[g].layer->attention) + "; " +
                      describe_mlp(groups[g].layer->mlp));
    for (const WeightMatrix& w : groups[g].layer->weights) {
      const auto known = std::find_if(rows.begin(), rows.end(),
                                      [&](const Row& row) { return same_matrix(*row.matrix, w); });
      if (known == rows.end()) {
        rows.push_back({name, &w});
      } else {
        known->groups += name;
      }
    }
  }
  for (const Row& row : rows) add_matrix(table, row.groups, *row.matrix);
  add_matrix(table, "-", model.embedding);
  if (model.lm_head.copies > 0) add_matrix(table, "-", model.lm_head);
  table.print(out);
  if (model.tied_embeddings) print_wrapped(out, "note", "the embedding table is the output head");
  for (const std::string& note : model.notes) print_wrapped(out, "note", note);
}

std::string model_json(const ModelSpec& model) {
  const CacheBytes cache = cache_bytes(model);
  Json result;
  result["name"] = model.name;
  result["architecture"] = model.architecture;
  result["total_parameters"] = total_parameters(model);
  result["active_parameters"] = active_parameters(model);
  result["weight_bytes"] = weight_bytes(model);
  result["layers"] = model.layers.size();
  result["hidden"] = model.hidden;
  result["vocabulary"] = model.vocabulary;
  result["max_context"] = model.max_context;
  result["activation_format"] = to_string(model.activation_format);
  result["kv_format"] = to_string(model.kv_format);
  result["kv_bytes_per_token"] = cache.per_token;
  result["state_bytes_per_sequence"] = cache.per_sequence;
  result["mtp_layers"] = model.mtp_layers;
  result["layer_groups"] = Json::array();
  for (const LayerGroup& group : group_layers(model)) {
    Json matrices = Json::array();
    for (const WeightMatrix& w : group.layer->weights) matrices.push_back(matrix_json(w));
    result["layer_groups"].push_back({{"layers", group.layers},
                                      {"attention", describe_attention(group.layer->attention)},
                                      {"mlp", describe_mlp(group.layer->mlp)},
                                      {"matrices", matrices}});
  }
  result["embedding"] = matrix_json(model.embedding);
  result["lm_head"] = model.lm_head.copies > 0 ? matrix_json(model.lm_head) : Json(nullptr);
  result["notes"] = model.notes;
  return result.dump();
}

void write_model_csv(std::ostream& out, const ModelSpec& model) {
  CsvTable csv{
      .header = {"layers", "matrix", "module", "out", "in", "copies", "format", "bytes", "shard"},
      .rows = {}};
  const auto add = [&](const std::string& layers, const WeightMatrix& w) {
    csv.rows.push_back({layers, w.name, w.module, std::to_string(w.out), std::to_string(w.in),
                        std::to_string(w.copies), std::string(to_string(w.format)),
                        csv_number(w.bytes()), shard_name(w.shard)});
  };
  for (const LayerGroup& group : group_layers(model)) {
    for (const WeightMatrix& w : group.layer->weights) add(describe_indices(group.layers), w);
  }
  add("", model.embedding);
  if (model.lm_head.copies > 0) add("", model.lm_head);
  write_csv(out, csv);
}

}  // namespace smtwin
