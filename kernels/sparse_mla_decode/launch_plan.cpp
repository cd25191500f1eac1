// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse_mla_decode/launch_plan.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <limits>

#include "arch/units.hpp"
#include "kernels/launch_residency.hpp"
#include "kernels/text.hpp"

namespace smtwin {
namespace {

// Rows land 16 bytes apart from each other, so that eight of them start in different banks; the
// scales fill half of that gap.
constexpr std::int64_t kRowStride = kMlaRowBytes + 16;
constexpr std::int64_t kMmaRows = 16;
constexpr std::int64_t kMmaTokens = 16;
constexpr std::int64_t kHalfBytes = 2;
constexpr std::int64_t kFloatBytes = 4;
constexpr std::int64_t kMmaTileBytes = kMmaRows * kMmaTokens * kHalfBytes;
constexpr std::int64_t kBankPadBytes = 64;

// Eight or more threads of a head read different 16-token blocks at once: those are padded apart.
bool padded_blocks(const SparseMlaTile& tile) {
  const std::int64_t words = tile.block_t / 2;  // of a head's row of scores, two tokens each
  const std::int64_t threads = std::int64_t{kSparseMlaLanes} * tile.num_warps;
  const std::int64_t words_per_thread =
      std::max<std::int64_t>(1, sparse_mla_pass_heads(tile) * words / threads);
  const std::int64_t threads_per_row = words / words_per_thread;
  return threads_per_row > (words_per_thread == 1 ? 8 : 4);
}

// What a tile leaves in shared memory and nobody needs after the last one.
struct Buffers {
  std::int64_t blocks = 0;       // of 16 tokens
  std::int64_t block_bytes = 0;  // scores or probabilities of a block
  std::int64_t rows = 0;
  std::int64_t scores = 0;         // of every warp
  std::int64_t probabilities = 0;  // f16 and BF16
  std::int64_t bytes() const { return rows + scores + probabilities; }
};

Buffers buffers_of(const SparseMlaTile& tile) {
  Buffers buffers;
  buffers.blocks = tile.block_t / kMmaTokens;
  buffers.block_bytes = sparse_mla_pass_heads(tile) / kMmaRows * kMmaTileBytes +
                        (padded_blocks(tile) ? kBankPadBytes : 0);
  buffers.rows = std::int64_t{tile.num_stages} * tile.block_t * kRowStride;
  buffers.scores = tile.num_warps * buffers.blocks * buffers.block_bytes;
  buffers.probabilities = 2 * buffers.blocks * buffers.block_bytes;
  return buffers;
}

// The split rule's picture of a launch: round figures from one H200, of which only the ratios
// matter. A token of a CTA that has its SM to itself, and what each head adds; CTAs that share an
// SM take `slowdown` x their number longer; then the two ways to bring splits together.
constexpr double kTokenSeconds = 15e-9;
constexpr double kTokenHeadSeconds = 0.7e-9;
constexpr double kSharingSlowdown = 0.7;
constexpr double kJoinSeconds = 1e-6;
constexpr double kCombineSeconds = 3e-6;
constexpr double kCombineSplitSeconds = 0.2e-6;
constexpr std::int64_t kMostSplits = 128;

std::string product(std::initializer_list<std::int64_t> factors) {
  std::string text;
  for (const auto factor : factors) {
    if (factor != 1) text += (text.empty() ? "" : " x ") + std::to_string(factor);
  }
  return text.empty() ? "1" : text;
}

}  // namespace

SparseMlaSharedBytes sparse_mla_shared_bytes(const SparseMlaTile& tile) {
  const Buffers buffers = buffers_of(tile);
  const std::int64_t heads = sparse_mla_pass_heads(tile), stages = tile.num_stages;
  const std::int64_t per_head = heads * kFloatBytes * 3;
  // Two mbarriers and the mask of present tokens a stage; the largest scale seen, twice; padded.
  const std::int64_t control = round_up<std::int64_t>(stages * 24 + 8, 16);
  const std::int64_t bytes = buffers.bytes() + per_head + control;
  return {bytes, "rows " + product({stages, tile.block_t, kRowStride}) + " + partial scores " +
                     product({tile.num_warps, buffers.blocks, buffers.block_bytes}) +
                     " + probabilities " + product({2, buffers.blocks, buffers.block_bytes}) +
                     " + heads " + product({heads, kFloatBytes, 3}) + " + control " +
                     std::to_string(control) + " = " + with_separators(bytes)};
}

bool sparse_mla_joins(const SparseMlaTile& tile, std::int64_t splits) {
  constexpr std::int64_t kOutputStride = kMlaHeadDim * 2 + 32;
  return splits == 2 && sparse_mla_head_passes(tile) == 1 &&
         sparse_mla_pass_heads(tile) * kOutputStride <= buffers_of(tile).bytes();
}

SparseMlaTile sparse_mla_default_tile(const SparseMlaDefaultInput& input) {
  // From the fastest on, both lists.
  constexpr SparseMlaTile kFewHeads[] = {{16, 64, 8, 2}, {16, 32, 8, 2}, {16, 16, 8, 2}};
  constexpr SparseMlaTile kManyHeads[] = {
      {64, 64, 8, 2}, {64, 32, 8, 3}, {64, 32, 8, 2}, {16, 16, 8, 2}};
  const auto first_that_fits = [&](const auto& tiles) {
    const auto* found =
        std::find_if(std::begin(tiles), std::end(tiles), [&](const SparseMlaTile& tile) {
          return sparse_mla_shared_bytes(tile).bytes <= input.shared_bytes_per_cta;
        });
    return found == std::end(tiles) ? *std::begin(tiles) : *found;
  };
  // 64 heads a CTA gather each token once; 16 make four times as many CTAs, whose repeated gathers
  // the L2 serves. Which is faster turns where an SM has this many tokens x heads to score
  // (an H200: 24,000 to 32,000 with 64 and with 128 heads). With 32 heads it never does.
  constexpr std::int64_t kFewScoresPerSm = 28'000;
  const double scores = static_cast<double>(input.heads) * static_cast<double>(input.batch) *
                        static_cast<double>(input.topk);
  const bool few = input.heads <= 32 || scores < static_cast<double>(kFewScoresPerSm) *
                                                     static_cast<double>(input.sm_count);
  return few ? first_that_fits(kFewHeads) : first_that_fits(kManyHeads);
}

SparseMlaTile sparse_mla_tile(const Parameters& parameters, std::int64_t shared_bytes_per_cta,
                              std::int64_t sm_count) {
  if (parameters.at("block_h") == 0) {
    return sparse_mla_default_tile({.heads = parameters.at("heads"),
                                    .batch = parameters.at("batch"),
                                    .topk = parameters.at("topk"),
                                    .sm_count = sm_count,
                                    .shared_bytes_per_cta = shared_bytes_per_cta});
  }
  return {static_cast<int>(parameters.at("block_h")), static_cast<int>(parameters.at("block_t")),
          static_cast<int>(parameters.at("num_warps")),
          static_cast<int>(parameters.at("num_stages"))};
}

std::int64_t sparse_mla_split_count(const SparseMlaSplitInput& input) {
  const SparseMlaTile& tile = input.tile;
  const std::int64_t tiles = ceil_div<std::int64_t>(input.topk, tile.block_t);
  const std::int64_t rows =
      saturating_mul(input.batch, ceil_div<std::int64_t>(input.heads, tile.block_h));
  const double tile_s = tile.block_t * (kTokenSeconds + kTokenHeadSeconds * tile.block_h);
  std::int64_t best = 1;
  double best_s = std::numeric_limits<double>::infinity();
  for (std::int64_t splits = 1; splits <= std::min(tiles, kMostSplits); ++splits) {
    const std::int64_t longest = ceil_div(tiles, splits);
    // Only as many as give the longest one fewer tiles.
    if (splits > 1 && longest == ceil_div(tiles, splits - 1)) continue;
    const std::int64_t ctas = saturating_mul(rows, splits);
    const std::int64_t waves = ceil_div(ctas, input.sm_count * input.ctas_per_sm);
    const std::int64_t together = std::min(input.ctas_per_sm, ceil_div(ctas, input.sm_count));
    const double slower = together == 1 ? 1 : kSharingSlowdown * static_cast<double>(together);
    double seconds = static_cast<double>(saturating_mul(waves, longest)) * tile_s * slower;
    if (sparse_mla_joins(tile, splits)) {
      seconds += kJoinSeconds;
    } else if (splits > 1) {
      seconds += kCombineSeconds + kCombineSplitSeconds * static_cast<double>(splits);
    }
    if (seconds < best_s) {
      best = splits;
      best_s = seconds;
    }
  }
  return best;
}

std::int64_t sparse_mla_resident_ctas(const SparseMlaTile& tile, std::int32_t registers_per_thread,
                                      const SmSpec& sm) {
  return launch_ctas_per_sm({.threads_per_cta = sparse_mla_threads(tile),
                             .registers_per_thread = registers_per_thread,
                             .dynamic_shared_bytes = sparse_mla_shared_bytes(tile).bytes},
                            sm);
}

std::string sparse_mla_symbol(const SparseMlaTile& tile) {
  return "smtwin_sparse_mla_bh" + std::to_string(tile.block_h) + "_bt" +
         std::to_string(tile.block_t) + "_w" + std::to_string(tile.num_warps) + "_s" +
         std::to_string(tile.num_stages);
}

}  // namespace smtwin
