// SPDX-License-Identifier: Apache-2.0
// Llamas that a search made irregular (nemotron-nas: Llama-3.3-Nemotron-Super, Llama-3.1-Nemotron-
// Ultra): block_configs says for each layer how many query heads share a KV head, how wide the MLP
// is, and whether either is left out at all.
// Sources: DeciLM in vLLM, from which the rounding of ffn_mult is.
#include "arch/units.hpp"
#include "validate/observations/hf_builder.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kWidthUnit = 256;
constexpr double kLargestMultiple = 1'000;

// Refuses what replaces a block by something else, or makes its attention sparse.
void require_plain(const HfObject& block) {
  if (block.boolean_or("replace_with_linear", false)) {
    block.not_modelled("replace_with_linear", "false");
  }
  for (const char* key : {"sparsify", "window_length", "num_sink_tokens"}) {
    if (block.has(key)) block.not_modelled(key, "null");
  }
}

// Two thirds of ffn_mult x hidden, rounded down and then up to a multiple of 256.
std::int64_t mlp_width(const HfObject& ffn, std::int64_t hidden) {
  if (ffn.has("intermediate_size")) return ffn.integer("intermediate_size", kWidth);
  const double multiple = ffn.number("ffn_mult", 0.001, kLargestMultiple);
  return round_up(static_cast<std::int64_t>(2 * multiple * static_cast<double>(hidden) / 3),
                  kWidthUnit);
}

}  // namespace

void read_nemotron_nas(HfModel& model) {
  const HfObject& config = model.config;
  const std::int64_t hidden = model.spec.hidden;
  HfGqa gqa = read_gqa(config);
  gqa.qkv_bias = config.boolean_or("attention_bias", false);
  gqa.o_bias = gqa.qkv_bias;
  const bool mlp_bias = config.boolean_or("mlp_bias", false);
  const std::vector<HfObject> blocks = config.objects("block_configs");
  if (static_cast<std::int64_t>(blocks.size()) < model.layers) {
    config.fail("block_configs", "found " + std::to_string(blocks.size()) +
                                     " entries; needed: one for each of the " +
                                     std::to_string(model.layers) + " layers (num_hidden_layers)");
  }
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const HfObject& block = blocks[static_cast<std::size_t>(i)];
    HfLayerBuilder builder(model, i);
    const HfObject attention = block.object("attention");
    require_plain(attention);
    if (!attention.boolean_or("no_op", false)) {
      const std::int64_t group = attention.integer("n_heads_in_group", kHeadCount);
      if (gqa.heads % group != 0) {
        attention.fail("n_heads_in_group", "found " + std::to_string(group) +
                                               "; allowed: a divisor of num_attention_heads " +
                                               std::to_string(gqa.heads));
      }
      gqa.kv_heads = gqa.heads / group;
      add_gqa(builder, gqa);
      builder.add_vectors(hidden);
    }
    const HfObject ffn = block.object("ffn");
    require_plain(ffn);
    if (!ffn.boolean_or("no_op", false)) {
      add_dense_mlp(builder, mlp_width(ffn, hidden), true, mlp_bias);
      builder.add_vectors(hidden);
    }
    model.spec.layers.push_back(std::move(builder.layer));
  }
}

}  // namespace smtwin
