// SPDX-License-Identifier: Apache-2.0
#include "cli/model_summary.hpp"

#include <algorithm>
#include <map>

#include "cli/report.hpp"

namespace smtwin {

bool same_matrix(const WeightMatrix& a, const WeightMatrix& b) {
  return a.name == b.name && a.out == b.out && a.in == b.in && a.copies == b.copies &&
         a.format == b.format && a.shard == b.shard && a.bias == b.bias;
}

namespace {

// Two layers are alike when what they store, read and say about themselves is alike.
bool same_layer(const LayerSpec& a, const LayerSpec& b) {
  return describe_attention(a.attention) == describe_attention(b.attention) &&
         describe_mlp(a.mlp) == describe_mlp(b.mlp) &&
         std::equal(a.weights.begin(), a.weights.end(), b.weights.begin(), b.weights.end(),
                    same_matrix);
}

}  // namespace

std::string format_parameters(double count) { return format_number(count / 1e9) + " B"; }

std::string formats_by_bytes(const ModelSpec& model) {
  std::map<std::string, double> bytes;
  const auto add = [&](const WeightMatrix& w) {
    if (w.copies > 0) bytes[std::string(to_string(w.format))] += w.bytes();
  };
  for (const LayerSpec& layer : model.layers) {
    for (const WeightMatrix& w : layer.weights) add(w);
  }
  add(model.embedding);
  add(model.lm_head);
  std::vector<std::pair<double, std::string>> sorted;
  double total = 0;
  for (const auto& [format, size] : bytes) {
    sorted.emplace_back(size, format);
    total += size;
  }
  std::sort(sorted.rbegin(), sorted.rend());
  std::vector<std::string> words;
  for (const auto& [size, format] : sorted) {
    words.push_back(format + ' ' + format_percent(size / total));
  }
  return join(words, ", ");
}

std::vector<LayerGroup> group_layers(const ModelSpec& model) {
  std::vector<LayerGroup> groups;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const LayerSpec& layer = model.layers[i];
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& g) {
      return same_layer(*g.layer, layer);
    });
    if (found == groups.end()) {
      groups.push_back({.layers = {i}, .layer = &layer});
    } else {
      found->layers.push_back(i);
    }
  }
  return groups;
}

std::string describe_indices(const std::vector<std::size_t>& indices) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < indices.size();) {
    // The longest run with one stride; every other layer is a common pattern.
    std::size_t end = begin + 1;
    const std::size_t stride =
        end < indices.size() ? indices[end] - indices[begin] : std::size_t{1};
    while (end < indices.size() && indices[end] - indices[end - 1] == stride) ++end;
    if (end - begin >= 3 || (stride == 1 && end - begin == 2)) {
      std::string run = std::to_string(indices[begin]) + "-" + std::to_string(indices[end - 1]);
      if (stride == 2) run += " every other";
      if (stride > 2) run += " every " + std::to_string(stride) + "th";
      words.push_back(std::move(run));
    } else {
      end = begin + 1;
      words.push_back(std::to_string(indices[begin]));
    }
    begin = end;
  }
  return join(words, ", ");
}

std::string describe_attention(const AttentionSpec& a) {
  if (a.kind == AttentionKind::none) return "no attention";
  std::vector<std::string> words{std::string(to_string(a.kind))};
  const auto number = [&](const char* name, std::int64_t value) {
    if (value > 0) words.push_back(std::string(name) + ' ' + format_count(value));
  };
  number("heads", a.heads);
  number("KV heads", a.kv_heads);
  number("head dim", a.head_dim);
  number("window", a.window);
  number("q rank", a.q_lora_rank);
  number("KV rank", a.kv_lora_rank);
  number("compress", a.compress_ratio);
  number("key heads", a.key_heads);
  number("value heads", a.value_heads);
  number("key dim", a.key_dim);
  number("value dim", a.value_dim);
  if (a.indexer) number("top-k", a.indexer->topk);
  if (a.sink) words.emplace_back("sink");
  if (a.qk_norm) words.emplace_back("qk norm");
  if (a.output_gate) words.emplace_back("output gate");
  return join(words, ", ");
}

std::string describe_mlp(const MlpSpec& m) {
  std::vector<std::string> words;
  if (m.kind == MlpKind::none) return "no MLP";
  if (m.intermediate > 0) words.push_back("dense " + format_count(m.intermediate));
  if (m.experts > 0) {
    words.push_back("experts " + format_count(m.experts_per_token) + " of " +
                    format_count(m.experts) + " x " + format_count(m.expert_intermediate));
  }
  if (m.shared_intermediate > 0) {
    words.push_back("shared experts " + format_count(m.shared_intermediate));
  }
  if (m.hash_routed) words.emplace_back("routed by token id");
  if (!m.gated) words.emplace_back("not gated");
  return join(words, ", ");
}

}  // namespace smtwin
