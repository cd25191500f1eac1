// SPDX-License-Identifier: Apache-2.0
// Kernels that nobody describes: elementwise and reduction kernels as a stream of their bytes, and
// dense decode attention as a pipelined stream of the cache. Their shape of a CTA is assumed, in
// the way such kernels are usually written; what they move and multiply is counted.
#include <algorithm>

#include "arch/units.hpp"
#include "model/op_kernel.hpp"

namespace smtwin {
namespace {

constexpr std::int32_t kStreamThreads = 256;   // of a CTA, assumed
constexpr std::int32_t kStreamRegisters = 32;  // of a thread, assumed
constexpr double kVectorBytes = 16;            // widest load of a lane
constexpr double kVectorsPerThread = 4;        // work of a thread before another CTA takes over
constexpr double kVectorsInFlight = 2;         // loads a thread issues before it uses the first

constexpr std::int32_t kAttentionThreads = 128;    // of a CTA, assumed
constexpr std::int32_t kAttentionRegisters = 168;  // of a thread, assumed
constexpr std::int64_t kMaxTile = 64;              // tokens of a pipeline step
constexpr std::int64_t kMinTile = 16;
constexpr std::int64_t kTileBuffers = 2;
constexpr std::int64_t kMmaRows = 16;  // query rows of a tensor-core tile
constexpr std::int64_t kHeadsPerCta = 64;
constexpr double kSharedPassesPerByte = 2;  // written by the copy, read by the multiply
constexpr std::int64_t kOperandBytes = 2;   // of queries, and of keys and values once expanded

}  // namespace

KernelInstance streaming_instance(const StepOp& op, const GpuSpec& gpu) {
  const double read = op.weight_bytes + op.kv_bytes + op.read_bytes;
  const double cta_bytes = kStreamThreads * kVectorBytes * kVectorsPerThread;
  const double by_bytes = std::max(read, op.write_bytes) / cta_bytes;
  const std::int64_t ctas =
      op.ctas > 0 ? op.ctas : std::max<std::int64_t>(1, static_cast<std::int64_t>(by_bytes + 1));
  const double step_bytes = kStreamThreads * kVectorBytes * kVectorsInFlight;
  const auto grid = static_cast<double>(ctas);

  KernelInstance k;
  k.kernel = "streaming";
  k.resources.threads_per_cta = std::min(kStreamThreads, gpu.sm.max_threads_per_cta);
  k.resources.registers_per_thread = kStreamRegisters;
  k.shared_formula = "no shared memory";
  k.registers_source = "assumed";
  k.grid = {ctas, 1, 1, std::to_string(ctas)};
  k.work.global_read_bytes = read / grid;
  k.work.global_write_bytes = op.write_bytes / grid;
  k.work.fp32_flops = op.fp32_flops / grid;
  const double loads = std::max(1.0, read / grid / step_bytes);
  k.work.steps = loads * op.passes;
  // Later passes find the row in registers or L1, so they wait but do not read again.
  k.work.step_read_bytes = read / grid / k.work.steps;
  k.work.loads_in_flight = 1;
  k.unique_read_bytes = read;
  k.unique_write_bytes = op.write_bytes;
  k.useful_flops = op.fp32_flops;
  k.assumptions = {"256 threads, 64 B a thread, two 16-byte loads in flight."};
  return k;
}

KernelInstance attention_instance(const StepOp& op, const GpuSpec& gpu) {
  const std::int64_t heads_of_kv = ceil_div(op.heads, op.kv_heads);
  const std::int64_t head_groups = ceil_div(heads_of_kv, kHeadsPerCta);
  const std::int64_t rows = round_up(ceil_div(heads_of_kv, head_groups), kMmaRows);
  const auto streams = static_cast<double>(op.sequences * op.kv_heads);
  const double per_token =
      op.tokens > 0 ? op.kv_bytes / streams / static_cast<double>(op.tokens) : 0;
  // As copied to shared memory: the stored bytes, not the expanded ones.
  const std::int64_t query_bytes = rows * op.head_dim * kOperandBytes;
  const auto buffers = [&](std::int64_t tile) {
    return kTileBuffers * static_cast<std::int64_t>(per_token * static_cast<double>(tile));
  };
  std::int64_t tile = kMaxTile;
  while (tile > kMinTile && query_bytes + buffers(tile) > gpu.sm.shared_bytes_per_cta_optin) {
    tile /= 2;
  }
  const double tokens = static_cast<double>(op.tokens) / static_cast<double>(op.splits);
  const auto padded_tokens = static_cast<double>(round_up(ceil_div(op.tokens, op.splits), tile));
  const double scores = static_cast<double>(rows) * padded_tokens;

  KernelInstance k;
  k.kernel = "attention";
  k.config = "tile " + std::to_string(tile) + ", " + std::to_string(op.splits) + " splits";
  k.resources.threads_per_cta = kAttentionThreads;
  k.resources.registers_per_thread = kAttentionRegisters;
  // Queries live in registers where they would not fit beside the tiles.
  const std::int64_t shared = query_bytes + buffers(tile);
  k.resources.dynamic_shared_bytes =
      shared <= gpu.sm.shared_bytes_per_cta_optin ? shared : buffers(tile);
  k.shared_formula = std::to_string(kTileBuffers) + " tiles and the queries, assumed";
  k.registers_source = "assumed";
  k.grid = {op.sequences, op.kv_heads * head_groups, op.splits,
            std::to_string(op.sequences) + " x " + std::to_string(op.kv_heads * head_groups) +
                " x " + std::to_string(op.splits)};
  const auto grid = static_cast<double>(k.grid.ctas());
  k.work.global_read_bytes = tokens * per_token + op.read_bytes / grid;
  k.work.global_write_bytes = op.write_bytes / grid;
  k.work.shared_bytes = kSharedPassesPerByte * tokens * per_token;
  k.work.math_flops = kFlopsPerFma * scores * static_cast<double>(op.head_dim + op.v_head_dim);
  k.work.fp32_flops = op.fp32_flops / grid;
  k.work.sfu_ops = op.v_head_dim > 0 ? scores : 0;
  k.work.steps = padded_tokens / static_cast<double>(tile);
  k.work.step_read_bytes = k.work.global_read_bytes / std::max(1.0, k.work.steps);
  k.work.loads_in_flight = static_cast<double>(kTileBuffers - 1);
  k.pipe = op.pipe;
  k.useful_flops = op.flops;
  k.unique_read_bytes = op.kv_bytes + op.read_bytes;
  k.unique_write_bytes = op.write_bytes;
  k.assumptions = {
      "One CTA a sequence, KV head and split, 4 warps, two tiles of tokens in shared memory."};
  return k;
}

}  // namespace smtwin
