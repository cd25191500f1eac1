// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/hf_builder.hpp"

#include <algorithm>

namespace smtwin {

void HfModel::note(const std::string& text) {
  if (std::find(spec.notes.begin(), spec.notes.end(), text) == spec.notes.end()) {
    spec.notes.push_back(text);
  }
}

NumberFormat HfLayerBuilder::format_of(const HfMatrix& matrix) {
  // Engines fuse only modules of one format. Where a list cuts through a fused matrix, the format
  // of most of its rows stands for all.
  NumberFormat format = model_.quantization.base();
  std::int64_t most_rows = -1;
  bool mixed = false;
  for (const HfPart& part : matrix.parts) {
    std::vector<std::string> names;
    for (const std::string& prefix : model_.layer_prefixes) {
      for (const std::string& module : part.modules) {
        names.push_back(prefix + std::to_string(index_) + '.' + module);
      }
    }
    const NumberFormat of_part = model_.quantization.format_of(names, matrix.expert);
    mixed = mixed || (most_rows >= 0 && of_part != format);
    if (part.rows > most_rows) {
      most_rows = part.rows;
      format = of_part;
    }
  }
  if (mixed) {
    model_.note("parts of " + matrix.name +
                " have different formats in some layers; counted in the format of most rows");
  }
  return format;
}

void HfLayerBuilder::add(const HfMatrix& matrix) { add_as(format_of(matrix), matrix); }

void HfLayerBuilder::add_as(NumberFormat format, const HfMatrix& matrix) {
  WeightMatrix weight;
  weight.name = matrix.name;
  weight.module = matrix.parts.front().modules.front();
  for (const HfPart& part : matrix.parts) weight.out += part.rows;
  weight.in = matrix.in;
  weight.copies = matrix.copies;
  weight.format = format;
  if (format == NumberFormat::int4 || format == NumberFormat::int8) {
    weight.scale_group = model_.quantization.integer_scale_group();
  }
  weight.shard = matrix.shard;
  weight.bias = matrix.bias;
  layer.weights.push_back(std::move(weight));
}

std::vector<std::int64_t> read_layer_list(const HfModel& model, const char* key, HfRange range) {
  std::vector<std::int64_t> list = model.config.integers(key, range);
  if (static_cast<std::int64_t>(list.size()) < model.layers) {
    model.config.fail(key, "found " + std::to_string(list.size()) +
                               " entries; needed: one for each of the " +
                               std::to_string(model.layers) + " layers (num_hidden_layers)");
  }
  list.resize(static_cast<std::size_t>(model.layers));
  return list;
}

std::vector<std::int64_t> read_windows(const HfModel& model, std::int64_t window) {
  std::vector<std::int64_t> windows(static_cast<std::size_t>(model.layers), window);
  const auto types = model.config.optional_texts("layer_types");
  if (!types) return windows;
  if (types->size() < windows.size()) {
    model.config.fail("layer_types", "found " + std::to_string(types->size()) +
                                         " entries; needed: one for each of the " +
                                         std::to_string(model.layers) +
                                         " layers (num_hidden_layers)");
  }
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::string& type = (*types)[i];
    if (type == "full_attention") {
      windows[i] = 0;
    } else if (type == "sliding_attention" || type == "chunked_attention") {
      if (window == 0) {
        model.config.fail(type == "chunked_attention" ? "attention_chunk_size" : "sliding_window",
                          "missing; needed: the tokens that a layer of type " + type + " sees");
      }
    } else if (type != "linear_attention") {
      model.config.fail("layer_types",
                        "type \"" + type.substr(0, 40) + "\" of layer " + std::to_string(i) +
                            " is not modelled; modelled: full_attention, "
                            "sliding_attention, chunked_attention, linear_attention");
    }
  }
  return windows;
}

std::vector<std::int64_t> read_periodic_windows(const HfModel& model, std::int64_t window,
                                                std::int64_t full_every) {
  const HfObject& config = model.config;
  constexpr char kPattern[] = "sliding_window_pattern";
  std::vector<std::int64_t> windows = read_windows(model, window);
  if (!config.has("layer_types")) {
    std::string pattern(static_cast<std::size_t>(full_every - 1), 'L');
    pattern += 'G';
    if (config.holds_text(kPattern)) {
      pattern = config.text(kPattern);
      if (pattern.empty() || pattern.find_first_not_of("LG") != std::string::npos) {
        config.not_modelled(kPattern, "a number, or letters L (sliding) and G (all tokens)");
      }
    } else if (config.has(kPattern)) {
      const std::int64_t period = config.integer(kPattern, kLayerCount);
      pattern = std::string(static_cast<std::size_t>(period - 1), 'L') + 'G';
    }
    for (std::size_t i = 0; i < windows.size(); ++i) {
      if (pattern[i % pattern.size()] == 'G') windows[i] = 0;
    }
  }
  for (std::int64_t& w : windows) {
    if (w >= model.spec.max_context) w = 0;
  }
  return windows;
}

std::vector<std::int64_t> read_layer_values(const HfModel& model, const char* key, HfRange range) {
  if (model.config.holds_list(key)) return read_layer_list(model, key, range);
  return std::vector<std::int64_t>(static_cast<std::size_t>(model.layers),
                                   model.config.integer(key, range));
}

std::vector<bool> read_expert_layers(const HfModel& model, std::int64_t dense_unsaid) {
  const HfObject& config = model.config;
  std::vector<bool> sparse(static_cast<std::size_t>(model.layers));
  const auto types = config.optional_texts("mlp_layer_types");
  if (types && types->size() < sparse.size()) {
    config.fail("mlp_layer_types", "found " + std::to_string(types->size()) +
                                       " entries; needed: one for each of the " +
                                       std::to_string(model.layers) +
                                       " layers (num_hidden_layers)");
  }
  const std::int64_t dense_layers =
      config.integer_or("first_k_dense_replace", dense_unsaid, kSmallCount);
  const std::int64_t frequency = config.integer_or("moe_layer_freq", 1, kLayerCount);
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    sparse[i] = types ? (*types)[i] == "sparse" : layer >= dense_layers && layer % frequency == 0;
    if (types && !sparse[i] && (*types)[i] != "dense") {
      config.fail("mlp_layer_types", "type \"" + (*types)[i].substr(0, 40) + "\" of layer " +
                                         std::to_string(i) +
                                         " is not modelled; modelled: dense, sparse");
    }
  }
  return sparse;
}

std::optional<NumberFormat> read_dtype(const HfObject& where, const char* key) {
  const auto name = where.optional_text(key);
  if (!name) return std::nullopt;
  if (*name == "bfloat16") return NumberFormat::bf16;
  if (*name == "float16") return NumberFormat::fp16;
  if (*name == "float32") return NumberFormat::fp32;
  where.not_modelled(key, "\"bfloat16\", \"float16\", \"float32\"");
}

}  // namespace smtwin
