// SPDX-License-Identifier: Apache-2.0
// Attention with K and V heads (MHA, GQA, MQA; full or sliding window), as in Llama, Qwen3,
// Mixtral, gpt-oss. With T > 1 each rank has H/T query heads and max(1, Kv/T) KV heads; the output
// projection leaves partial sums, so an all-reduce follows.
#include <algorithm>

#include "arch/units.hpp"
#include "model/step_builder.hpp"

namespace smtwin {
namespace {

constexpr double kBf16Bytes = 2;
// Scale, mask, running maximum and sum of the softmax, counted in flops a score.
constexpr double kSoftmaxFlops = 5;

}  // namespace

void build_gqa_attention(StepBuilder& b) {
  const AttentionSpec& a = b.attention();
  const std::int64_t heads = a.heads / b.layout().tp;
  const std::int64_t kv_heads = kv_heads_per_rank(a, b.layout().tp);
  const double entry_bytes = cache_entry_bytes(a, b.options().kv_format, b.layout().tp);
  const double query_and_key = b.row_bytes((heads + kv_heads) * a.head_dim);
  const auto batch = static_cast<double>(b.batch());

  begin_block(b, "attention");
  b.gemm("qkv", OpGroup::projections, Quantized::by_producer);
  if (a.qk_norm) {
    b.stream_kernel("q and k norm",
                    {.read_bytes = query_and_key, .write_bytes = query_and_key, .passes = 2});
  }
  b.stream_kernel("rope", {.read_bytes = query_and_key, .write_bytes = query_and_key});
  b.stream_kernel("kv write", {.read_bytes = batch * entry_bytes /
                                             bytes_per_element(b.options().kv_format) * kBf16Bytes,
                               .write_bytes = batch * entry_bytes});

  StepOp op;
  op.name = a.window > 0 ? "attention (window)" : "attention";
  op.group = OpGroup::attention;
  op.kind = OpKind::attention;
  op.pipe = MathPipe::bf16;
  op.sequences = b.batch();
  op.tokens = attended_tokens(a, b.options().context);
  op.context = b.options().context;
  op.window = a.window;
  op.context_cv = b.options().context_cv;
  op.kv_format = b.options().kv_format;
  op.heads = heads;
  op.kv_heads = kv_heads;
  op.head_dim = a.head_dim;
  op.v_head_dim = a.v_head_dim;
  op.splits = attention_splits(op.sequences * kv_heads, op.tokens, b.options().sm_count);
  const double scores = batch * static_cast<double>(heads * op.tokens);
  op.kv_bytes = batch * static_cast<double>(op.tokens) * entry_bytes;
  op.read_bytes = batch * static_cast<double>(heads * a.head_dim) * kBf16Bytes;
  op.write_bytes = batch * static_cast<double>(heads * a.v_head_dim) * kBf16Bytes;
  op.flops = kFlopsPerFma * scores * static_cast<double>(a.head_dim + a.v_head_dim);
  op.fp32_flops = kSoftmaxFlops * scores;
  b.add_attention(std::move(op));

  if (a.output_gate) {
    b.activation("output gate", b.rows(), heads * a.v_head_dim, true);
  }
  b.gemm("o", OpGroup::projections);
  b.all_reduce("all-reduce (attn)");
}

}  // namespace smtwin
