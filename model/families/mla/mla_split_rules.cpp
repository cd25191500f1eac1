// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/mla_split_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace smtwin {

namespace {

double ceil_quotient(double a, double b) { return std::ceil(a / b); }

double next_power_of_2(double x) {
  double p = 1;
  while (p < x) p *= 2;
  return p;
}

// FlashAttention 3 (heuristics.h, flash_prepare_scheduler.cu).
constexpr int kFa3MaxSplits = 128;
constexpr double kFa3FullEnough = 0.8;     // of the SMs: no split
constexpr double kFa3FewBlocks = 4;        // up to here no split
constexpr double kFa3Efficiency = 0.85;    // of the best reachable
constexpr double kFa3Margin = 1.1;         // blocks an SM may take above an even share
constexpr double kFa3MaxSplitBatch = 992;  // the scheduler kernel's limit
constexpr double kVllmCapturedSplits = 32;
constexpr double kVllmCapturedBatch = 512;

// Upper bound on splits: the heuristic for one sequence.
double fa3_split_bound(double tiles, double blocks, double sm_count) {
  if (tiles >= kFa3FullEnough * sm_count || blocks <= kFa3FewBlocks) return 1;
  const int limit = static_cast<int>(std::min({double{kFa3MaxSplits}, sm_count, blocks}));
  const auto efficiency = [&](int s) {
    const double waves = tiles * s / sm_count;
    return waves / std::ceil(waves);
  };
  double best = 0;
  for (int s = 1; s <= limit; ++s) best = std::max(best, efficiency(s));
  for (int s = 1; s <= limit; ++s) {
    if (efficiency(s) >= kFa3Efficiency * best) return s;
  }
  return limit;
}

// FlashMLA (get_mla_metadata).
constexpr std::int64_t kFlashMlaOverheadBlocks = 5;
constexpr std::int64_t kFlashMlaPieceBlocks = 2;

// SGLang (triton_backend.py, metadata.py).
constexpr double kTritonHeadTile = 16;
constexpr double kTritonMinTokens = 32;  // a split is a multiple of it
constexpr double kSglangGrowthTokens = 64;

// vLLM (triton_mla.py).
constexpr double kVllmTokensPerSplit = 512;
constexpr double kVllmSplitsPerSm = 2;

double head_tiles(double heads) { return heads == 1 ? 1 : ceil_quotient(heads, kTritonHeadTile); }

}  // namespace

MlaRounds flash_attention3_rounds(const MlaShape& shape, double sm_count, bool captured_bound) {
  const double tiles = ceil_quotient(shape.heads, kMlaQueryTile);
  const double blocks = ceil_quotient(shape.kv_tokens, kMlaKvBlock);
  double bound = captured_bound && shape.batch <= kVllmCapturedBatch
                     ? kVllmCapturedSplits
                     : fa3_split_bound(tiles, blocks, sm_count);
  if (shape.batch > kFa3MaxSplitBatch) bound = 1;
  const double blocks_per_sm = std::ceil(kFa3Margin * shape.batch * tiles * blocks / sm_count);
  const double splits = std::clamp(ceil_quotient(blocks, blocks_per_sm), 1.0, bound);
  MlaRounds r;
  r.pieces = ceil_quotient(shape.batch * tiles * splits, sm_count);
  r.blocks = r.pieces * ceil_quotient(blocks, splits);
  r.splits = splits;
  r.partials = splits > 1 ? shape.batch * splits : 0;
  return r;
}

MlaRounds flashmla_rounds(const MlaShape& shape, double sm_count) {
  const auto batch = static_cast<std::int64_t>(shape.batch);
  const auto blocks = static_cast<std::int64_t>(ceil_quotient(shape.kv_tokens, kMlaKvBlock));
  const auto parts = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(sm_count / ceil_quotient(shape.heads, kMlaQueryTile)));
  const std::int64_t total = batch * (blocks + kFlashMlaOverheadBlocks);
  const std::int64_t payload = (total + parts - 1) / parts + kFlashMlaOverheadBlocks;

  MlaRounds busiest;
  busiest.pieces = busiest.blocks = 0;
  double busiest_cost = -1;
  std::int64_t sequence = 0, done = 0, pieces_of_sequence = 0, most_pieces = 0;
  const auto finish_sequence = [&] {
    if (pieces_of_sequence > 1) busiest.partials += static_cast<double>(pieces_of_sequence);
    most_pieces = std::max(most_pieces, pieces_of_sequence);
    pieces_of_sequence = 0;
  };
  for (std::int64_t part = 0; part < parts && sequence < batch; ++part) {
    std::int64_t left = payload, pieces = 0, part_blocks = 0;
    while (sequence < batch) {
      const std::int64_t remaining = blocks - done;
      if (left >= remaining + kFlashMlaOverheadBlocks) {
        left -= remaining + kFlashMlaOverheadBlocks;
        ++pieces;
        ++pieces_of_sequence;
        part_blocks += remaining;
        done = 0;
        ++sequence;
        finish_sequence();
        continue;
      }
      const std::int64_t taken = left - kFlashMlaOverheadBlocks;
      if (taken > 0) {
        ++pieces;
        ++pieces_of_sequence;
        part_blocks += taken;
        done += taken;
      }
      break;
    }
    // A piece costs about two blocks, less than the scheduler thinks: that decides who is busiest.
    const double cost = static_cast<double>(part_blocks + kFlashMlaPieceBlocks * pieces);
    if (cost > busiest_cost) {
      busiest_cost = cost;
      busiest.pieces = static_cast<double>(pieces);
      busiest.blocks = static_cast<double>(part_blocks);
    }
  }
  busiest.splits = static_cast<double>(std::max<std::int64_t>(1, most_pieces));
  return busiest;
}

TritonMlaPlan sglang_triton_plan(const MlaShape& shape, double sm_count) {
  const double planned = shape.planner_heads > 0 ? shape.planner_heads : shape.heads;
  const double grid = shape.batch * ceil_quotient(planned, std::min(kTritonHeadTile, planned));
  const double cap = next_power_of_2(sm_count);
  const double growth = std::max(1.0, std::log2(shape.kv_tokens / kSglangGrowthTokens));
  const double wanted = std::min(cap, ceil_quotient(std::floor(sm_count * growth), grid));
  const double chunk = ceil_quotient(shape.kv_tokens, wanted);
  const double splits = ceil_quotient(shape.kv_tokens, chunk);
  TritonMlaPlan plan;
  plan.head_tiles = head_tiles(shape.heads);
  plan.tokens_per_split =
      ceil_quotient(ceil_quotient(shape.kv_tokens, splits), kTritonMinTokens) * kTritonMinTokens;
  plan.splits = ceil_quotient(shape.kv_tokens, plan.tokens_per_split);
  plan.launched_splits = cap;
  return plan;
}

TritonMlaPlan vllm_triton_plan(const MlaShape& shape, double sm_count) {
  const double ideal =
      next_power_of_2(std::max(1.0, std::floor(shape.kv_tokens / kVllmTokensPerSplit)));
  const double splits = std::min(ideal, kVllmSplitsPerSm * sm_count);
  TritonMlaPlan plan;
  plan.head_tiles = head_tiles(shape.heads);
  plan.tokens_per_split = ceil_quotient(shape.kv_tokens, splits);
  plan.splits = ceil_quotient(shape.kv_tokens, plan.tokens_per_split);
  plan.launched_splits = plan.splits;
  return plan;
}

}  // namespace smtwin
