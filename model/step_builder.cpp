// SPDX-License-Identifier: Apache-2.0
// The pieces that every family shares: GEMMs with their quantization, norms, activations,
// all-reduces, and the bookkeeping of streams.
#include "model/step_builder.hpp"

#include <algorithm>

#include "arch/units.hpp"

namespace smtwin {
namespace {

constexpr double kBf16Bytes = 2;
constexpr std::int64_t kCapturedMultiple = 8;

double product(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

}  // namespace

std::int64_t captured_batch(std::int64_t batch) {
  if (batch <= 2) return batch;
  return batch <= 4 ? 4 : round_up(batch, kCapturedMultiple);
}

MathChoice math_choice(NumberFormat weights, const MathSupport& support) {
  switch (weights) {
    case NumberFormat::fp32:
      return {MathPipe::fp32, NumberFormat::bf16};
    case NumberFormat::fp8:
    case NumberFormat::fp8_block:
      if (support.fp8) return {MathPipe::fp8, NumberFormat::fp8};
      break;
    case NumberFormat::int8:
      if (support.int8) return {MathPipe::int8, NumberFormat::int8};
      break;
    case NumberFormat::mxfp4:
      if (support.block_scaled) return {MathPipe::mxfp8, NumberFormat::fp8};
      break;
    case NumberFormat::nvfp4:
      if (support.block_scaled) return {MathPipe::nvfp4, NumberFormat::nvfp4};
      break;
    case NumberFormat::bf16:
    case NumberFormat::fp16:
    case NumberFormat::int4:
      break;
  }
  return {MathPipe::bf16, NumberFormat::bf16};  // weights are expanded on the way
}

StepBuilder::StepBuilder(const ModelSpec& model, const LayerSpec& layer, const Layout& layout,
                         const StepOptions& options)
    : model_(model),
      layer_(layer),
      layout_(layout),
      options_(options),
      rows_(options.pad_batch ? captured_batch(options.batch) : options.batch),
      producers_quantize_(options.fuse_quantization) {
  last_.fill(-1);
}

double StepBuilder::row_bytes(std::int64_t width) const {
  return product(rows_, width) * kBf16Bytes;
}

void StepBuilder::add(StepOp op) {
  if (op.name != part_of_) op.part_of = part_of_;
  op.stream = stream_;
  op.after = std::move(pending_);
  pending_.clear();
  int& last = last_[static_cast<std::size_t>(stream_)];
  if (last >= 0) op.after.push_back(last);
  std::sort(op.after.begin(), op.after.end());
  op.after.erase(std::unique(op.after.begin(), op.after.end()), op.after.end());
  last = static_cast<int>(ops_.size());
  ops_.push_back(std::move(op));
}

void StepBuilder::fork(int stream) {
  wait(mark());
  stream_ = stream;
}

void StepBuilder::join(int stream) { wait(last_[static_cast<std::size_t>(stream)]); }

void StepBuilder::wait(int op) {
  if (op >= 0) pending_.push_back(op);
}

void StepBuilder::quantize(const std::string& name, NumberFormat weights, std::int64_t rows,
                           std::int64_t k) {
  const NumberFormat to = math_choice(weights, options_.math).activations;
  if (to == NumberFormat::bf16) return;
  stream_kernel(name, {.read_bytes = product(rows, k) * kBf16Bytes,
                       .write_bytes = product(rows, k) * bytes_per_element(to),
                       .ctas = rows,
                       .passes = 2});
}

void StepBuilder::gemm(const std::string& name, OpGroup group, const MatrixShard& shard,
                       NumberFormat format, std::int64_t rows) {
  const MathChoice math = math_choice(format, options_.math);
  const double elements = product(shard.copies, rows);
  StepOp op;
  op.name = name;
  op.group = group;
  op.kind = OpKind::gemm;
  op.rows = rows;
  op.n = shard.out;
  op.k = shard.in;
  op.copies = shard.copies;
  op.weight_format = format;
  op.activation_format = math.activations;
  op.pipe = math.pipe;
  op.weight_bytes = shard.bytes;
  op.read_bytes = elements * static_cast<double>(shard.in) * bytes_per_element(math.activations);
  op.write_bytes = elements * static_cast<double>(shard.out) * kBf16Bytes;
  op.flops = kFlopsPerFma * elements * product(shard.out, shard.in);
  add(std::move(op));
}

void StepBuilder::gemm(const std::string& matrix, OpGroup group, Quantized quantized) {
  const WeightMatrix* m = find(matrix);
  if (m == nullptr) return;
  const MatrixShard shard = shard_matrix(*m, layer_, layout_);
  if (quantized == Quantized::separately || !producers_quantize_) {
    quantize("quantize for " + matrix, m->format, rows_, shard.in * shard.copies);
  }
  gemm(matrix, group, shard, m->format, rows_);
}

void StepBuilder::stream_kernel(const std::string& name, const Traffic& traffic, OpGroup group) {
  StepOp op;
  op.name = name;
  op.group = group;
  op.kind = OpKind::streaming;
  op.rows = rows_;
  op.read_bytes = traffic.read_bytes;
  op.write_bytes = traffic.write_bytes;
  op.ctas = traffic.ctas;
  op.passes = traffic.passes;
  op.fp32_flops = traffic.fp32_flops;
  add(std::move(op));
}

void StepBuilder::add_norm(const std::string& name) {
  const double hidden = row_bytes(model_.hidden);
  stream_kernel(name,
                {.read_bytes = 2 * hidden, .write_bytes = 2 * hidden, .ctas = rows_, .passes = 2});
}

void StepBuilder::norm(const std::string& name, std::int64_t width) {
  const double bytes = row_bytes(width);
  stream_kernel(name, {.read_bytes = bytes, .write_bytes = bytes, .ctas = rows_, .passes = 2});
}

void StepBuilder::activation(const std::string& name, std::int64_t rows, std::int64_t width,
                             bool gated) {
  const double out = product(rows, width) * kBf16Bytes;
  stream_kernel(name, {.read_bytes = gated ? 2 * out : out, .write_bytes = out});
}

void StepBuilder::all_reduce(const std::string& name) {
  if (layout_.tp == 1) return;
  StepOp op;
  op.name = name;
  op.group = OpGroup::collectives;
  op.kind = OpKind::collective;
  op.collective = Collective::all_reduce;
  op.ranks = layout_.tp;
  op.rows = rows_;
  op.message_bytes = row_bytes(model_.hidden);
  add(std::move(op));
}

void StepBuilder::add_attention(StepOp op) {
  // Every part leaves its output and the logarithm of its sum in fp32.
  constexpr double kFp32Bytes = 4;
  const double parts = product(op.sequences * op.heads, op.splits);
  const double part_bytes = parts * static_cast<double>(op.v_head_dim + 1) * kFp32Bytes;
  const double result_bytes = product(op.sequences * op.heads, op.v_head_dim) * kBf16Bytes;
  const std::int64_t ctas = op.sequences * op.heads;
  const OpGroup group = op.group;
  const bool split = op.splits > 1;
  if (split) op.write_bytes = part_bytes;
  const std::string leader = op.name;
  add(std::move(op));
  if (!split) return;
  begin_part(leader);
  stream_kernel("combine splits",
                {.read_bytes = part_bytes, .write_bytes = result_bytes, .ctas = ctas}, group);
  end_part();
}

}  // namespace smtwin
