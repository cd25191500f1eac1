// SPDX-License-Identifier: Apache-2.0
// Which layouts engines refuse, and why. Each rule is what a loader checks: vLLM's and SGLang's
// "not divisible by" errors for heads, widths, scale blocks and experts.
#include <algorithm>
#include <functional>

#include "model/sharding.hpp"
#include "model/step_ops.hpp"

namespace smtwin {
namespace {

// Where the family's config.json keeps the number and the width of its experts.
struct ExpertFields {
  const char* count = "/num_experts";
  const char* width = "/moe_intermediate_size";
};
ExpertFields expert_fields(const std::string& architecture) {
  for (const char* family : {"Deepseek", "Kimi", "Glm", "Nemotron", "MiMo"}) {
    if (architecture.starts_with(family)) return {.count = "/n_routed_experts"};
  }
  for (const char* family : {"Mixtral", "GptOss", "MiniMax"}) {
    if (architecture.starts_with(family)) {
      return {.count = "/num_local_experts", .width = "/intermediate_size"};
    }
  }
  return {};
}

// One layer of each kind: the rules see nothing that tells equal layers apart.
std::vector<const LayerSpec*> distinct_layers(const ModelSpec& model) {
  std::vector<const LayerSpec*> layers;
  for (const std::vector<int>& kind : layer_kinds(model)) {
    layers.push_back(&model.layers[static_cast<std::size_t>(kind.front())]);
  }
  return layers;
}

class Rules {
 public:
  Rules(const std::string& architecture, const std::vector<const LayerSpec*>& layers,
        const Layout& layout)
      : layout_(layout), expert_fields_(expert_fields(architecture)) {
    if (layout.tp % layout.ep != 0) {
      add("layout",
          "--ep " + std::to_string(layout.ep) + " does not divide --tp " +
              std::to_string(layout.tp) + " (experts are split over the ranks of one replica)",
          "--ep");
      return;
    }
    for (const LayerSpec* layer : layers) check_attention(layer->attention);
    for (const LayerSpec* layer : layers) check_mlp(*layer);
    for (const LayerSpec* layer : layers) check_projections(*layer);
  }
  std::vector<LayoutViolation> take() { return std::move(violations_); }

 private:
  void add(const std::string& field, const std::string& found, const std::string& flag,
           const std::string& way_out = "") {
    const bool known = std::any_of(violations_.begin(), violations_.end(),
                                   [&](const LayoutViolation& v) { return v.field == field; });
    if (!known) violations_.push_back({field, found, flag, {}, way_out});
  }

  std::string over_tp() const { return " over --tp " + std::to_string(layout_.tp); }

  void divides(const std::string& field, std::int64_t count, const std::string& things) {
    if (count % layout_.tp == 0) return;
    add(field, std::to_string(count) + ' ' + things + " cannot be split" + over_tp(), "--tp");
  }

  // Fewer heads than ranks are repeated, in whole copies.
  void divides_or_repeats(const std::string& field, std::int64_t count, const std::string& things) {
    if (count <= 0 || count % layout_.tp == 0 || layout_.tp % count == 0) return;
    add(field,
        std::to_string(count) + ' ' + things + " can be neither split nor repeated" + over_tp(),
        "--tp");
  }

  void check_attention(const AttentionSpec& a) {
    switch (a.kind) {
      case AttentionKind::none:
        return;
      case AttentionKind::gqa:
        divides("/num_attention_heads", a.heads, "heads");
        divides_or_repeats("/num_key_value_heads", a.kv_heads, "KV heads");
        return;
      case AttentionKind::mla:
        divides("/num_attention_heads", a.heads, "heads");
        return;
      case AttentionKind::dsv4:
        divides("/num_attention_heads", a.heads, "heads");
        divides("/o_groups", a.o_groups, "groups of the output projection");
        return;
      case AttentionKind::gated_delta:
        divides("/linear_num_key_heads", a.key_heads, "linear-attention key heads");
        divides("/linear_num_value_heads", a.value_heads, "linear-attention value heads");
        return;
      case AttentionKind::mamba2:
        divides("/mamba_num_heads", a.value_heads, "Mamba heads");
        divides_or_repeats("/n_groups", a.key_heads, "Mamba groups");
        return;
    }
  }

  void check_width(const std::string& field, std::int64_t width, int ranks, std::int64_t block,
                   const WeightMatrix& matrix, const std::string& way_out) {
    if (ranks == 1 || width <= 0) return;
    const std::string split = std::to_string(width) + " columns of " + matrix.name +
                              " split over " + std::to_string(ranks) + " ranks (--tp " +
                              std::to_string(layout_.tp) + ")";
    if (width % ranks != 0) {
      add(field, split + " do not divide", "--tp", way_out);
    } else if (width / ranks % block != 0) {
      add(field,
          split + " are " + std::to_string(width / ranks) + " each, not a multiple of the " +
              std::string(to_string(matrix.format)) + " scale block of " + std::to_string(block),
          "--tp", way_out);
    }
  }

