// SPDX-License-Identifier: Apache-2.0
// How many parameters and bytes a model has, and what a sequence of it keeps in the cache.
//
// Cache layouts: GQA stores K and V of every KV head; MLA one latent (kv_lora_rank + RoPE part).
// fp8 layouts of sparse MLA and of DeepSeek-V4 keep the RoPE part in bf16 and scales in the row
// (vLLM and SGLang; FlashMLA documents 656 B, DeepSeek-V4's page is 576 + 8 B a token).
// Left out: page padding, block tables, and the tensor-wide scale of nvfp4 (one float a matrix).
#include "model/model_spec.hpp"

#include <algorithm>

#include "arch/units.hpp"

namespace smtwin {
namespace {

constexpr double kBf16Bytes = 2;
constexpr double kFp32Bytes = 4;
constexpr std::int64_t kBlock = 128;             // rows and columns of an fp8_block scale
constexpr std::int64_t kNvfp4Group = 16;         // elements of a scale, FP8 E4M3
constexpr std::int64_t kMxfp4Group = 32;         // elements of a scale, UE8M0 (OCP MX)
constexpr std::int64_t kInt4Group = 128;         // elements of a scale, fp16 (AWQ and GPTQ)
constexpr std::int64_t kLatentScaleGroup = 128;  // fp8 sparse MLA: latent elements of an fp32 scale
constexpr std::int64_t kDsv4ScaleGroup = 64;     // DeepSeek-V4: latent elements of a UE8M0 scale
constexpr std::int64_t kDsv4ScaleBytes = 8;      // its scale bytes come in multiples of this

bool is_fp8(NumberFormat format) {
  return format == NumberFormat::fp8 || format == NumberFormat::fp8_block;
}

double as_double(std::int64_t n) { return static_cast<double>(n); }

// Keys of the indexer that go with one entry of the cache.
double indexer_bytes(const AttentionSpec& a) {
  return a.indexer ? a.indexer->key_bytes_per_token : 0;
}

// DeepSeek-V4's compressor pools ratio tokens (two overlapping groups when the ratio is 4): it
// keeps their values and scores in fp32 until an entry is complete.
double compressor_state_bytes(std::int64_t ratio, std::int64_t width) {
  if (ratio == 0) return 0;
  const std::int64_t overlap = ratio == 4 ? 2 : 1;
  return 2 * as_double(overlap * ratio) * as_double(overlap * width) * kFp32Bytes;
}

double recurrent_state_bytes(const AttentionSpec& a) {
  const double state = as_double(a.value_heads) * as_double(a.key_dim) * as_double(a.value_dim) *
                       bytes_per_element(a.state_format);
  const double convolution = as_double(a.conv_channels) *
                             as_double(std::max<std::int64_t>(0, a.conv_kernel - 1)) * kBf16Bytes;
  return state + convolution;
}

double matrix_parameters(const LayerSpec& layer, bool active) {
  double sum = as_double(layer.vector_parameters);
  for (const WeightMatrix& m : layer.weights) {
    const bool chosen = active && m.shard == Shard::experts && layer.mlp.experts > 0;
    const double share =
        chosen ? as_double(layer.mlp.experts_per_token) / as_double(layer.mlp.experts) : 1;
    sum += m.parameters() * share;
  }
  return sum;
}

double decoder_parameters(const ModelSpec& model, bool active) {
  double sum = as_double(model.vector_parameters);
  for (const LayerSpec& layer : model.layers) sum += matrix_parameters(layer, active);
  return sum;
}

}  // namespace

std::string_view to_string(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
      return "fp32";
    case NumberFormat::bf16:
      return "bf16";
    case NumberFormat::fp16:
      return "fp16";
    case NumberFormat::fp8:
      return "fp8";
    case NumberFormat::fp8_block:
      return "fp8_block";
    case NumberFormat::int8:
      return "int8";
    case NumberFormat::int4:
      return "int4";
    case NumberFormat::mxfp4:
      return "mxfp4";
    case NumberFormat::nvfp4:
      return "nvfp4";
  }
  return "unknown";
}

double bytes_per_element(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
      return kFp32Bytes;
    case NumberFormat::bf16:
    case NumberFormat::fp16:
      return kBf16Bytes;
    case NumberFormat::fp8:
    case NumberFormat::int8:
      return 1;
    case NumberFormat::fp8_block:
      return 1 + kFp32Bytes / as_double(kBlock * kBlock);
    case NumberFormat::int4:
      return 0.5 + 2 / as_double(kInt4Group);
    case NumberFormat::mxfp4:
      return 0.5 + 1 / as_double(kMxfp4Group);
    case NumberFormat::nvfp4:
      return 0.5 + 1 / as_double(kNvfp4Group);
  }
  return 0;
}

ScaleBlock scale_block(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp8_block:
      return {.out = kBlock, .in = kBlock};
    case NumberFormat::int4:
      return {.out = 1, .in = kInt4Group};
    case NumberFormat::mxfp4:
      return {.out = 1, .in = kMxfp4Group};
    case NumberFormat::nvfp4:
      return {.out = 1, .in = kNvfp4Group};
    case NumberFormat::fp32:
    case NumberFormat::bf16:
    case NumberFormat::fp16:
    case NumberFormat::fp8:
    case NumberFormat::int8:
      return {};
  }
  return {};
}

