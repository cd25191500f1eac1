// SPDX-License-Identifier: Apache-2.0
// A language model as the decode model sees it: per layer, the weight matrices with their formats
// and how engines split them over GPUs, and what attention must read per cached token. Filled by
// validate/observations/hf_config.cpp from a Hugging Face config.json (+ hf_quant_config.json).
//
// Matrices are named by what they are (the list is in data/SCHEMA.md and model/step_*.cpp read
// them by name), shapes are [out, in] of y = W x, whole model, before any split.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smtwin {

enum class NumberFormat { fp32, bf16, fp16, fp8, fp8_block, int8, int4, mxfp4, nvfp4 };
std::string_view to_string(NumberFormat format);

// Bytes an element takes in memory, its share of the scales included: bf16 2, fp8 1 (per-tensor
// scale), fp8_block 1 + 4/(128*128), nvfp4 0.5 + 1/16, mxfp4 0.5 + 1/32, int4 0.5 + 2/128,
// int8 1 (a scale a channel).
double bytes_per_element(NumberFormat format);

// Elements that share one scale along (out, in); splits must not cut through a block.
struct ScaleBlock {
  std::int64_t out = 1;
  std::int64_t in = 1;
};
ScaleBlock scale_block(NumberFormat format);  // fp8_block 128x128, nvfp4 1x16, mxfp4 1x32,
                                              // int4 1x128

// How tensor parallelism divides a matrix.
enum class Shard {
  replicated,  // every rank holds and multiplies all of it
  columns,     // out divided by T
  rows,        // in divided by T; partial sums, so an all-reduce follows somewhere
  heads,       // `copies` (one matrix a head or group) divided by T
  kv_heads,    // out divided by min(T, kv heads): replicated when T is larger
  experts,     // TP: the intermediate width of every expert / T; EP: copies / ranks
  vocabulary   // out (vocabulary) divided by T, padded
};

struct WeightMatrix {
  std::string name;    // "qkv", "o", "q_a", "experts_gate_up", "router", ...
  std::string module;  // checkpoint module it was matched by, for messages: "self_attn.o_proj"
  std::int64_t out = 0;
  std::int64_t in = 0;
  std::int64_t copies = 1;  // experts, or heads of a batched projection
  NumberFormat format = NumberFormat::bf16;
  Shard shard = Shard::replicated;
  std::int64_t bias = 0;  // elements of a bias vector, all copies together
  double parameters() const {
    return static_cast<double>(out) * static_cast<double>(in) * static_cast<double>(copies) +
           static_cast<double>(bias);
  }
  // int4 and int8: elements along `in` that share a scale, where the checkpoint differs from what
  // the format stands for; 0 = one scale a row, too little to count.
  std::optional<std::int64_t> scale_group = std::nullopt;

  double element_bytes() const;    // bytes_per_element(format) with this matrix's groups
  ScaleBlock scale_block() const;  // likewise
  double bytes() const;            // parameters in `format`; the bias in bf16
};

enum class AttentionKind {
  none,
  gqa,          // MHA, GQA, MQA; full or sliding window
  mla,          // latent KV (DeepSeek-V2/V3, Kimi-K2), with or without a DSA indexer
  dsv4,         // DeepSeek-V4: shared-latent MQA over window + compressed entries
  gated_delta,  // Qwen3-Next/3.5 linear attention
  mamba2
};
std::string_view to_string(AttentionKind kind);

struct IndexerSpec {  // picks the top-k tokens that sparse attention then reads
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t topk = 0;
  double key_bytes_per_token = 0;  // 132: 128 fp8 + 4 scale
};

struct AttentionSpec {
  AttentionKind kind = AttentionKind::none;
  std::int64_t heads = 0;     // query heads
  std::int64_t kv_heads = 0;  // 1 for mla and dsv4
  std::int64_t head_dim = 0;  // of Q and K as attention multiplies them (mla absorbed: rank + rope)
  std::int64_t v_head_dim = 0;  // mla: of one head before the output projection, not the latent
  std::int64_t window = 0;      // tokens visible to sliding-window layers; 0 = all
  bool qk_norm = false;
  bool sink = false;
  bool k_is_v = false;  // one cached tensor serves as K and V
  bool output_gate = false;

