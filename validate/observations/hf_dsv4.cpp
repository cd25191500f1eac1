// SPDX-License-Identifier: Apache-2.0
// DeepSeek-V4: one shared latent head over a sliding window and, by layer, over entries that a
// compressor pools from 4 tokens (with an indexer that picks the top ones) or from 128; low-rank
// query, grouped low-rank output, hyper-connections instead of a residual, experts in every layer.
// Shapes and stored formats: the model.py published with the weights. The compressors, the scores'
// weights_proj and the router are bf16 there, the mixing of the streams fp32; experts of
// expert_dtype fp4 have a UE8M0 scale per 32 elements (MXFP4).
// Left out: the table of expert ids of hash-routed layers (int, one row a token), MTP layers.
#include "validate/observations/hf_builder.hpp"

namespace smtwin {
namespace {

constexpr HfRange kRank{.minimum = 1, .maximum = 1'000'000};
constexpr std::int64_t kOverlappingRatio = 4;  // its groups overlap: two per entry
constexpr std::int64_t kIndexedRatio = 4;      // layers of this ratio have an indexer
constexpr double kIndexScaleBytes = 4;         // fp32 scale beside each fp8 key of the indexer

struct Dsv4Shape {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t rope = 0;
  std::int64_t q_rank = 0;
  std::int64_t o_groups = 0;
  std::int64_t o_rank = 0;
  std::int64_t window = 0;
  std::int64_t streams = 0;
  IndexerSpec indexer;
};

Dsv4Shape read_shape(const HfObject& config) {
  Dsv4Shape s;
  s.heads = config.integer("num_attention_heads", kHeadCount);
  s.head_dim = config.integer("head_dim", kHeadDim);
  s.rope = config.integer("qk_rope_head_dim", {.minimum = 1, .maximum = s.head_dim});
  s.q_rank = config.integer("q_lora_rank", kRank);
  s.o_groups = config.integer("o_groups", kHeadCount);
  s.o_rank = config.integer("o_lora_rank", kRank);
  s.window = config.integer("sliding_window", kTokens);
  s.streams = config.integer("hc_mult", {.minimum = 1, .maximum = 64});
  s.indexer.heads = config.integer("index_n_heads", kHeadCount);
  s.indexer.head_dim = config.integer("index_head_dim", kHeadDim);
  s.indexer.topk = config.integer("index_topk", kTokens);
  s.indexer.key_bytes_per_token = static_cast<double>(s.indexer.head_dim) + kIndexScaleBytes;
  if (config.integer_or("num_key_value_heads", 1, kHeadCount) != 1) {
    config.not_modelled("num_key_value_heads", "1");
  }
  if (s.heads % s.o_groups != 0) {
    config.fail("o_groups", "found " + std::to_string(s.o_groups) +
                                "; allowed: a divisor of num_attention_heads " +
                                std::to_string(s.heads));
  }
  return s;
}

// The two names that checkpoints and their requantized copies use.
std::vector<std::string> spellings(const std::string& original, const std::string& converted) {
  return {original, converted};
}

void add_compressor(HfLayerBuilder& builder, const std::string& prefix, const std::string& module,
                    std::int64_t ratio, std::int64_t width) {
  const std::int64_t rows = (ratio == kOverlappingRatio ? 2 : 1) * width;
  const std::int64_t hidden = builder.model().spec.hidden;
  const NumberFormat base = builder.model().quantization.base();
  builder.add_as(base, {.name = prefix + "_kv", .parts = {{rows, {module + "wkv"}}}, .in = hidden});
  builder.add_as(base,
                 {.name = prefix + "_gate", .parts = {{rows, {module + "wgate"}}}, .in = hidden});
  builder.add_vectors(ratio * rows + width);  // a bias for each position in the group, a norm
}

void add_attention(HfLayerBuilder& builder, const Dsv4Shape& s, std::int64_t ratio) {
  const std::int64_t hidden = builder.model().spec.hidden;
  AttentionSpec& a = builder.layer.attention;
  a.kind = AttentionKind::dsv4;
  a.heads = s.heads;
  a.kv_heads = 1;
  a.head_dim = s.head_dim;
  a.v_head_dim = s.head_dim;
  a.window = s.window;
  a.qk_norm = true;
  a.sink = true;
  a.k_is_v = true;
  a.q_lora_rank = s.q_rank;
  a.qk_nope_head_dim = s.head_dim - s.rope;
  a.qk_rope_head_dim = s.rope;
  a.compress_ratio = ratio;
  a.o_groups = s.o_groups;
  a.o_lora_rank = s.o_rank;

  builder.add({.name = "qkv_a",
               .parts = {{s.q_rank, spellings("attn.wq_a", "self_attn.q_a_proj")},
                         {s.head_dim, spellings("attn.wkv", "self_attn.kv_proj")}},
               .in = hidden});
  builder.add({.name = "q_b",
               .parts = {{s.heads * s.head_dim, spellings("attn.wq_b", "self_attn.q_b_proj")}},
               .in = s.q_rank,
               .shard = Shard::columns});
  builder.add({.name = "o_a",
               .parts = {{s.o_rank, spellings("attn.wo_a", "self_attn.o_a_proj")}},
               .in = s.heads * s.head_dim / s.o_groups,
               .shard = Shard::heads,
               .copies = s.o_groups});
  builder.add({.name = "o_b",
               .parts = {{hidden, spellings("attn.wo_b", "self_attn.o_b_proj")}},
               .in = s.o_groups * s.o_rank,
               .shard = Shard::rows});
  builder.add_vectors(s.q_rank + s.head_dim + s.heads);  // norms of q and kv, sinks
  if (ratio > 0) add_compressor(builder, "compressor", "attn.compressor.", ratio, s.head_dim);
  if (ratio != kIndexedRatio) return;

  a.indexer = s.indexer;
  builder.add({.name = "index_q_b",
               .parts = {{s.indexer.heads * s.indexer.head_dim,
                          spellings("attn.indexer.wq_b", "self_attn.compressor.indexer.q_b_proj")}},
               .in = s.q_rank});
  builder.add_as(builder.model().quantization.base(),
                 {.name = "index_weights",
                  .parts = {{s.indexer.heads, {"attn.indexer.weights_proj"}}},
                  .in = hidden});
  add_compressor(builder, "index_compressor", "attn.indexer.compressor.", ratio,
                 s.indexer.head_dim);
}

// One matrix before attention and one before the MLP: weights of reading the streams, of writing
// them, and of mixing them among each other.
void add_hyper_connections(HfLayerBuilder& builder, std::int64_t streams) {
  const std::int64_t rows = (2 + streams) * streams;
  const std::int64_t in = streams * builder.model().spec.hidden;
  builder.add_as(NumberFormat::fp32,
                 {.name = "hyper_attention", .parts = {{rows, {"hc_attn_fn"}}}, .in = in});
  builder.add_as(NumberFormat::fp32,
                 {.name = "hyper_mlp", .parts = {{rows, {"hc_ffn_fn"}}}, .in = in});
  builder.add_vectors(2 * (rows + 3));  // base, and a scale for each of the three
}

}  // namespace

void read_dsv4(HfModel& model) {
  const HfObject& config = model.config;
  model.layer_prefixes = {"layers.", "model.layers."};
  const Dsv4Shape shape = read_shape(config);
  const std::vector<std::int64_t> ratios =
      read_layer_list(model, "compress_ratios", {.minimum = 0, .maximum = kTokens.maximum});
  const std::int64_t hashed = config.integer_or("num_hash_layers", 0, kSmallCount);
  HfMoe moe = read_moe(config, "n_routed_experts");
  moe.shared_intermediate =
      config.integer_or("n_shared_experts", 0, kSmallCount) * moe.intermediate;
  HfMlpModules modules;
  modules.router = "ffn.gate";
  modules.experts = "ffn.experts.0.";
  modules.shared = "ffn.shared_experts.";
  modules.gate = "w1";
  modules.up = "w3";
  modules.down = "w2";
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const std::int64_t ratio = ratios[static_cast<std::size_t>(i)];
    if (ratio != 0 && ratio != 4 && ratio != 128) {
      config.fail("compress_ratios/" + std::to_string(i),
                  std::to_string(ratio) + " is not modelled; modelled: 0, 4, 128");
    }
    HfLayerBuilder builder(model, i);
    add_attention(builder, shape, ratio);
    moe.hash_routed = i < hashed;
    moe.correction_bias = !moe.hash_routed;
    add_moe(builder, moe, modules);
    add_hyper_connections(builder, shape.streams);
    builder.add_vectors(2 * model.spec.hidden);
    model.spec.layers.push_back(std::move(builder.layer));
  }
  model.spec.hyper_streams = shape.streams;
  model.spec.hyper_iterations = config.integer("hc_sinkhorn_iters", kSmallCount);
  // The streams are added up by a small projection of their own before the final norm.
  model.spec.vector_parameters +=
      shape.streams * shape.streams * model.spec.hidden + shape.streams + 1;
  model.spec.kv_format = NumberFormat::fp8;
  model.note(
      "the cache is fp8 with a bf16 RoPE part, the layout that the model was trained for and "
      "engines use");
}

}  // namespace smtwin
