// SPDX-License-Identifier: Apache-2.0
// Hybrids of the gated delta rule, which keeps a fixed state per sequence instead of a cache, and
// GQA in every few layers: Qwen3-Next, Qwen3.5. (Mamba-2 hybrids: hf_mamba2.cpp.)
// Shapes: the public model sources in transformers. Modelled as projections, convolution, state.
#include "validate/observations/hf_builder.hpp"

namespace smtwin {
namespace {

struct GatedDelta {
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t kernel = 0;
  NumberFormat state = NumberFormat::fp32;
};

GatedDelta read_shape(const HfObject& config) {
  GatedDelta g;
  g.key_heads = config.integer("linear_num_key_heads", kHeadCount);
  g.value_heads = config.integer("linear_num_value_heads", kHeadCount);
  g.key_dim = config.integer("linear_key_head_dim", kHeadDim);
  g.value_dim = config.integer("linear_value_head_dim", kHeadDim);
  g.kernel = config.integer("linear_conv_kernel_dim", kKernel);
  g.state = read_dtype(config, "mamba_ssm_dtype").value_or(NumberFormat::fp32);
  if (g.value_heads % g.key_heads != 0) {
    config.fail("linear_num_value_heads", "found " + std::to_string(g.value_heads) +
                                              "; allowed: a multiple of linear_num_key_heads " +
                                              std::to_string(g.key_heads));
  }
  return g;
}

void add_gated_delta(HfLayerBuilder& builder, const GatedDelta& g) {
  const std::int64_t hidden = builder.model().spec.hidden;
  const std::int64_t keys = g.key_heads * g.key_dim;
  const std::int64_t values = g.value_heads * g.value_dim;
  AttentionSpec& a = builder.layer.attention;
  a.kind = AttentionKind::gated_delta;
  a.key_heads = g.key_heads;
  a.value_heads = g.value_heads;
  a.key_dim = g.key_dim;
  a.value_dim = g.value_dim;
  a.state_format = g.state;
  a.output_gate = true;

  // Q, K, V and the output gate z; then the decay a and the write strength b of each value head.
  HfMatrix in{.name = "linear_in", .parts = {}, .in = hidden, .shard = Shard::columns};
  if (builder.model().model_type.rfind("qwen3_next", 0) == 0) {
    in.parts = {{2 * keys + 2 * values, {"linear_attn.in_proj_qkvz"}},
                {2 * g.value_heads, {"linear_attn.in_proj_ba"}}};
  } else {
    in.parts = {{2 * keys + values, {"linear_attn.in_proj_qkv"}},
                {values, {"linear_attn.in_proj_z"}},
                {g.value_heads, {"linear_attn.in_proj_b"}},
                {g.value_heads, {"linear_attn.in_proj_a"}}};
  }
  builder.add(in);
  add_convolution(builder, 2 * keys + values, g.kernel, "linear_attn.conv1d", false);
  builder.add({.name = "linear_out",
               .parts = {{hidden, {"linear_attn.out_proj"}}},
               .in = values,
               .shard = Shard::rows});
  builder.add_vectors(2 * g.value_heads + g.value_dim);  // A_log, dt_bias, norm of the output
}

// True where a layer is linear attention.
std::vector<bool> linear_layers(const HfModel& model) {
  const HfObject& config = model.config;
  std::vector<bool> linear(static_cast<std::size_t>(model.layers));
  if (const auto types = config.optional_texts("layer_types")) {
    read_windows(model, 0);  // complains about unknown types and a short list
    for (std::size_t i = 0; i < linear.size(); ++i) linear[i] = (*types)[i] == "linear_attention";
    return linear;
  }
  const std::int64_t interval = config.integer("full_attention_interval", kLayerCount);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    linear[static_cast<std::size_t>(i)] = (i + 1) % interval != 0;
  }
  return linear;
}

}  // namespace

void read_gated_delta(HfModel& model) {
  const HfObject& config = model.config;
  HfGqa gqa = read_gqa(config);
  gqa.qkv_bias = config.boolean_or("attention_bias", false);
  gqa.o_bias = gqa.qkv_bias;
  gqa.output_gate = config.boolean_or("attn_output_gate", true);
  norm_each_head(gqa);
  const GatedDelta shape = read_shape(config);
  const std::vector<bool> linear = linear_layers(model);
  const std::vector<bool> sparse = qwen_expert_layers(model);
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    HfLayerBuilder builder(model, i);
    if (linear[at]) {
      add_gated_delta(builder, shape);
    } else {
      add_gqa(builder, gqa);
    }
    add_qwen_mlp(builder, sparse[at]);
    builder.add_vectors(2 * model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
}

}  // namespace smtwin
