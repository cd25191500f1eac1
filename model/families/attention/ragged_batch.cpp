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

double blended_rate(const MemoryTraffic& traffic, double l2_rate, double dram_rate, CacheState cache) {
  const double cold = cache == CacheState::cold ? 1 : traffic.cold;
  return 1 / ((1 - cold) / l2_rate + cold / dram_rate);
}

double longest(std::span<const double> kv_tokens) {
  return *std::max_element(kv_tokens.begin(), kv_tokens.end());
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
    double wanted = 0;
    for (const Running& r : running) wanted += r.own_rate;
    double level = wanted;
    if (wanted > bytes_per_s) {
      rates.clear();
      for (const Running& r : running) rates.push_back(r.own_rate);
      level = fair_level(rates, bytes_per_s);
    }
    double step = INFINITY;
    for (const Running& r : running) step = std::min(step, r.left / std::min(level, r.own_rate));
    now += step;
    for (Running& r : running) r.left -= std::min(level, r.own_rate) * step;
    std::erase_if(running, [](const Running& r) { return r.left <= 1e-6 * r.load; });
  }
}

std::vector<CtaLoad> batch_ctas(const FlashAttention2& kernel, std::span<const double> kv_tokens,
                                const AttentionShape& shape, std::span<const double> values) {
  AttentionShape padded = shape;
  padded.batch = static_cast<double>(kv_tokens.size());
  padded.kv_tokens = longest(kv_tokens);
  const FlashAttention2::Work w = kernel.work(padded);
  const double block = FlashAttention2::block_tokens(shape.head_dim);
  const double token_bytes = FlashAttention2::token_bytes(shape.head_dim);
  const auto parts_of = [&](double tokens, std::vector<CtaLoad>& out) {
    const double blocks = ceil_ratio(tokens, block);
    const double per = ceil_ratio(blocks, w.splits);
    for (double s = 0; s < w.splits; ++s) {
      const double mine = std::clamp(blocks - s * per, 0.0, per);
      const double bytes = std::clamp(tokens - s * per * block, 0.0, per * block) * token_bytes;
      out.push_back({mine > 0 ? kernel.cta_s(mine, bytes, values) : kEmptyCta_s,
                     std::max(bytes, kEmptyCtaBytes)});
    }
  };
  std::vector<CtaLoad> ctas;
  // The grid's x axis walks query blocks, y splits (or sequences, unsplit), z the rest.
  if (w.splits > 1) {
    for (const double tokens : kv_tokens) {
      for (double u = 0; u < w.units; ++u) parts_of(tokens, ctas);
    }
  } else {
    for (double u = 0; u < w.units; ++u) {
      for (const double tokens : kv_tokens) parts_of(tokens, ctas);
    }
  }
  return ctas;
}

std::vector<CtaLoad> batch_ctas(const FlashAttention3& kernel, std::span<const double> kv_tokens,
                                const AttentionShape& shape, std::span<const double> values) {
  std::vector<double> sorted(kv_tokens.begin(), kv_tokens.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const FlashAttention3::Batch batch = kernel.batch(sorted, shape);
  AttentionShape padded = shape;
  padded.batch = static_cast<double>(sorted.size());
  padded.kv_tokens = sorted.front();
  const FlashAttention3::Work w = kernel.work(padded);
  const double block = kernel.tile(shape).block_tokens;
  const double token_bytes = kernel.token_bytes(shape);
  std::vector<CtaLoad> ctas;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double splits = batch.splits[i];
    const double blocks = ceil_ratio(ceil_ratio(sorted[i], block), splits);
    const double tokens = std::min(blocks * block, ceil_ratio(sorted[i], splits));
    const CtaLoad tile{
        kernel.tile_s(w, blocks, std::max(tokens - block, 0.0) * token_bytes, values),
        tokens * token_bytes};
    ctas.insert(ctas.end(), static_cast<std::size_t>(splits * w.units), tile);
  }
  return ctas;
}

double makespan_s(const FlashAttention2& kernel, std::span<const double> kv_tokens,
                  const AttentionShape& shape, std::span<const double> values, CacheState cache) {
  AttentionShape padded = shape;
  padded.batch = static_cast<double>(kv_tokens.size());
  padded.kv_tokens = longest(kv_tokens);
  AttentionShape mean = padded;
  mean.kv_tokens = std::accumulate(kv_tokens.begin(), kv_tokens.end(), 0.0) / padded.batch;
  const double rate = blended_rate(kernel.work(mean).traffic, kernel.l2_rate(values),
                                   kernel.dram_rate(values), cache);
  return kernel.overhead_s(kernel.work(padded), values) +
         fluid_makespan_s(batch_ctas(kernel, kv_tokens, shape, values), kernel.slots(), rate);
}

double makespan_s(const FlashAttention3& kernel, std::span<const double> kv_tokens,
                  const AttentionShape& shape, std::span<const double> values, CacheState cache) {
  AttentionShape padded = shape;
  padded.batch = static_cast<double>(kv_tokens.size());
  padded.kv_tokens = longest(kv_tokens);
  AttentionShape mean = padded;
  mean.kv_tokens = std::accumulate(kv_tokens.begin(), kv_tokens.end(), 0.0) / padded.batch;
  const double rate = blended_rate(kernel.work(mean).traffic, kernel.l2_rate(values),
                                   kernel.dram_rate(values), cache);
  FlashAttention3::Work w = kernel.work(padded);
  const FlashAttention3::Batch batch = kernel.batch(kv_tokens, shape);
  const double most = *std::max_element(batch.splits.begin(), batch.splits.end());
  w.moved_bytes += (most - w.splits) * kernel.split_bytes(padded);
  w.splits = most;
  w.split_instance = batch.bound > 1;
  return kernel.overhead_s(w, values) +
         fluid_makespan_s(batch_ctas(kernel, kv_tokens, shape, values), kernel.slots(), rate);
}

}  // namespace smtwin
