// SPDX-License-Identifier: Apache-2.0
#include "model/memory_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "arch/units.hpp"

namespace smtwin {
namespace {

constexpr double kBf16Bytes = 2;

// Share of a layer's cache that one rank holds: its KV heads, its state heads, or all of a latent.
double cache_share(const AttentionSpec& a, int tp) {
  switch (a.kind) {
    case AttentionKind::gqa:
      return a.kv_heads == 0
                 ? 1
                 : static_cast<double>(kv_heads_per_rank(a, tp)) / static_cast<double>(a.kv_heads);
    case AttentionKind::gated_delta:
    case AttentionKind::mamba2:
      return 1.0 / tp;
    case AttentionKind::none:
    case AttentionKind::mla:
    case AttentionKind::dsv4:
      return 1;
  }
  return 1;
}

// Widest row that a token has between two kernels, on one rank.
std::int64_t widest_row(const ModelSpec& model, const Layout& layout) {
  std::int64_t widest = model.hidden * std::max<std::int64_t>(1, model.hyper_streams);
  for (const LayerSpec& layer : model.layers) {
    for (const WeightMatrix& m : layer.weights) {
      if (m.shard == Shard::experts) continue;  // few tokens reach each
      const MatrixShard shard = shard_matrix(m, layer, layout);
      widest = std::max(widest, std::max(shard.out, shard.in));
    }
  }
  return widest;
}

double workspace(const ModelSpec& model, const Layout& layout, const MemoryOptions& o) {
  const double activations = o.live_activations * static_cast<double>(o.prefill_tokens) *
                             static_cast<double>(widest_row(model, layout)) * kBf16Bytes;
  return activations + o.context_bytes + o.graph_bytes +
         (layout.tp > 1 ? o.communication_bytes : 0);
}

}  // namespace

double weight_bytes_per_rank(const ModelSpec& model, const Layout& layout) {
  double bytes = shard_vocabulary(model.embedding, layout).bytes;
  if (model.lm_head.copies > 0) bytes += shard_vocabulary(model.lm_head, layout).bytes;
  auto vectors = static_cast<double>(model.vector_parameters);
  for (const LayerSpec& layer : model.layers) {
    vectors += static_cast<double>(layer.vector_parameters);
    for (const WeightMatrix& m : layer.weights) bytes += shard_matrix(m, layer, layout).bytes;
  }
  return bytes + vectors * kBf16Bytes;
}

double cache_bytes_per_sequence_and_rank(const ModelSpec& model, const Layout& layout,
                                         NumberFormat kv, std::int64_t context) {
  double bytes = 0;
  for (const LayerSpec& layer : model.layers) {
    bytes += cache_bytes_per_sequence(layer, kv, context) * cache_share(layer.attention, layout.tp);
  }
  return bytes;
}

MemoryFit memory_fit(const ModelSpec& model, const Layout& layout, const GpuSpec& gpu,
                     const MemoryOptions& options) {
  MemoryFit fit;
  fit.dram_bytes = require(gpu, gpu.dram_bytes, "dram_bytes");
  fit.budget_bytes = options.utilization * fit.dram_bytes;
  fit.weight_bytes = weight_bytes_per_rank(model, layout);
  fit.workspace_bytes = workspace(model, layout, options);
  fit.cache_bytes = fit.budget_bytes - fit.weight_bytes - fit.workspace_bytes;
  const std::int64_t context = std::max<std::int64_t>(1, options.context);
  fit.cache_bytes_per_sequence =
      cache_bytes_per_sequence_and_rank(model, layout, options.kv_format, context);
  fit.cache_bytes_per_token = fit.cache_bytes_per_sequence / static_cast<double>(context);
  fit.needed_bytes = fit.weight_bytes + fit.workspace_bytes + fit.cache_bytes_per_sequence;
  if (fit.cache_bytes < 0) return fit;
  if (fit.cache_bytes_per_sequence <= 0) {
    fit.max_sequences = std::numeric_limits<std::int64_t>::max();
    fit.kv_tokens = std::numeric_limits<double>::infinity();
  } else {
    fit.max_sequences =
        static_cast<std::int64_t>(std::floor(fit.cache_bytes / fit.cache_bytes_per_sequence));
    fit.kv_tokens = fit.cache_bytes / fit.cache_bytes_per_token;
  }
  fit.fits = fit.max_sequences >= 1;
  return fit;
}

int fewest_gpus_that_fit(const ModelSpec& model, const Layout& layout, const GpuSpec& gpu,
                         const MemoryOptions& options) {
  const bool whole_experts = layout.ep > 1;
  for (const int tp : legal_tp(model, whole_experts ? 0 : 1)) {
    const Layout larger{.tp = tp, .ep = whole_experts ? tp : 1};
    if (memory_fit(model, larger, gpu, options).fits) return tp;
  }
  return 0;
}

}  // namespace smtwin