std::string_view to_string(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::none:
      return "none";
    case AttentionKind::gqa:
      return "gqa";
    case AttentionKind::mla:
      return "mla";
    case AttentionKind::dsv4:
      return "dsv4";
    case AttentionKind::gated_delta:
      return "gated_delta";
    case AttentionKind::mamba2:
      return "mamba2";
  }
  return "unknown";
}

double WeightMatrix::element_bytes() const {
  if (!scale_group) return bytes_per_element(format);
  const double scale = *scale_group > 0 ? kBf16Bytes / as_double(*scale_group) : 0;
  return (format == NumberFormat::int4 ? 0.5 : 1) + scale;
}

ScaleBlock WeightMatrix::scale_block() const {
  if (!scale_group) return smtwin::scale_block(format);
  return {.out = 1, .in = std::max<std::int64_t>(1, *scale_group)};
}

double WeightMatrix::bytes() const {
  const double matrix = as_double(out) * as_double(in) * as_double(copies);
  return matrix * element_bytes() + as_double(bias) * kBf16Bytes;
}

double total_parameters(const ModelSpec& model) {
  return decoder_parameters(model, false) + model.embedding.parameters() +
         model.lm_head.parameters();
}

double active_parameters(const ModelSpec& model) {
  // A tied table is also the output projection, which multiplies all of it.
  const bool embedding_counts = model.active_includes_embedding || model.tied_embeddings;
  return decoder_parameters(model, true) + model.lm_head.parameters() +
         (embedding_counts ? model.embedding.parameters() : 0);
}

double weight_bytes(const ModelSpec& model) {
  double sum = model.embedding.bytes() + model.lm_head.bytes();
  double vectors = as_double(model.vector_parameters);
  for (const LayerSpec& layer : model.layers) {
    vectors += as_double(layer.vector_parameters);
    for (const WeightMatrix& m : layer.weights) sum += m.bytes();
  }
  return sum + vectors * kBf16Bytes;
}

double kv_entry_bytes(const AttentionSpec& a, NumberFormat kv) {
  switch (a.kind) {
    case AttentionKind::gqa:
      return as_double(a.kv_heads) * as_double(a.head_dim + (a.k_is_v ? 0 : a.v_head_dim)) *
             bytes_per_element(kv);
    case AttentionKind::mla:
      if (a.indexer && is_fp8(kv)) {
        return as_double(a.kv_lora_rank) +
               as_double(ceil_div(a.kv_lora_rank, kLatentScaleGroup)) * kFp32Bytes +
               as_double(a.qk_rope_head_dim) * kBf16Bytes;
      }
      return as_double(a.kv_lora_rank + a.qk_rope_head_dim) * bytes_per_element(kv);
    case AttentionKind::dsv4:
      if (is_fp8(kv)) {
        return as_double(a.qk_nope_head_dim) + as_double(a.qk_rope_head_dim) * kBf16Bytes +
               as_double(round_up(ceil_div(a.qk_nope_head_dim, kDsv4ScaleGroup), kDsv4ScaleBytes));
      }
      return as_double(a.head_dim) * bytes_per_element(kv);
    case AttentionKind::none:
    case AttentionKind::gated_delta:
    case AttentionKind::mamba2:
      return 0;
  }
  return 0;
}

double kv_bytes_per_token(const LayerSpec& layer, NumberFormat kv) {
  const AttentionSpec& a = layer.attention;
  if (a.kind == AttentionKind::dsv4) {
    if (a.compress_ratio == 0) return 0;
    return (kv_entry_bytes(a, kv) + indexer_bytes(a)) / as_double(a.compress_ratio);
  }
  return a.window > 0 ? 0 : kv_entry_bytes(a, kv) + indexer_bytes(a);
}

double state_bytes_per_sequence(const LayerSpec& layer, NumberFormat kv) {
  const AttentionSpec& a = layer.attention;
  switch (a.kind) {
    case AttentionKind::gated_delta:
    case AttentionKind::mamba2:
      return recurrent_state_bytes(a);
    case AttentionKind::dsv4:
      return as_double(a.window) * kv_entry_bytes(a, kv) +
             compressor_state_bytes(a.compress_ratio, a.head_dim) +
             (a.indexer ? compressor_state_bytes(a.compress_ratio, a.indexer->head_dim) : 0);
    case AttentionKind::none:
    case AttentionKind::gqa:
    case AttentionKind::mla:
      return as_double(a.window) * kv_entry_bytes(a, kv);
  }
  return 0;
}

double cache_bytes_per_sequence(const LayerSpec& layer, NumberFormat kv, std::int64_t context) {
  const AttentionSpec& a = layer.attention;
  const std::int64_t empty = std::max<std::int64_t>(0, a.window - context);
  return kv_bytes_per_token(layer, kv) * as_double(context) + state_bytes_per_sequence(layer, kv) -
         as_double(empty) * kv_entry_bytes(a, kv);
}

}  // namespace smtwin
