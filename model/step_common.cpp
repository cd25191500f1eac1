// SPDX-License-Identifier: Apache-2.0
// A step around its layers: embedding, final norm, lm_head, gathering the logits, sampling.
#include <algorithm>

#include "model/step_builder.hpp"

namespace smtwin {
namespace {

constexpr double kBf16Bytes = 2;
constexpr double kFp32Bytes = 4;

// Temperature, softmax and top-k/p read or write the fp32 logits six times in all; argmax once.
void build_sampler(StepBuilder& b, std::int64_t vocabulary) {
  const double logits = static_cast<double>(b.batch()) * static_cast<double>(vocabulary);
  const double bf16 = logits * kBf16Bytes;
  const double fp32 = logits * kFp32Bytes;
  const auto sampler = [&](const std::string& name, double read_bytes, double write_bytes,
                           double passes) {
    b.stream_kernel(name, {.read_bytes = read_bytes, .write_bytes = write_bytes, .passes = passes},
                    OpGroup::sampler);
  };
  if (b.options().greedy_sampling) {
    sampler("argmax", bf16, 0, 1);
    return;
  }
  sampler("logits to fp32", bf16, fp32, 1);
  sampler("temperature", fp32, fp32, 1);
  sampler("softmax", fp32, fp32, 2);
  sampler("top-k / top-p", fp32, 0, 2);
  sampler("sample", fp32, 0, 1);
}

}  // namespace

OpList embedding_ops(const ModelSpec& model, const Layout& layout, const StepOptions& options) {
  const LayerSpec none;
  StepBuilder b(model, none, layout, options);
  const double table_rows = static_cast<double>(b.rows()) * static_cast<double>(model.hidden) *
                            bytes_per_element(model.embedding.format);
  StepOp op;
  op.name = "embedding";
  op.group = OpGroup::embedding;
  op.kind = OpKind::streaming;
  op.rows = b.rows();
  op.weight_bytes = table_rows;
  op.write_bytes = b.row_bytes(model.hidden) *
                   static_cast<double>(std::max<std::int64_t>(1, model.hyper_streams));
  op.ctas = b.rows();
  b.add(std::move(op));
  b.all_reduce("all-reduce (embedding)");
  return b.take();
}

OpList output_ops(const ModelSpec& model, const Layout& layout, const StepOptions& options) {
  const LayerSpec none;
  StepBuilder b(model, none, layout, options);
  if (model.hyper_streams > 0) {
    b.stream_kernel("hyper sum (output)",
                    {.read_bytes = b.row_bytes(model.hyper_streams * model.hidden),
                     .write_bytes = b.row_bytes(model.hidden)},
                    OpGroup::hyper_connections);
  }
  b.add_norm("add + norm (output)");
  const WeightMatrix& head = model.lm_head.copies == 0 ? model.embedding : model.lm_head;
  const MatrixShard shard = shard_vocabulary(head, layout);
  b.quantize("quantize for lm_head", head.format, b.batch(), shard.in);
  b.gemm("lm_head", OpGroup::lm_head, shard, head.format, b.batch());
  const std::int64_t vocabulary = shard.out * layout.tp;
  if (layout.tp > 1) {
    StepOp op;
    op.name = "all-gather (logits)";
    op.group = OpGroup::collectives;
    op.kind = OpKind::collective;
    op.collective = Collective::all_gather;
    op.ranks = layout.tp;
    op.rows = b.batch();
    op.message_bytes =
        static_cast<double>(b.batch()) * static_cast<double>(vocabulary) * kBf16Bytes;
    b.add(std::move(op));
  }
  build_sampler(b, model.vocabulary);
  return b.take();
}

MathSupport math_support(const GpuSpec& gpu) {
  return {.fp8 = gpu.rates.tensor_fp8_flops_per_cycle.has_value(),
          .int8 = gpu.rates.tensor_int8_flops_per_cycle.has_value(),
          .block_scaled = gpu.rates.tensor_nvfp4_flops_per_cycle.has_value()};
}

std::string_view to_string(OpGroup group) {
  switch (group) {
    case OpGroup::embedding:
      return "embedding";
    case OpGroup::projections:
      return "projections";
    case OpGroup::attention:
      return "attention";
    case OpGroup::indexer:
      return "indexer";
    case OpGroup::compressor:
      return "compressor";
    case OpGroup::linear_attention:
      return "linear attention";
    case OpGroup::hyper_connections:
      return "hyper-connections";
    case OpGroup::dense_mlp:
      return "dense MLP";
    case OpGroup::router:
      return "router";
    case OpGroup::experts:
      return "experts";
    case OpGroup::shared_experts:
      return "shared experts";
    case OpGroup::small_kernels:
      return "small kernels";
    case OpGroup::collectives:
      return "collectives";
    case OpGroup::lm_head:
      return "lm_head";
    case OpGroup::sampler:
      return "sampler";
    case OpGroup::host:
      return "host";
  }
  return "unknown";
}

std::string_view to_string(OpKind kind) {
  switch (kind) {
    case OpKind::gemm:
      return "gemm";
    case OpKind::grouped_gemm:
      return "grouped gemm";
    case OpKind::attention:
      return "attention";
    case OpKind::sparse_attention:
      return "sparse attention";
    case OpKind::streaming:
      return "streaming";
    case OpKind::collective:
      return "collective";
  }
  return "unknown";
}

}  // namespace smtwin
