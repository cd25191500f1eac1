// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/ragged_batch.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "model/families/attention/split_rules.hpp"

namespace smtwin {

namespace {

constexpr double kEmptyCta_s = 0.5e-6;  // a split without blocks exits at once
constexpr double kEmptyCtaBytes = 64;
constexpr double kDone = 1e-6;  // share of its bytes that a finished CTA may have left

// Largest rate r such that the running CTAs, each at min(r, its own), stay within `total`.
double fair_level(std::vector<double> own, double total) {
  std::sort(own.begin(), own.end());
  double below = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double level = (total - below) / static_cast<double>(own.size() - i);
    if (own[i] >= level) return level;
    below += own[i];
  }
  return own.back();
}

// The batch with every context as long as the longest, or as the mean.
AttentionShape padded(std::span<const double> kv_tokens, AttentionShape shape) {
  shape.batch = static_cast<double>(kv_tokens.size());
  shape.kv_tokens = *std::max_element(kv_tokens.begin(), kv_tokens.end());
  return shape;
}

AttentionShape averaged(std::span<const double> kv_tokens, AttentionShape shape) {
  shape.batch = static_cast<double>(kv_tokens.size());
  shape.kv_tokens = std::accumulate(kv_tokens.begin(), kv_tokens.end(), 0.0) / shape.batch;
  return shape;
}

template <class Kernel>
double main_kernel_s(const Kernel& kernel, std::span<const double> kv_tokens,
                     const AttentionShape& shape, std::span<const double> values,
                     CacheState cache) {
  const double cold = kernel.work(averaged(kv_tokens, shape)).traffic.cold_share(cache);
  const double rate = 1 / ((1 - cold) / kernel.l2_rate() + cold / kernel.dram_rate(values));
  return fluid_makespan_s(batch_ctas(kernel, kv_tokens, shape, values), kernel.slots(), rate);
}

}  // namespace

double fluid_makespan_s(std::span<const CtaLoad> ctas, double slots, double bytes_per_s) {
  struct Running {
    double own_rate, left, load;
  };
  std::vector<Running> running;
  std::vector<double> rates;
  std::size_t next = 0;
  double now = 0;
  while (true) {
    while (next < ctas.size() && static_cast<double>(running.size()) < slots) {
      const CtaLoad& c = ctas[next++];
      running.push_back({c.bytes / c.unloaded_s, c.bytes, c.bytes});
    }
    if (running.empty()) return now;
    double level = 0;
    for (const Running& r : running) level += r.own_rate;
    if (level > bytes_per_s) {
      rates.clear();
      for (const Running& r : running) rates.push_back(r.own_rate);
      level = fair_level(rates, bytes_per_s);
    }
    double step = HUGE_VAL;
    for (const Running& r : running) step = std::min(step, r.left / std::min(level, r.own_rate));
    now += step;
    for (Running& r : running) r.left -= std::min(level, r.own_rate) * step;
    std::erase_if(running, [](const Running& r) { return r.left <= kDone * r.load; });
  }
}

std::vector<CtaLoad> batch_ctas(const FlashAttention2& kernel, std::span<const double> kv_tokens,
                                const AttentionShape& shape, std::span<const double> values) {
  const FlashAttention2::Work w = kernel.work(padded(kv_tokens, shape));
  const double block = FlashAttention2::block_tokens(shape.head_dim);
  const double token_bytes = FlashAttention2::token_bytes(shape.head_dim);
  std::vector<CtaLoad> ctas;
  const auto add_parts = [&](double tokens) {
    const double blocks = ceil_ratio(tokens, block);
    const double per_split = ceil_ratio(blocks, w.splits);
    for (double s = 0; s < w.splits; ++s) {
      const double mine = std::clamp(blocks - s * per_split, 0.0, per_split);
      const double bytes =
          std::clamp(tokens - s * per_split * block, 0.0, per_split * block) * token_bytes;
      ctas.push_back({mine > 0 ? kernel.cta_s(mine, bytes, values) : kEmptyCta_s,
                      std::max(bytes, kEmptyCtaBytes)});
    }
  };
  // Unsplit, heads are the outer dimension of the grid; split, sequences are.
  if (w.splits > 1) {
    for (const double tokens : kv_tokens) {
      for (double u = 0; u < w.units; ++u) add_parts(tokens);
    }
  } else {
    for (double u = 0; u < w.units; ++u) {
      for (const double tokens : kv_tokens) add_parts(tokens);
    }
  }
  return ctas;
}

std::vector<CtaLoad> batch_ctas(const FlashAttention3& kernel, std::span<const double> kv_tokens,
                                const AttentionShape& shape, std::span<const double> values) {
  std::vector<double> sorted(kv_tokens.begin(), kv_tokens.end());  // longest first
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const FlashAttention3::Batch batch = kernel.batch(sorted, shape);
  const FlashAttention3::Work w = kernel.work(padded(sorted, shape));
  const double block = kernel.tile(shape).block_tokens;
  const double token_bytes = kernel.token_bytes(shape);
  std::vector<CtaLoad> ctas;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double splits = batch.splits[i];
    const double blocks = ceil_ratio(ceil_ratio(sorted[i], block), splits);
    const double tokens = std::min(blocks * block, ceil_ratio(sorted[i], splits));
    const double further = (blocks - 1) * block * token_bytes;
    ctas.insert(ctas.end(), static_cast<std::size_t>(splits * w.units),
                {kernel.tile_s(w, blocks, further, values), tokens * token_bytes});
  }
  return ctas;
}

double batch_makespan_s(const FlashAttention2& kernel, std::span<const double> kv_tokens,
                        const AttentionShape& shape, std::span<const double> values,
                        CacheState cache) {
  return kernel.overhead_s(kernel.work(padded(kv_tokens, shape)), values) +
         main_kernel_s(kernel, kv_tokens, shape, values, cache);
}

double batch_makespan_s(const FlashAttention3& kernel, std::span<const double> kv_tokens,
                        const AttentionShape& shape, std::span<const double> values,
                        CacheState cache) {
  const AttentionShape longest = padded(kv_tokens, shape);
  const FlashAttention3::Batch batch = kernel.batch(kv_tokens, shape);
  FlashAttention3::Work w = kernel.work(longest);
  w.splits = *std::max_element(batch.splits.begin(), batch.splits.end());
  w.exits = kernel.exits(longest, batch.bound);
  w.partial_bytes = w.splits > 1 ? w.splits * kernel.split_bytes(longest) : 0;
  return kernel.overhead_s(w, values) + main_kernel_s(kernel, kv_tokens, shape, values, cache);
}

}  // namespace smtwin
