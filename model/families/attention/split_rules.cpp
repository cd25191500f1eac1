// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/split_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace smtwin {

namespace {

constexpr int kFlashMaxSplits = 128;
constexpr double kFlashGoodEnough = 0.85;  // of the best efficiency
constexpr double kFlashFull = 0.8;         // of the slots: no split
constexpr double kFa3MinBlocks = 4;        // at most so many: no split
constexpr double kFa3Headroom = 1.1;       // of an even share of blocks per SM
constexpr double kXqaTokensPerPart = 128;
constexpr double kXqaMaxWaves = 8;
constexpr double kFlashInferMinChunk = 128;
constexpr double kSglangTokensPerDoubling = 64;

double efficiency(double ctas, double slots) {
  const double waves = ctas / slots;
  return waves / std::ceil(waves);
}

}  // namespace

double ceil_ratio(double a, double b) { return std::ceil(a / b); }

double fa2_splits(double units, double slots, double blocks) {
  if (units >= kFlashFull * slots) return 1;
  const int most = static_cast<int>(std::min({double{kFlashMaxSplits}, slots, blocks}));
  std::array<double, kFlashMaxSplits + 1> reached{};
  double best = 0;
  for (int s = 1; s <= most; ++s) {
    if (s > 1 && ceil_ratio(blocks, s) == ceil_ratio(blocks, s - 1)) continue;
    reached[static_cast<std::size_t>(s)] = efficiency(units * s, slots);
    best = std::max(best, reached[static_cast<std::size_t>(s)]);
  }
  for (int s = 1; s <= most; ++s) {
    const double e = reached[static_cast<std::size_t>(s)];
    if (e > 0 && e >= kFlashGoodEnough * best) return s;
  }
  return 1;
}

double fa3_split_bound(double units, double blocks, double sm_count) {
  if (units >= kFlashFull * sm_count || blocks <= kFa3MinBlocks) return 1;
  const int most = static_cast<int>(std::min({double{kFlashMaxSplits}, sm_count, blocks}));
  double best = 0;
  for (int s = 1; s <= most; ++s) best = std::max(best, efficiency(units * s, sm_count));
  for (int s = 1; s <= most; ++s) {
    if (efficiency(units * s, sm_count) >= kFlashGoodEnough * best) return s;
  }
  return 1;
}

double fa3_splits(double bound, double sequence_blocks, double all_blocks, double sm_count) {
  const double blocks_per_sm = std::ceil(kFa3Headroom * all_blocks / sm_count);
  return std::max(1.0, std::min(ceil_ratio(sequence_blocks, blocks_per_sm), bound));
}

double xqa_splits(double units, double kv_tokens, double sm_count) {
  double parts = std::floor(kv_tokens / kXqaTokensPerPart);
  parts = std::max(1.0, std::min(parts, std::round(std::sqrt(8 * parts))));
  const double excess = units * parts / sm_count / kXqaMaxWaves;
  return excess > 1 ? std::max(1.0, std::floor(parts / excess)) : parts;
}

MmhaLaunch mmha_launch(double units, double head_dim, double kv_tokens, double sm_count,
                       double small_ctas_per_sm) {
  constexpr double kSmallThreads = 256, kKeysPerThread = 8;
  const double lanes = head_dim <= 64 ? 8 : head_dim <= 128 ? 16 : 32;
  const double room = std::min(ceil_ratio(sm_count * small_ctas_per_sm, units), small_ctas_per_sm);
  const double growth = room >= 4 ? 4 : room >= 2 ? 2 : 1;
  const double threads = growth * kSmallThreads;
  MmhaLaunch launch;
  launch.ctas_per_sm = std::floor(small_ctas_per_sm / growth);
  launch.threads = threads;
  const double most = std::floor(kv_tokens / (threads / lanes * kKeysPerThread)) + 1;
  launch.splits = std::clamp(ceil_ratio(sm_count, units), 1.0, most);
  return launch;
}

double flashinfer_splits(double units, double kv_tokens, double slots) {
  if (units >= slots) return 1;
  const double most = std::max(1.0, std::floor(slots / units));
  return ceil_ratio(kv_tokens, std::max(kFlashInferMinChunk, ceil_ratio(kv_tokens, most)));
}

double sglang_triton_splits(double units, double kv_tokens, double sm_count, double limit) {
  const double doublings = std::max(1.0, std::log2(kv_tokens / kSglangTokensPerDoubling));
  const double wanted = std::floor(sm_count * doublings);
  const double most = std::clamp(std::floor(wanted / units), 1.0, limit);
  return ceil_ratio(kv_tokens, ceil_ratio(kv_tokens, most));
}

}  // namespace smtwin
