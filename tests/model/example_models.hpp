// SPDX-License-Identifier: Apache-2.0
// Models written out by hand from their published configs, so that tests of the step model do not
// depend on the reader of config.json.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/model_spec.hpp"

namespace smtwin::test {

inline WeightMatrix matrix(std::string name, std::int64_t out, std::int64_t in, Shard shard,
                           NumberFormat format = NumberFormat::bf16, std::int64_t copies = 1) {
  WeightMatrix m;
  m.name = std::move(name);
  m.out = out;
  m.in = in;
  m.copies = copies;
  m.format = format;
  m.shard = shard;
  return m;
}

inline void add_embeddings(ModelSpec& model) {
  model.embedding = matrix("embedding", model.vocabulary, model.hidden, Shard::vocabulary);
  model.lm_head = matrix("lm_head", model.vocabulary, model.hidden, Shard::vocabulary);
}

// Llama-3.1-8B: 32 layers, hidden 4096, 32 heads and 8 KV heads of 128, MLP 14336.
inline ModelSpec llama_8b() {
  ModelSpec model;
  model.name = "Llama-3.1-8B";
  model.file = "config.json";
  model.hidden = 4096;
  model.vocabulary = 128256;
  model.max_context = 131072;
  LayerSpec layer;
  layer.attention.kind = AttentionKind::gqa;
  layer.attention.heads = 32;
  layer.attention.kv_heads = 8;
  layer.attention.head_dim = 128;
  layer.attention.v_head_dim = 128;
  layer.mlp.kind = MlpKind::dense;
  layer.mlp.intermediate = 14336;
  layer.weights = {matrix("qkv", 6144, 4096, Shard::columns), matrix("o", 4096, 4096, Shard::rows),
                   matrix("gate_up", 2 * 14336, 4096, Shard::columns),
                   matrix("down", 4096, 14336, Shard::rows)};
  layer.vector_parameters = 2 * 4096;
  model.layers.assign(32, layer);
  model.vector_parameters = 4096;
  add_embeddings(model);
  return model;
}

// A mixture of experts on Llama's attention: Qwen3-30B-A3B's expert layer.
inline ModelSpec qwen3_30b_a3b(NumberFormat experts = NumberFormat::bf16) {
  ModelSpec model;
  model.name = "Qwen3-30B-A3B";
  model.file = "config.json";
  model.hidden = 2048;
  model.vocabulary = 151936;
  LayerSpec layer;
  layer.attention.kind = AttentionKind::gqa;
  layer.attention.heads = 32;
  layer.attention.kv_heads = 4;
  layer.attention.head_dim = 128;
  layer.attention.v_head_dim = 128;
  layer.attention.qk_norm = true;
  layer.mlp.kind = MlpKind::moe;
  layer.mlp.experts = 128;
  layer.mlp.experts_per_token = 8;
  layer.mlp.expert_intermediate = 768;
  layer.weights = {matrix("qkv", 4096 + 2 * 512, 2048, Shard::columns),
                   matrix("o", 2048, 4096, Shard::rows),
                   matrix("router", 128, 2048, Shard::replicated),
                   matrix("experts_gate_up", 2 * 768, 2048, Shard::experts, experts, 128),
                   matrix("experts_down", 2048, 768, Shard::experts, experts, 128)};
  model.layers.assign(48, layer);
  add_embeddings(model);
  return model;
}

// DeepSeek-V3: 3 dense layers, 58 with 256 experts; block-scaled fp8.
inline ModelSpec deepseek_v3() {
  constexpr auto fp8 = NumberFormat::fp8_block;
  ModelSpec model;
  model.name = "DeepSeek-V3";
  model.file = "config.json";
  model.hidden = 7168;
  model.vocabulary = 129280;
  LayerSpec dense;
  AttentionSpec& a = dense.attention;
  a.kind = AttentionKind::mla;
  a.heads = 128;
  a.kv_heads = 1;
  a.head_dim = 576;
  a.v_head_dim = 128;
  a.q_lora_rank = 1536;
  a.kv_lora_rank = 512;
  a.qk_nope_head_dim = 128;
  a.qk_rope_head_dim = 64;
  dense.mlp.kind = MlpKind::dense;
  dense.mlp.intermediate = 18432;
  const std::vector<WeightMatrix> attention = {
      matrix("qkv_a", 1536 + 512 + 64, 7168, Shard::replicated, fp8),
      matrix("q_b", 128 * 192, 1536, Shard::columns, fp8),
      matrix("kv_b_k", 512, 128, Shard::heads, NumberFormat::bf16, 128),
      matrix("kv_b_v", 128, 512, Shard::heads, NumberFormat::bf16, 128),
      matrix("o", 7168, 128 * 128, Shard::rows, fp8)};
  dense.weights = attention;
  dense.weights.push_back(matrix("gate_up", 2 * 18432, 7168, Shard::columns, fp8));
  dense.weights.push_back(matrix("down", 7168, 18432, Shard::rows, fp8));

  LayerSpec sparse;
  sparse.attention = a;
  sparse.mlp.kind = MlpKind::moe;
  sparse.mlp.experts = 256;
  sparse.mlp.experts_per_token = 8;
  sparse.mlp.expert_intermediate = 2048;
  sparse.mlp.shared_intermediate = 2048;
  sparse.weights = attention;
  sparse.weights.push_back(matrix("router", 256, 7168, Shard::replicated));
  sparse.weights.push_back(matrix("experts_gate_up", 4096, 7168, Shard::experts, fp8, 256));
  sparse.weights.push_back(matrix("experts_down", 7168, 2048, Shard::experts, fp8, 256));
  sparse.weights.push_back(matrix("shared_gate_up", 4096, 7168, Shard::columns, fp8));
  sparse.weights.push_back(matrix("shared_down", 7168, 2048, Shard::rows, fp8));
  model.layers.assign(3, dense);
  model.layers.insert(model.layers.end(), 58, sparse);
  add_embeddings(model);
  return model;
}

// A DeepSeek-V4-Flash layer with compress ratio 0, 4 or 128: experts FP4, attention fp8.
inline LayerSpec dsv4_layer(std::int64_t ratio) {
  constexpr auto fp8 = NumberFormat::fp8_block;
  LayerSpec layer;
  AttentionSpec& a = layer.attention;
  a.kind = AttentionKind::dsv4;
  a.heads = 64;
  a.kv_heads = 1;
  a.head_dim = 512;
  a.v_head_dim = 512;
  a.window = 128;
  a.k_is_v = true;
  a.q_lora_rank = 1024;
  a.qk_nope_head_dim = 448;
  a.qk_rope_head_dim = 64;
  a.compress_ratio = ratio;
  a.o_groups = 8;
  a.o_lora_rank = 1024;
  layer.weights = {matrix("qkv_a", 1024 + 512, 4096, Shard::replicated, fp8),
                   matrix("q_b", 64 * 512, 1024, Shard::columns, fp8),
                   matrix("o_a", 1024, 64 * 512 / 8, Shard::heads, fp8, 8),
                   matrix("o_b", 4096, 8 * 1024, Shard::rows, fp8)};
  if (ratio > 0) {
    const std::int64_t width = (ratio == 4 ? 2 : 1) * 512;
    layer.weights.push_back(matrix("compressor_kv", width, 4096, Shard::replicated));
    layer.weights.push_back(matrix("compressor_gate", width, 4096, Shard::replicated));
  }
  if (ratio == 4) {
    a.indexer = IndexerSpec{.heads = 64, .head_dim = 128, .topk = 512, .key_bytes_per_token = 132};
    layer.weights.push_back(matrix("index_q_b", 64 * 128, 1024, Shard::replicated, fp8));
    layer.weights.push_back(matrix("index_weights", 64, 4096, Shard::replicated));
    layer.weights.push_back(matrix("index_compressor_kv", 256, 4096, Shard::replicated));
    layer.weights.push_back(matrix("index_compressor_gate", 256, 4096, Shard::replicated));
  }
  layer.mlp.kind = MlpKind::moe;
  layer.mlp.experts = 256;
  layer.mlp.experts_per_token = 6;
  layer.mlp.expert_intermediate = 2048;
  layer.mlp.shared_intermediate = 2048;
  layer.weights.push_back(matrix("router", 256, 4096, Shard::replicated));
  layer.weights.push_back(
      matrix("experts_gate_up", 4096, 4096, Shard::experts, NumberFormat::mxfp4, 256));
  layer.weights.push_back(
      matrix("experts_down", 4096, 2048, Shard::experts, NumberFormat::mxfp4, 256));
  layer.weights.push_back(matrix("shared_gate_up", 4096, 4096, Shard::columns, fp8));
  layer.weights.push_back(matrix("shared_down", 4096, 2048, Shard::rows, fp8));
  layer.weights.push_back(
      matrix("hyper_attention", 24, 4 * 4096, Shard::replicated, NumberFormat::fp32));
  layer.weights.push_back(matrix("hyper_mlp", 24, 4 * 4096, Shard::replicated, NumberFormat::fp32));
  return layer;
}

// DeepSeek-V4-Flash: ratios 0 x 2, then 4 and 128 in turn; 43 layers.
inline ModelSpec dsv4_flash() {
  ModelSpec model;
  model.name = "DeepSeek-V4-Flash";
  model.file = "config.json";
  model.hidden = 4096;
  model.vocabulary = 129280;
  model.hyper_streams = 4;
  model.hyper_iterations = 20;
  model.kv_format = NumberFormat::fp8;
  for (int i = 0; i < 43; ++i) model.layers.push_back(dsv4_layer(i < 2 ? 0 : i % 2 == 0 ? 4 : 128));
  for (int i = 0; i < 3; ++i) model.layers[static_cast<std::size_t>(i)].mlp.hash_routed = true;
  add_embeddings(model);
  return model;
}

}  // namespace smtwin::test
