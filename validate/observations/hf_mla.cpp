// SPDX-License-Identifier: Apache-2.0
// Multi-head latent attention: DeepSeek-V2, V3, R1, V3.2, Kimi-K2, GLM-4.7-Flash, GLM-5, with or
// without the indexer of DeepSeek sparse attention. In decode, engines run the absorbed form: the
// latent of kv_lora_rank + qk_rope_head_dim is K and V of one shared head, and kv_b_proj is split
// into W_UK and W_UV, applied per query head. They keep these two in bf16 whatever the checkpoint
// says (vLLM, SGLang), and never quantize weights_proj of the indexer. Sources: deepseek_v3 and
// glm_moe_dsa in transformers; vLLM deepseek_v2.py.
#include "validate/observations/hf_builder.hpp"

namespace smtwin {
namespace {

constexpr HfRange kRank{.minimum = 1, .maximum = 1'000'000};
constexpr std::int64_t kNormsPerLayer = 2;
// Bytes that the fp8 key cache of the indexer adds to each key for its fp32 scale.
constexpr double kIndexScaleBytes = 4;

struct MlaShape {
  std::int64_t heads = 0;
  std::int64_t q_rank = 0;
  std::int64_t kv_rank = 0;
  std::int64_t nope = 0;
  std::int64_t rope = 0;
  std::int64_t v = 0;
  std::optional<IndexerSpec> indexer;
};

MlaShape read_shape(const HfObject& config) {
  MlaShape s;
  s.heads = config.integer("num_attention_heads", kHeadCount);
  s.q_rank = config.integer_or("q_lora_rank", 0, kRank);
  s.kv_rank = config.integer("kv_lora_rank", kRank);
  s.nope = config.integer("qk_nope_head_dim", kHeadDim);
  s.rope = config.integer("qk_rope_head_dim", kHeadDim);
  s.v = config.integer("v_head_dim", kHeadDim);
  if (config.boolean_or("attention_bias", false)) config.not_modelled("attention_bias", "false");
  if (config.has("index_topk")) {
    if (s.q_rank == 0) {
      config.fail("q_lora_rank", "missing; the indexer reads the low-rank query");
    }
    IndexerSpec indexer;
    indexer.heads = config.integer("index_n_heads", kHeadCount);
    indexer.head_dim = config.integer("index_head_dim", kHeadDim);
    indexer.topk = config.integer("index_topk", kTokens);
    indexer.key_bytes_per_token = static_cast<double>(indexer.head_dim) + kIndexScaleBytes;
    s.indexer = indexer;
  }
  return s;
}

void add_indexer(HfLayerBuilder& builder, const MlaShape& s, std::int64_t hidden) {
  const IndexerSpec& indexer = *s.indexer;
  builder.add({.name = "index_q_b",
               .parts = {{indexer.heads * indexer.head_dim, {"self_attn.indexer.wq_b"}}},
               .in = s.q_rank});
  builder.add(
      {.name = "index_k", .parts = {{indexer.head_dim, {"self_attn.indexer.wk"}}}, .in = hidden});
  builder.add_as(builder.model().quantization.base(),
                 {.name = "index_weights",
                  .parts = {{indexer.heads, {"self_attn.indexer.weights_proj"}}},
                  .in = hidden});
  builder.add_vectors(2 * indexer.head_dim);  // LayerNorm of the keys: weight and bias
}

void add_mla(HfLayerBuilder& builder, const MlaShape& s) {
  const std::int64_t hidden = builder.model().spec.hidden;
  AttentionSpec& a = builder.layer.attention;
  a.kind = AttentionKind::mla;
  a.heads = s.heads;
  a.kv_heads = 1;
  a.head_dim = s.kv_rank + s.rope;
  a.v_head_dim = s.v;
  a.k_is_v = true;
  a.q_lora_rank = s.q_rank;
  a.kv_lora_rank = s.kv_rank;
  a.qk_nope_head_dim = s.nope;
  a.qk_rope_head_dim = s.rope;
  a.indexer = s.indexer;

  const std::int64_t q_rows = s.heads * (s.nope + s.rope);
  HfMatrix qkv_a{.name = "qkv_a", .parts = {}, .in = hidden};
  if (s.q_rank > 0) qkv_a.parts.push_back({s.q_rank, {"self_attn.q_a_proj"}});
  qkv_a.parts.push_back({s.kv_rank + s.rope, {"self_attn.kv_a_proj_with_mqa"}});
  builder.add(qkv_a);
  if (s.q_rank > 0) {
    builder.add({.name = "q_b",
                 .parts = {{q_rows, {"self_attn.q_b_proj"}}},
                 .in = s.q_rank,
                 .shard = Shard::columns});
  } else {
    builder.add({.name = "q",
                 .parts = {{q_rows, {"self_attn.q_proj"}}},
                 .in = hidden,
                 .shard = Shard::columns});
  }
  const NumberFormat absorbed = builder.model().quantization.base();
  builder.add_as(absorbed, {.name = "kv_b_k",
                            .parts = {{s.kv_rank, {"self_attn.kv_b_proj"}}},
                            .in = s.nope,
                            .shard = Shard::heads,
                            .copies = s.heads});
  builder.add_as(absorbed, {.name = "kv_b_v",
                            .parts = {{s.v, {"self_attn.kv_b_proj"}}},
                            .in = s.kv_rank,
                            .shard = Shard::heads,
                            .copies = s.heads});
  builder.add({.name = "o",
               .parts = {{hidden, {"self_attn.o_proj"}}},
               .in = s.heads * s.v,
               .shard = Shard::rows});
  builder.add_vectors(s.q_rank + s.kv_rank);
  if (s.indexer) add_indexer(builder, s, hidden);
}

}  // namespace

void read_mla(HfModel& model) {
  const HfObject& config = model.config;
  const MlaShape shape = read_shape(config);
  const std::int64_t dense_unsaid = model.model_type == "glm4_moe_lite" ? 1 : 0;
  const std::vector<bool> sparse = read_expert_layers(model, dense_unsaid);
  HfMoe moe = read_moe(config, "n_routed_experts");
  moe.shared_intermediate =
      config.integer_or("n_shared_experts", 0, kSmallCount) * moe.intermediate;
  // The routing that balances without an auxiliary loss adds a bias to each expert's score.
  const std::string routing = config.optional_text("topk_method").value_or("greedy");
  if (routing != "noaux_tc" && routing != "greedy" && routing != "group_limited_greedy") {
    config.not_modelled("topk_method", "\"noaux_tc\", \"greedy\", \"group_limited_greedy\"");
  }
  moe.correction_bias = routing == "noaux_tc";
  for (std::int64_t i = 0; i < model.layers; ++i) {
    HfLayerBuilder builder(model, i);
    add_mla(builder, shape);
    if (sparse[static_cast<std::size_t>(i)]) {
      add_moe(builder, moe);
    } else {
      add_dense_mlp(builder, config.integer("intermediate_size", kWidth), true, false);
    }
    builder.add_vectors(kNormsPerLayer * model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
  model.note(
      "kv_b_proj is counted in bf16: engines absorb it into the query and output of attention");
}

}  // namespace smtwin
