// SPDX-License-Identifier: Apache-2.0
// Attention of DeepSeek-V4 and its hyper-connections. Every layer keeps a window of raw tokens; by
// compress_ratio r it also reads pooled entries: none (0), the top-k of one in 4 (CSA, chosen by
// an indexer with keys of its own), or all of one in 128 (HCA). The cache has one latent head, so
// every rank reads all of it. Compressor and indexer run beside the query projections.
// The residual is hc_mult streams, mixed by a small fp32 matrix before and after each block.
#include <algorithm>

#include "arch/units.hpp"
#include "model/step_builder.hpp"

namespace smtwin {
namespace {

constexpr double kBf16Bytes = 2;
constexpr double kFp32Bytes = 4;
constexpr double kSoftmaxFlops = 5;
constexpr int kCompressorStream = 1;
constexpr int kIndexerStream = 2;

// Gated pooling: each token adds its key-value and gate columns (fp32) to the running state, and
// one step in `ratio` reads the state and writes an entry; averages over steps.
void pool(StepBuilder& b, const std::string& name, const std::string& matrix, double entry_bytes,
          OpGroup group) {
  const WeightMatrix* m = b.find(matrix);
  if (m == nullptr) return;
  const auto batch = static_cast<double>(b.batch());
  const double state_bytes = batch * 2 * static_cast<double>(m->out) * kFp32Bytes;
  b.stream_kernel(
      name,
      {.read_bytes = state_bytes + 2 * b.row_bytes(m->out),
       .write_bytes =
           state_bytes + batch * entry_bytes / static_cast<double>(b.attention().compress_ratio),
       .ctas = b.batch(),
       .passes = 2},
      group);
}

StepOp sparse_attention(const StepBuilder& b) {
  const AttentionSpec& a = b.attention();
  StepOp op;
  op.name = "sparse attention";
  op.group = OpGroup::attention;
  op.kind = OpKind::sparse_attention;
  op.pipe = MathPipe::bf16;
  op.sequences = b.batch();
  op.tokens = attended_tokens(a, b.options().context);
  op.heads = a.heads / b.layout().tp;
  op.kv_heads = 1;
  op.head_dim = a.head_dim;
  op.v_head_dim = a.head_dim;
  op.splits = sparse_attention_splits(op, b.options().sm_count);
  const auto batch = static_cast<double>(b.batch());
  const double scores = batch * static_cast<double>(op.heads * op.tokens);
  op.kv_bytes = batch * static_cast<double>(op.tokens) *
                cache_entry_bytes(a, b.options().kv_format, b.layout().tp);
  op.read_bytes = batch * static_cast<double>(op.heads * op.head_dim) * kBf16Bytes;
  op.write_bytes = batch * static_cast<double>(op.heads * op.v_head_dim) * kBf16Bytes;
  op.flops = kFlopsPerFma * scores * static_cast<double>(op.head_dim + op.v_head_dim);
  op.fp32_flops = kSoftmaxFlops * scores;
  return op;
}

void build_compressor(StepBuilder& b) {
  if (b.attention().compress_ratio == 0) return;
  b.fork(kCompressorStream);
  b.gemm("compressor_kv", OpGroup::compressor, Quantized::by_producer);
  b.gemm("compressor_gate", OpGroup::compressor, Quantized::by_producer);
  pool(b, "compressor pooling", "compressor_kv",
       cache_entry_bytes(b.attention(), b.options().kv_format, b.layout().tp), OpGroup::compressor);
  b.resume();
}

// Keys and head weights follow from the layer's input.
void build_index_keys(StepBuilder& b) {
  if (!b.attention().indexer) return;
  b.fork(kIndexerStream);
  b.gemm("index_compressor_kv", OpGroup::indexer, Quantized::by_producer);
  b.gemm("index_compressor_gate", OpGroup::indexer, Quantized::by_producer);
  pool(b, "index pooling", "index_compressor_kv", b.attention().indexer->key_bytes_per_token,
       OpGroup::indexer);
  b.gemm("index_weights", OpGroup::indexer, Quantized::by_producer);
  b.resume();
}

// Queries project the normed low-rank query, the result of the op `query_norm`.
void build_index_choice(StepBuilder& b, int query_norm) {
  const AttentionSpec& a = b.attention();
  if (!a.indexer) return;
  b.resume(kIndexerStream);
  b.wait(query_norm);
  b.gemm("index_q_b", OpGroup::indexer, Quantized::by_producer);
  const double query = b.row_bytes(a.indexer->heads * a.indexer->head_dim);
  b.stream_kernel("index rope + quantize", {.read_bytes = query, .write_bytes = query / kBf16Bytes},
                  OpGroup::indexer);
  build_index_scores(b, b.options().context / a.compress_ratio);
  b.resume();
}

// "(attn)", "(mlp)" after the name of a kernel that each block has.
std::string label(const std::string& block) {
  return "(" + (block == "attention" ? "attn" : block) + ')';
}

}  // namespace

void begin_block(StepBuilder& b, const std::string& block) {
  const std::string where = label(block);
  const std::int64_t streams = b.model().hyper_streams;
  if (streams == 0) {
    b.add_norm("add + norm " + where);
    return;
  }
  const double state = b.row_bytes(streams * b.model().hidden);
  const auto weights = static_cast<double>(b.rows() * (2 + streams) * streams) * kFp32Bytes;
  b.gemm("hyper_" + block, OpGroup::hyper_connections);
  // Each normalization divides rows, then columns.
  b.stream_kernel(
      "hyper sinkhorn " + where,
      {.read_bytes = weights,
       .write_bytes = weights,
       .ctas = b.rows(),
       .passes = 1,
       .fp32_flops = 4 * weights / kFp32Bytes * static_cast<double>(b.model().hyper_iterations)},
      OpGroup::hyper_connections);
  b.stream_kernel("hyper sum " + where,
                  {.read_bytes = state, .write_bytes = b.row_bytes(b.model().hidden)},
                  OpGroup::hyper_connections);
  b.norm("norm " + where, b.model().hidden);
}

void end_block(StepBuilder& b, const std::string& block) {
  const std::string where = label(block);
  const std::int64_t streams = b.model().hyper_streams;
  if (streams == 0) return;
  const double state = b.row_bytes(streams * b.model().hidden);
  b.stream_kernel("hyper expand " + where,
                  {.read_bytes = state + b.row_bytes(b.model().hidden), .write_bytes = state},
                  OpGroup::hyper_connections);
}

void build_dsv4_attention(StepBuilder& b) {
  const AttentionSpec& a = b.attention();
  const std::int64_t heads = a.heads / b.layout().tp;
  const auto batch = static_cast<double>(b.batch());
  const double query = b.row_bytes(heads * a.head_dim);
  b.set_producers_quantize(true);

  begin_block(b, "attention");
  build_compressor(b);
  build_index_keys(b);
  b.gemm("qkv_a", OpGroup::projections, Quantized::by_producer);
  b.norm("query norm", a.q_lora_rank);
  const int query_norm = b.mark();
  b.norm("latent norm", a.head_dim);
  build_index_choice(b, query_norm);
  b.gemm("q_b", OpGroup::projections, Quantized::by_producer);
  b.stream_kernel(
      "q norm + rope + kv write",
      {.read_bytes = query + b.row_bytes(a.head_dim),
       .write_bytes = query + batch * cache_entry_bytes(a, b.options().kv_format, b.layout().tp)});
  b.join(kCompressorStream);
  b.join(kIndexerStream);
  b.add_attention(sparse_attention(b));
  b.stream_kernel("inverse rope", {.read_bytes = b.row_bytes(heads * a.qk_rope_head_dim),
                                   .write_bytes = b.row_bytes(heads * a.qk_rope_head_dim)});
  b.gemm("o_a", OpGroup::projections);
  b.gemm("o_b", OpGroup::projections);
  b.all_reduce("all-reduce (attn)");
  end_block(b, "attention");
}

}  // namespace smtwin
