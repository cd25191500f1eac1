// SPDX-License-Identifier: Apache-2.0
// Attention with a state instead of a cache: gated delta rule (Qwen3-Next, Qwen3.5) and Mamba-2.
// Modelled by the bytes and flops of its projections and of the state, which each step reads and
// writes once per sequence, however long the context is. Heads divide by T.
#include "arch/units.hpp"
#include "model/step_builder.hpp"

namespace smtwin {
namespace {

// One step of a head with a key x value state S: decay S, read S k, add the outer product, read
// S q: four passes of multiply-adds over the state (Mamba-2 skips the first read).
constexpr double kDeltaRulePasses = 4;
constexpr double kMambaPasses = 3;

}  // namespace

void build_linear_attention(StepBuilder& b) {
  const AttentionSpec& a = b.attention();
  const std::int64_t tp = b.layout().tp;
  const std::int64_t value_heads = ceil_div(a.value_heads, tp);
  const std::int64_t channels = ceil_div(a.conv_channels, tp);
  const auto batch = static_cast<double>(b.batch());
  const bool mamba = a.kind == AttentionKind::mamba2;

  begin_block(b, "attention");
  b.gemm("linear_in", OpGroup::linear_attention, Quantized::by_producer);
  // The convolution keeps its last inputs; its weights are a few bytes a channel.
  const double conv_state = batch * static_cast<double>(channels * a.conv_kernel) *
                            bytes_per_element(b.model().activation_format);
  const MatrixShard conv_shard = [&] {
    const WeightMatrix* m = b.find("linear_conv");
    return m == nullptr ? MatrixShard{.bytes = 0}
                        : MatrixShard{.bytes = m->bytes() / static_cast<double>(tp)};
  }();
  b.stream_kernel("causal convolution",
                  {.read_bytes = b.row_bytes(channels) + conv_state + conv_shard.bytes,
                   .write_bytes = b.row_bytes(channels) + conv_state},
                  OpGroup::linear_attention);

  const double state_elements = static_cast<double>(value_heads * a.key_dim * a.value_dim);
  StepOp op;
  op.name = mamba ? "state-space update" : "gated delta rule";
  op.group = OpGroup::linear_attention;
  op.kind = OpKind::streaming;
  op.rows = b.rows();
  op.kv_bytes = batch * state_elements * bytes_per_element(a.state_format);
  op.read_bytes = b.row_bytes(channels);
  op.write_bytes = op.kv_bytes + b.row_bytes(value_heads * a.value_dim);
  op.fp32_flops = kFlopsPerFma * (mamba ? kMambaPasses : kDeltaRulePasses) * batch * state_elements;
  b.add(std::move(op));

  const double value = b.row_bytes(value_heads * a.value_dim);
  b.stream_kernel("gated norm", {.read_bytes = 2 * value, .write_bytes = value, .passes = 2},
                  OpGroup::linear_attention);
  b.gemm("linear_out", OpGroup::linear_attention);
  b.all_reduce("all-reduce (attn)");
}

}  // namespace smtwin