  void check_mlp(const LayerSpec& layer) {
    const MlpSpec& mlp = layer.mlp;
    if (mlp.kind == MlpKind::moe && mlp.experts % layout_.ep != 0) {
      add(expert_fields_.count,
          std::to_string(mlp.experts) + " experts cannot be split over --ep " +
              std::to_string(layout_.ep),
          "--ep");
    }
    for (const WeightMatrix& m : layer.weights) {
      const ScaleBlock block = m.scale_block();
      if (m.name == "gate_up") {
        check_width("/intermediate_size", mlp.intermediate, layout_.tp, block.out, m, "");
      } else if (m.name == "down") {
        check_width("/intermediate_size", mlp.intermediate, layout_.tp, block.in, m, "");
      } else if (m.name == "shared_gate_up") {
        check_width("/shared_expert_intermediate_size", mlp.shared_intermediate, layout_.tp,
                    block.out, m, "");
      } else if (m.name == "shared_down") {
        check_width("/shared_expert_intermediate_size", mlp.shared_intermediate, layout_.tp,
                    block.in, m, "");
      } else if (m.shard == Shard::experts && m.format != NumberFormat::mxfp4) {
        const bool down = m.name.ends_with("_down");
        check_width(expert_fields_.width, mlp.expert_intermediate, layout_.expert_tp(),
                    down ? block.in : block.out, m,
                    mlp.experts % layout_.tp == 0
                        ? "keep the experts whole with --ep " + std::to_string(layout_.tp)
                        : "");
      }
    }
  }

  // Attention matrices: the head rules make their widths divide; here their scale blocks. Loaders
  // of the fused QKV realign scales where heads are not whole blocks wide (MiMo-V2: 192), so it is
  // not among them.
  void check_projections(const LayerSpec& layer) {
    if (layout_.tp == 1) return;
    for (const WeightMatrix& m : layer.weights) {
      if (m.name == "qkv" || m.name.ends_with("gate_up") || m.name.ends_with("down")) continue;
      const ScaleBlock block = m.scale_block();
      const bool by_rows = m.shard == Shard::rows;
      if (!by_rows && m.shard != Shard::columns && m.shard != Shard::kv_heads) continue;
      const MatrixShard mine = shard_matrix(m, layer, layout_);
      const std::int64_t width = by_rows ? mine.in : mine.out;
      const std::int64_t unit = by_rows ? block.in : block.out;
      if (width % unit == 0) continue;
      add(m.module.empty() ? m.name : m.module,
          "a rank of --tp " + std::to_string(layout_.tp) + " holds " + std::to_string(width) +
              (by_rows ? " input" : " output") + " columns of " + m.name +
              ", not a multiple of the " + std::string(to_string(m.format)) + " scale block of " +
              std::to_string(unit),
          "--tp");
    }
  }

  Layout layout_;
  ExpertFields expert_fields_;
  std::vector<LayoutViolation> violations_;
};

std::vector<int> values_without_violation(const ModelSpec& model,
                                          const std::function<Layout(int)>& layout_of) {
  const std::vector<const LayerSpec*> layers = distinct_layers(model);
  std::vector<int> values;
  for (int value = 1; value <= kLargestTp; ++value) {
    if (Rules(model.architecture, layers, layout_of(value)).take().empty()) {
      values.push_back(value);
    }
  }
  return values;
}

}  // namespace

std::vector<LayoutViolation> check_layout(const ModelSpec& model, const Layout& layout) {
  std::vector<LayoutViolation> violations =
      Rules(model.architecture, distinct_layers(model), layout).take();
  if (violations.empty()) return violations;
  const std::vector<int> tp = legal_tp(model, layout.ep);
  const std::vector<int> ep = values_without_violation(
      model, [&](int value) { return Layout{.tp = layout.tp, .ep = value}; });
  for (LayoutViolation& v : violations) v.allowed = v.flag == "--tp" ? tp : ep;
  return violations;
}

std::vector<int> legal_tp(const ModelSpec& model, int ep) {
  return values_without_violation(
      model, [&](int value) { return Layout{.tp = value, .ep = ep == 0 ? value : ep}; });
}

std::string describe(const LayoutViolation& violation, const ModelSpec& model) {
  std::string text = model.file.empty() ? model.name : model.file;
  text += ": " + violation.field + ": " + violation.found;
  const std::size_t n = violation.allowed.size();
  for (std::size_t i = 0; i < n; ++i) {
    text += i == 0 ? "; use " : i + 1 == n ? " or " : ", ";
    text += std::to_string(violation.allowed[i]);
  }
  if (n == 0) text += "; no " + violation.flag + " works with the other flags as given";
  if (!violation.way_out.empty()) text += ", or " + violation.way_out;
  return text;
}

}  // namespace smtwin
