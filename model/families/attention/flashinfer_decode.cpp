// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/flashinfer_decode.hpp"

#include <algorithm>
#include <cmath>

#include "model/families/attention/split_rules.hpp"

namespace smtwin {

namespace {

constexpr double kReferenceDim = 128;
constexpr double kLineBytes = 128;     // of the L2
constexpr double kTensorMinGroup = 4;  // SGLang's BF16: below, the CUDA-core kernel
constexpr double kVllmLargestGraphBatch = 512;
constexpr double kPlannedCtasPerSm = 2;   // that the plan cuts for
constexpr double kCudaCoreCtasPerSm = 3;  // inferred from rows
// KV tokens that a tensor-core CTA works off at once, inferred from rows; in vLLM's 64 query rows a
// warp has room for 8 MMA steps of 16 tokens.
constexpr double kTileTokens = 64, kVllmWideTileTokens = 128;
constexpr double kMergeChunks = 80;  // that double the time of the merge; inferred from rows

// The CUDA-core kernel's CTAs leave one by one: a round is part full on average.
double half_rounds(double waves) { return waves > 1 ? 0.5 * waves + 0.5 * std::ceil(waves) : 1; }

}  // namespace

double cuda_core_tokens(double group, double head_dim) {
  constexpr double kThreads = 128, kVector = 8, kLanes = 32, kTokensOfOneHead = 4;
  const double lanes = head_dim / std::max(kVector, head_dim / kLanes);
  const double rows = std::max(1.0, std::floor(kThreads / (lanes * group)));
  return group * rows * (group == 1 ? kTokensOfOneHead : 1);
}

FlashInferDecode::FlashInferDecode(const TimingGpu& gpu, AttentionFamily family)
    : gpu_(gpu), family_(family) {
  dram_ = table_.add(dram_rate_spec(gpu));
  // FP8 runs a kernel that casts the new keys and values, or the query.
  fixed_ = table_.add(fixed_time_spec(family.fp8_kv ? 6e-6 : 3.2e-6));
  l2_ = table_.add(l2_rate_spec(gpu));
  start_ = table_.add(time_spec("start", "a CTA of 16 query rows without its KV, D = 128", 2e-6));
  dim_power_ =
      table_.add(factor_spec("dim_power", "power of D/128 that a CTA's start grows with", 0.4, 0));
  rate_ = table_.add(rate_spec("rate", "KV bytes that a CTA of 16 query rows takes in", 35e9));
  launch_ = table_.add(time_spec("cta_launch", "per CTA of the grid", 5e-9));
  combine_ = table_.add(time_spec("combine", "launch of the kernel that merges chunks", 1.5e-6));
  wide_rate_.fixed = HUGE_VAL;
  if (family.vllm()) {
    merge_row_ = table_.add(time_spec(
        "merge_row", "a query head of a sequence in the kernel that merges chunks", 2e-9));
    wide_rate_ = table_.add(
        rate_spec("wide_rate", "KV bytes that a CTA of 64 or 128 query rows takes in", 6e9));
    copied_row_ = table_.add(time_spec(
        "copied_row", "a query head of a sequence that the merge kernel only copies", 0.4e-9));
    copy_ =
        table_.add(time_spec("layout_copy", "a copy where there is more than one KV head", 1.5e-6));
    return;
  }
  wide_token_ =
      table_.add(time_spec("wide_token", "a token in a CTA of 64 or 128 query rows", 45e-9));
  if (!family.fp8_kv) {
    core_step_ =
        table_.add(time_spec("core_step", "one pipelined step of a CUDA-core CTA", 0.22e-6));
  }
}

FlashInferDecode::Work FlashInferDecode::work(const AttentionShape& s) const {
  Work w;
  const double group = s.group();
  const bool tensor = family_.fp8_kv || family_.vllm() || group >= kTensorMinGroup;
  const double rows = group > 64 ? 128 : group > 16 ? 64 : 16;
  const double tiles = tensor ? ceil_ratio(group, rows) : 1;
  w.kernel = !tensor ? Kernel::cuda_core : group > 16 ? Kernel::tensor_wide : Kernel::tensor;
  const double visible = s.visible_tokens();
  // The plan adds a query tile to the window: a window of 128 tokens is cut in two.
  const double planned = s.window > 0 ? std::min(s.kv_tokens, s.window + rows) : s.kv_tokens;
  w.splits = flashinfer_splits(s.batch * tiles, planned,
                               std::floor(kPlannedCtasPerSm * gpu_.sm_count / s.kv_heads));
  w.ctas = s.batch * tiles * s.kv_heads * w.splits;
  // A plan for a captured graph always writes partial results, because a replay may need them.
  const bool graph = family_.vllm() && s.batch <= kVllmLargestGraphBatch;
  if (w.splits > 1) {
    w.merged_rows = s.batch * s.q_heads;
  } else if (graph) {
    w.copied_rows = s.batch * s.q_heads;
  }
  const double slots = gpu_.sm_count * (s.head_dim <= kReferenceDim ? 2 : 1);
  w.rounds = tensor ? ceil_ratio(w.ctas, slots)
                    : half_rounds(w.ctas / (gpu_.sm_count * kCudaCoreCtasPerSm));
  const double tokens = std::min(visible, ceil_ratio(planned, w.splits));
  const double tile =
      family_.vllm() && w.kernel == Kernel::tensor_wide ? kVllmWideTileTokens : kTileTokens;
  w.tokens = ceil_ratio(tokens, tile) * tile;
  w.steps = ceil_ratio(tokens, cuda_core_tokens(group, s.head_dim));
  w.log_dim = std::log(s.head_dim / kReferenceDim);
  w.layout_copy = family_.vllm() && s.kv_heads > 1 && s.head_dim <= kReferenceDim;
  const double token_bytes = 2 * s.head_dim * family_.kv_element_bytes();
  w.cta_bytes = w.tokens * token_bytes;
  double bytes = activation_bytes(s) + s.batch * s.kv_heads * visible * token_bytes;
  if (w.splits > 1 || graph) bytes += s.batch * s.q_heads * s.head_dim * w.splits * 4;
  w.traffic = replayed_traffic(bytes, bytes, gpu_);
  // Two heads of a token share a line. The grid runs head by head: in large batches the second
  // head's CTA comes when the line has left the L2.
  if (s.kv_heads > 1 && s.head_dim * family_.kv_element_bytes() < kLineBytes) {
    w.traffic.dram_reads = 1 + std::min(1.0, s.batch * tiles / slots);
  }
  return w;
}

DecodeTime FlashInferDecode::time(const Work& w, std::span<const double> v,
                                  CacheState cache) const {
  double start = 0, stream = 0;
  switch (w.kernel) {
    case Kernel::tensor:
      start = start_(v) * std::exp(w.log_dim * dim_power_(v));
      stream = w.cta_bytes / rate_(v);
      break;
    case Kernel::tensor_wide:
      stream = w.tokens * wide_token_(v) + w.cta_bytes / wide_rate_(v);
      break;
    case Kernel::cuda_core:
      stream = w.steps * core_step_(v);
      break;
  }
  const double latency = w.rounds * (start + stream) + w.ctas * launch_(v);
  DecodeTime t = memory_and_latency(w.traffic, l2_(v), dram_(v),
                                    {.latency_s = latency, .start_s = start}, cache);
  t.launch_s = fixed_(v) + (w.layout_copy ? copy_(v) : 0) +
               (w.splits > 1 ? combine_(v) * (1 + w.splits / kMergeChunks) : 0) +
               w.merged_rows * merge_row_(v) + w.copied_rows * copied_row_(v);
  t.seconds += t.launch_s;
  return t;
}

}  // namespace smtwin