  // mla and dsv4
  std::int64_t q_lora_rank = 0;  // 0 = one direct query projection
  std::int64_t kv_lora_rank = 0;
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t qk_rope_head_dim = 0;
  std::optional<IndexerSpec> indexer;
  std::int64_t compress_ratio = 0;  // dsv4: 0 window only, 4 CSA, 128 HCA
  std::int64_t o_groups = 0;
  std::int64_t o_lora_rank = 0;

  // gated_delta and mamba2: state per sequence instead of a KV cache
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_dim = 0;    // mamba2: state size
  std::int64_t value_dim = 0;  // mamba2: head dim
  std::int64_t conv_kernel = 0;
  std::int64_t conv_channels = 0;
  NumberFormat state_format = NumberFormat::fp32;
};

enum class MlpKind { none, dense, moe };

struct MlpSpec {
  MlpKind kind = MlpKind::none;
  bool gated = true;              // gate, up, down; false = up, down
  std::int64_t intermediate = 0;  // dense width, or the dense branch beside a moe
  std::int64_t experts = 0;
  std::int64_t experts_per_token = 0;
  std::int64_t expert_intermediate = 0;
  std::int64_t shared_intermediate = 0;  // of all shared experts together; 0 = none
  // dsv4: the experts are looked up by token id; the router still computes their weights.
  bool hash_routed = false;
};

struct LayerSpec {
  AttentionSpec attention;
  MlpSpec mlp;
  std::vector<WeightMatrix> weights;
  std::int64_t vector_parameters = 0;  // norms, sinks, biases of routing
};

struct ModelSpec {
  std::string name;
  std::string architecture;  // "DeepseekV4ForCausalLM"
  std::string file;
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_context = 0;
  bool tied_embeddings = false;
  // Whether the maker's active count includes the input embedding, a table that a token reads one
  // row of (most do; OpenAI's does not).
  bool active_includes_embedding = true;
  std::vector<LayerSpec> layers;  // every decoder layer, in order; MTP layers are not in here
  WeightMatrix embedding;
  WeightMatrix lm_head;                // copies = 0 when tied (the embedding table is read instead)
  std::int64_t vector_parameters = 0;  // final norm and the like
  NumberFormat activation_format = NumberFormat::bf16;  // of hidden states
  NumberFormat kv_format = NumberFormat::bf16;          // what the checkpoint asks for
  std::int64_t hyper_streams = 0;  // dsv4 hc_mult: residual streams; 0 = plain residual
  std::int64_t hyper_iterations = 0;
  std::int64_t mtp_layers = 0;     // present in the checkpoint, not run unless asked for
  std::vector<std::string> notes;  // what was not modelled or had to be read a certain way
};

// Parameters of the decoder with embeddings and lm_head, MTP layers excluded.
double total_parameters(const ModelSpec& model);
// Parameters that one token's forward pass multiplies by: all but the experts not chosen, plus
// embeddings as published counts do (see active_includes_embedding).
double active_parameters(const ModelSpec& model);
double weight_bytes(const ModelSpec& model);

// Bytes of one cached entry of a layer: K and V of all KV heads, or the latent of mla and dsv4 with
// the scales and the bf16 RoPE part that their fp8 layouts keep (656 B and 584 B an entry).
// 0 for layers without a cache.
double kv_entry_bytes(const AttentionSpec& attention, NumberFormat kv);

// Bytes that one more token adds to the cache of one layer on one rank before any head split, in
// the long run (0 once a sliding window is full), and the bytes a sequence holds regardless of its
// length (states, full windows). `kv` overrides the checkpoint's cache format.
double kv_bytes_per_token(const LayerSpec& layer, NumberFormat kv);
double state_bytes_per_sequence(const LayerSpec& layer, NumberFormat kv);

// What a sequence of `context` tokens holds in one layer, on one rank before any head split: as
// kv_bytes_per_token() x context + state_bytes_per_sequence(), but a window longer than the context
// counts only the tokens that are there.
double cache_bytes_per_sequence(const LayerSpec& layer, NumberFormat kv, std::int64_t context);

}  // namespace smtwin
