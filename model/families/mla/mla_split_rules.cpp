// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/mla_split_rules.hpp"

#include <algorithm>
#include <cmath>

namespace smtwin {

namespace {

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
constexpr double kFlashMlaOverheadBlocks = 5;
constexpr double kFlashMlaPieceBlocks = 2;

// SGLang (triton_backend.py, metadata.py).
constexpr double kTritonHeadTile = 16;
constexpr double kTritonMinTokens = 32;  // a split is a multiple of it
constexpr double kSglangGrowthTokens = 64;

// vLLM (triton_mla.py).
constexpr double kVllmTokensPerSplit = 512;
constexpr double kVllmSplitsPerSm = 2;

double head_tiles(double heads) { return heads == 1 ? 1 : std::ceil(heads / kTritonHeadTile); }

}  // namespace

MlaRounds flash_attention3_rounds(const MlaShape& shape, double sm_count, bool captured_bound) {
  const double tiles = std::ceil(shape.heads / kMlaQueryTile);
  const double blocks = std::ceil(shape.kv_tokens / kMlaKvBlock);
  double bound = captured_bound && shape.batch <= kVllmCapturedBatch
                     ? kVllmCapturedSplits
                     : fa3_split_bound(tiles, blocks, sm_count);
  if (shape.batch > kFa3MaxSplitBatch) bound = 1;
  const double blocks_per_sm = std::ceil(kFa3Margin * shape.batch * tiles * blocks / sm_count);
  const double splits = std::clamp(std::ceil(blocks / blocks_per_sm), 1.0, bound);
  MlaRounds r;
  r.pieces = std::ceil(shape.batch * tiles * splits / sm_count);
  r.blocks = r.pieces * std::ceil(blocks / splits);
  r.splits = splits;
  r.partials = splits > 1 ? shape.batch * splits : 0;
  return r;
}

MlaRounds flashmla_rounds(const MlaShape& shape, double sm_count) {
  const double blocks = std::ceil(shape.kv_tokens / kMlaKvBlock);
  const double whole = blocks + kFlashMlaOverheadBlocks;  // payload of one sequence
  const double parts = std::max(1.0, std::floor(sm_count / std::ceil(shape.heads / kMlaQueryTile)));
  const double payload = std::ceil(shape.batch * whole / parts) + kFlashMlaOverheadBlocks;

  MlaRounds busiest;
  double busiest_cost = -1, most_pieces = 1;
  double sequences = shape.batch;  // not handed out in full yet
  double done = 0, cuts = 0;       // blocks and pieces of the first of them that are
  for (double part = 0; part < parts && sequences > 0; ++part) {
    double left = payload, pieces = 0, part_blocks = 0;
    if (done > 0 && left >= whole - done) {  // the rest of a sequence begun by earlier parts
      left -= whole - done;
      ++pieces;
      part_blocks += blocks - done;
      busiest.partials += cuts + 1;
      most_pieces = std::max(most_pieces, cuts + 1);
      done = cuts = 0;
      --sequences;
    }
    if (done == 0) {  // sequences that fit whole, all at once: a batch may have millions
      const double fit = std::min(sequences, std::floor(left / whole));
      left -= fit * whole;
      pieces += fit;
      part_blocks += fit * blocks;
      sequences -= fit;
    }
    const double taken = left - kFlashMlaOverheadBlocks;
    if (sequences > 0 && taken > 0) {
      ++pieces;
      ++cuts;
      part_blocks += taken;
      done += taken;
    }
    // A piece costs about two blocks, less than the scheduler thinks: that decides who is busiest.
    const double cost = part_blocks + kFlashMlaPieceBlocks * pieces;
    if (cost > busiest_cost) {
      busiest_cost = cost;
      busiest.pieces = pieces;
      busiest.blocks = part_blocks;
    }
  }
  busiest.splits = most_pieces;
  return busiest;
}

TritonMlaPlan sglang_triton_plan(const MlaShape& shape, double sm_count) {
  const double planned = shape.planner_heads > 0 ? shape.planner_heads : shape.heads;
  const double grid = shape.batch * std::ceil(planned / std::min(kTritonHeadTile, planned));
  const double cap = next_power_of_2(sm_count);
  const double growth = std::max(1.0, std::log2(shape.kv_tokens / kSglangGrowthTokens));
  const double wanted = std::min(cap, std::ceil(std::floor(sm_count * growth) / grid));
  const double chunk = std::ceil(shape.kv_tokens / wanted);
  const double splits = std::ceil(shape.kv_tokens / chunk);
  TritonMlaPlan plan;
  plan.head_tiles = head_tiles(shape.heads);
  plan.tokens_per_split =
      std::ceil(std::ceil(shape.kv_tokens / splits) / kTritonMinTokens) * kTritonMinTokens;
  plan.splits = std::ceil(shape.kv_tokens / plan.tokens_per_split);
  plan.launched_splits = cap;
  return plan;
}

TritonMlaPlan vllm_triton_plan(const MlaShape& shape, double sm_count) {
  const double ideal =
      next_power_of_2(std::max(1.0, std::floor(shape.kv_tokens / kVllmTokensPerSplit)));
  const double splits = std::min(ideal, kVllmSplitsPerSm * sm_count);
  TritonMlaPlan plan;
  plan.head_tiles = head_tiles(shape.heads);
  plan.tokens_per_split = std::ceil(shape.kv_tokens / splits);
  plan.splits = std::ceil(shape.kv_tokens / plan.tokens_per_split);
  plan.launched_splits = plan.splits;
  return plan;
}

}  // namespace smtwin
