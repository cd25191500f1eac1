// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/flashinfer_decode.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "model/families/attention/split_rules.hpp"

namespace smtwin {

namespace {

constexpr double kBlockTokens = 64;
constexpr double kLineBytes = 128;
constexpr double kVllmLargestGraphBatch = 512;
constexpr double kReferenceDim = 128;
constexpr double kTensorMinGroup = 4;  // SGLang's BF16: below, the CUDA-core kernel

double half_rounds(double waves) {
  return waves > 1 ? 0.5 * waves + 0.5 * std::ceil(waves) : 1;
}

// Tokens that a CTA of the CUDA-core kernel takes in one step: threads are a vector of the head,
// the query heads of a group, and as many tokens as make 128 threads.
double cuda_core_tokens(double group, double head_dim) {
  const double lanes = head_dim / std::max(8.0, head_dim / 32);
  const double rows = std::max(1.0, std::floor(128 / (lanes * group)));
  return group * rows * (group == 1 ? 4 : 1);
}

}  // namespace

FlashInferDecode::FlashInferDecode(const TimingGpu& gpu, AttentionFamily family)
    : gpu_(gpu), family_(family) {
  const auto time = [](std::string name, const char* meaning, double prior, double low,
                       double high) {
    return ConstantSpec{.name = std::move(name),
                        .unit = "s",
                        .meaning = meaning,
                        .prior = prior,
                        .log_sigma = 0.6,
                        .low = low,
                        .high = high,
                        .off = 0};
  };
  const auto rate = [](std::string name, const char* meaning, double prior) {
    return ConstantSpec{.name = std::move(name),
                        .unit = "B/s",
                        .meaning = meaning,
                        .prior = prior,
                        .log_sigma = 0.6,
                        .low = prior / 30,
                        .high = prior * 30,
                        .off = 1e18};
  };
  dram_ = table_.add(dram_rate_spec(gpu));
  fixed_ = table_.add(fixed_time_spec(5e-6));
  l2_ = table_.add(l2_rate_spec(gpu));
  combine_split_ = table_.add(time("combine_split", "merging, per chunk", 0.02e-6, 0.0005e-6, 1e-6));
  combine_ = table_.add(time("combine", "launch of the kernel that merges chunks", 1.5e-6, 0.005e-6, 10e-6));
  launch_ = table_.add(time("cta_launch", "per CTA of the grid", 4e-9, 0.05e-9, 30e-9));
  dim_power_ = table_.add({.name = "dim_power",
                           .unit = "1",
                           .meaning = "power of D/128 that a CTA's start grows with",
                           .prior = 0.4,
                           .log_sigma = 0.5,
                           .low = 0.01,
                           .high = 2,
                           .off = 0});
  if (family.vllm()) {
    graph_ = table_.add(time("graph_cta", "per CTA of a batch that runs from a captured graph", 2e-9, 0.05e-9, 30e-9));
    copy_ = table_.add(time("layout_copy", "output copied where there is more than one KV head", 1.5e-6,
                            0.05e-6, 5e-6));
  }
  KernelConstants& narrow = kernels_[0];
  narrow.start = table_.add(time("start", "a CTA of 16 query rows without its KV", 2e-6, 0.05e-6, 20e-6));
  narrow.rate = table_.add(rate("rate", "KV bytes that a CTA of 16 query rows takes in", 30e9));
  narrow.per_sm.fixed = 1;
  KernelConstants& wide = kernels_[1];
  wide.start = table_.add(time("wide_start", "a CTA of 64 or 128 query rows without its KV", 0.5e-6, 0.02e-6,
                               20e-6));
  wide.rate.fixed = 1e18;
  wide.per_sm.fixed = 1;
  kernels_[2] = narrow;
  if (family.vllm()) {
    narrow.token = table_.add(time("token", "per token of a CTA of 16 query rows", 3e-9, 0.05e-9, 60e-9));
    wide.rate = table_.add(rate("wide_rate", "KV bytes that a CTA of 64 or 128 query rows takes in", 10e9));
  } else {
    wide.token = table_.add(time("wide_token", "per token of a CTA of 64 or 128 query rows", 40e-9, 0.05e-9,
                                 200e-9));
    if (!family.fp8_kv) {
      KernelConstants& core = kernels_[2];
      core.start = table_.add(time("core_start", "a CTA of the CUDA-core kernel without its KV", 0.5e-6,
                                   0.02e-6, 20e-6));
      core_step_ = table_.add(time("core_step", "one pipelined step of a CUDA-core CTA", 0.25e-6, 0.01e-6, 3e-6));
      core.per_sm = table_.add({.name = "core_per_sm",
                                .unit = "1",
                                .meaning = "CUDA-core CTAs that share an SM",
                                .prior = 3,
                                .log_sigma = 0.4,
                                .low = 0.4,
                                .high = 12});
    }
  }
}

FlashInferDecode::Work FlashInferDecode::work(const AttentionShape& s) const {
  Work w;
  const double group = s.group();
  const bool tensor = family_.fp8_kv || family_.vllm() || group >= kTensorMinGroup;
  const double rows = group > 64 ? 128 : group > 16 ? 64 : 16;
  const double tiles = tensor ? ceil_ratio(group, rows) : 1;
  w.kernel = !tensor ? Kernel::cuda_core : group > 16 ? Kernel::tensor_wide : Kernel::tensor16;
  w.ctas_per_sm = s.head_dim <= 128 ? 2 : 1;
  const double visible = s.visible_tokens();
  w.splits = flashinfer_splits(s.batch * tiles, visible,
                               std::floor(2 * gpu_.sm_count / s.kv_heads));
  w.ctas = s.batch * tiles * s.kv_heads * w.splits;
  w.tokens = ceil_ratio(ceil_ratio(visible, w.splits), kBlockTokens) * kBlockTokens;
  w.token_bytes = 2 * s.head_dim * family_.kv_element_bytes();
  w.steps = ceil_ratio(ceil_ratio(visible, w.splits), cuda_core_tokens(group, s.head_dim));
  w.log_dim = std::log(s.head_dim / kReferenceDim);
  const double width = s.batch * s.head_dim;
  w.moved_bytes = width * 2 * (s.q_heads + s.kv_heads) * 2;
  if (w.splits > 1) w.moved_bytes += width * s.q_heads * w.splits * 4;
  w.layout_copy = family_.vllm() && s.kv_heads > 1;
  const double cache_bytes = s.batch * s.kv_heads * visible * w.token_bytes;
  const double all = cache_bytes + w.moved_bytes;
  w.traffic = replayed_traffic(all, all, gpu_);
  // Two heads of a token share a 128-byte line. The grid runs head by head: in large batches the
  // second head's CTA comes when the line is gone.
  if (s.kv_heads > 1 && s.head_dim * family_.kv_element_bytes() < kLineBytes) {
    w.traffic.dram_reads = 1 + std::min(1.0, s.batch * tiles / (gpu_.sm_count * w.ctas_per_sm));
  }
  w.graph_ctas = family_.vllm() && s.batch <= kVllmLargestGraphBatch ? w.ctas : 0;
  return w;
}

DecodeTime FlashInferDecode::time(const Work& w, std::span<const double> v,
                                  CacheState cache) const {
  const KernelConstants& k = kernels_[static_cast<std::size_t>(w.kernel)];
  const double start = k.start(v) * std::exp(w.log_dim * dim_power_(v));
  const double cta = start + (w.kernel == Kernel::cuda_core ? w.steps * core_step_(v) : w.tokens * (k.token(v) + w.token_bytes / k.rate(v)));
  const double rounds = w.kernel == Kernel::cuda_core
                            ? half_rounds(w.ctas / gpu_.sm_count / k.per_sm(v))
                            : ceil_ratio(w.ctas, gpu_.sm_count * w.ctas_per_sm);
  DecodeTime t = memory_and_latency(w.traffic, l2_(v), dram_(v), {rounds * cta + w.ctas * launch_(v) + w.graph_ctas * graph_(v), start}, cache);
  t.launch_s = fixed_(v) + (w.splits > 1 ? combine_(v) + w.splits * combine_split_(v) : 0) + (w.layout_copy ? copy_(v) : 0);
  t.seconds += t.launch_s;
  return t;
}

}  // namespace smtwin
