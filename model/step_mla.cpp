// SPDX-License-Identifier: Apache-2.0
// Multi-head latent attention in its absorbed form (DeepSeek-V2/V3, Kimi-K2) and, with an indexer,
// sparse attention on top of it (DeepSeek-V3.2, GLM-5). The latent cache has one head, so every
// rank reads all of it whatever T is. The indexer is replicated and reads 132 B of every cached
// token; attention then reads the chosen ones only.
#include <algorithm>

#include "arch/units.hpp"
#include "model/step_builder.hpp"

namespace smtwin {
namespace {

constexpr double kBf16Bytes = 2;
constexpr double kFp32Bytes = 4;
constexpr double kSoftmaxFlops = 5;
// Query heads that one CTA of a latent attention kernel serves with the tokens it loaded.
constexpr std::int64_t kHeadsPerCta = 64;
// Radix selection goes over the scores once a byte of their ordered bits, assumed.
constexpr double kTopkPasses = 4;

}  // namespace

void build_index_scores(StepBuilder& b, std::int64_t keys) {
  const AttentionSpec& a = b.attention();
  if (!a.indexer) return;
  const IndexerSpec& index = *a.indexer;
  const double scores = static_cast<double>(b.batch()) * static_cast<double>(keys);
  StepOp op;
  op.name = "index scores";
  op.group = OpGroup::indexer;
  op.kind = OpKind::attention;
  op.pipe = b.options().math.fp8 ? MathPipe::fp8 : MathPipe::bf16;
  op.sequences = b.batch();
  op.tokens = keys;
  op.heads = index.heads;
  op.kv_heads = 1;
  op.head_dim = index.head_dim;
  op.splits = attention_splits(op.sequences, keys, b.options().sm_count);
  op.kv_bytes = scores * index.key_bytes_per_token;
  op.read_bytes = b.row_bytes(index.heads * index.head_dim);
  op.write_bytes = scores * kFp32Bytes;
  op.flops = kFlopsPerFma * scores * static_cast<double>(index.heads * index.head_dim);
  // ReLU and the weighted sum over the index heads.
  op.fp32_flops = kFlopsPerFma * scores * static_cast<double>(index.heads);
  b.add(std::move(op));
  b.stream_kernel("index top-k",
                  {.read_bytes = scores * kFp32Bytes,
                   .write_bytes = static_cast<double>(b.batch()) *
                                  static_cast<double>(std::min(keys, index.topk)) * kFp32Bytes,
                   .ctas = b.batch(),
                   .passes = kTopkPasses},
                  OpGroup::indexer);
}

namespace {

void build_indexer(StepBuilder& b) {
  const AttentionSpec& a = b.attention();
  if (!a.indexer) return;
  const IndexerSpec& index = *a.indexer;
  const double query = b.row_bytes(index.heads * index.head_dim);
  const double key = b.row_bytes(index.head_dim);
  b.gemm("index_q_b", OpGroup::indexer, Quantized::by_producer);
  b.gemm("index_k", OpGroup::indexer, Quantized::by_producer);
  b.stream_kernel("index key norm",
                  {.read_bytes = key, .write_bytes = key, .ctas = b.rows(), .passes = 2},
                  OpGroup::indexer);
  b.stream_kernel("index rope", {.read_bytes = query + key, .write_bytes = query + key},
                  OpGroup::indexer);
  b.stream_kernel("index quantize + key write",
                  {.read_bytes = query + key,
                   .write_bytes = query / kBf16Bytes +
                                  static_cast<double>(b.batch()) * index.key_bytes_per_token},
                  OpGroup::indexer);
  b.gemm("index_weights", OpGroup::indexer, Quantized::by_producer);
  build_index_scores(b, b.options().context);
}

StepOp latent_attention(const StepBuilder& b) {
  const AttentionSpec& a = b.attention();
  const StepOptions& o = b.options();
  StepOp op;
  op.name = a.indexer ? "sparse attention" : "latent attention";
  op.group = OpGroup::attention;
  op.kind = a.indexer ? OpKind::sparse_attention : OpKind::attention;
  op.pipe = MathPipe::bf16;
  op.sequences = b.batch();
  op.tokens = attended_tokens(a, o.context);
  op.context = o.context;
  op.latent = true;
  op.kv_format = o.kv_format;
  op.heads = a.heads / b.layout().tp;
  op.kv_heads = 1;
  op.head_dim = a.kv_lora_rank + a.qk_rope_head_dim;
  op.v_head_dim = a.kv_lora_rank;
  op.splits = a.indexer ? sparse_attention_splits(op, o.sm_count)
                        : attention_splits(op.sequences * ceil_div(op.heads, kHeadsPerCta),
                                           op.tokens, o.sm_count);
  const auto batch = static_cast<double>(b.batch());
  const double scores = batch * static_cast<double>(op.heads * op.tokens);
  op.kv_bytes =
      batch * static_cast<double>(op.tokens) * cache_entry_bytes(a, o.kv_format, b.layout().tp);
  op.read_bytes = batch * static_cast<double>(op.heads * op.head_dim) * kBf16Bytes;
  op.write_bytes = batch * static_cast<double>(op.heads * op.v_head_dim) * kBf16Bytes;
  op.flops = kFlopsPerFma * scores * static_cast<double>(op.head_dim + op.v_head_dim);
  op.fp32_flops = kSoftmaxFlops * scores;
  return op;
}

}  // namespace

void build_mla_attention(StepBuilder& b) {
  const AttentionSpec& a = b.attention();
  const std::int64_t heads = a.heads / b.layout().tp;
  const double rope = b.row_bytes((heads + 1) * a.qk_rope_head_dim);
  b.set_producers_quantize(true);

  begin_block(b, "attention");
  b.gemm("qkv_a", OpGroup::projections, Quantized::by_producer);
  if (a.q_lora_rank > 0) b.norm("query norm", a.q_lora_rank);
  b.norm("latent norm", a.kv_lora_rank);
  b.gemm("q_b", OpGroup::projections, Quantized::by_producer);
  b.gemm("q", OpGroup::projections, Quantized::by_producer);  // models without q_lora_rank
  b.stream_kernel("rope", {.read_bytes = rope, .write_bytes = rope});
  b.gemm("kv_b_k", OpGroup::projections);
  b.stream_kernel("kv write",
                  {.read_bytes = b.row_bytes(a.kv_lora_rank + a.qk_rope_head_dim),
                   .write_bytes = static_cast<double>(b.batch()) *
                                  cache_entry_bytes(a, b.options().kv_format, b.layout().tp)});
  build_indexer(b);
  b.add_attention(latent_attention(b));
  b.gemm("kv_b_v", OpGroup::projections);
  b.gemm("o", OpGroup::projections);
  b.all_reduce("all-reduce (attn)");
}

}  // namespace smtwin
