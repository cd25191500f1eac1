// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/moe_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace smtwin {
namespace {

// Share of the small kernels' bytes that compete with weights for the L2. Assumed for all families
// and held; 0 or 1 instead moves the median error of no family of 300 rows by more than 0.4 points.
constexpr double kAroundInWorkingSet = 0.3;

// Part of the L2 that holds on to replayed weights. Fitted once on rows of all families of a GPU
// and held; on Hopper a read-bandwidth test of growing sizes falls off at the same half.
double holding_share(const TimingGpu& gpu) {
  constexpr double kOneL2 = 0.96, kTwoHalves = 0.50;
  return gpu.hopper() ? kTwoHalves : kOneL2;
}

// Both GEMMs' tiles in one number, as TimeProblem wants them.
int join(std::array<std::size_t, 2> picked) {
  return static_cast<int>(picked[0]) + kMoeChoiceBase * static_cast<int>(picked[1]);
}
std::array<std::size_t, 2> split(int choice, std::size_t tiles) {
  const auto valid = [tiles](int t) { return std::min(static_cast<std::size_t>(t), tiles - 1); };
  return {valid(choice % kMoeChoiceBase), valid(choice / kMoeChoiceBase)};
}

}  // namespace

struct MoeTimeModel::Rates {
  double dram, warm, feed, step_s, tile_s, narrow, unaligned, empty, math, remote_s;
};

struct MoeTimeModel::Limits {
  double cold_s, warm_s, math_s, feed_s, latency_s;
  double seconds() const {
    const double memory_s = cold_s + warm_s;
    return std::sqrt(memory_s * memory_s + math_s * math_s + feed_s * feed_s +
                     latency_s * latency_s);
  }
};

// All that a layer's time needs beside its work.
struct MoeTimeModel::State {
  Rates rates;
  double around_dram_s, around_l2_s;  // bytes of the small kernels
  double warm;                        // share of the weights that is found in the L2
  std::array<std::size_t, 2> picked;  // tile of each GEMM
};

MoeTimeModel::MoeTimeModel(const TimingGpu& gpu, const MoeImplementation& how)
    : gpu_(gpu),
      how_(how),
      constants_(gpu, how),
      holding_l2_bytes_(holding_share(gpu) * gpu.l2_bytes),
      l2_read_bytes_per_s_(moe_l2_read_bytes_per_s(gpu)),
      cold_latency_ratio_(gpu.dram_latency_s / gpu.l2_latency_s) {}

MoeTimeModel::Rates MoeTimeModel::rates(std::span<const double> values) const {
  const auto v = [&](MoeConstant c) { return constants_.value(c, values); };
  return {.dram = v(MoeConstant::dram_rate),
          .warm = v(MoeConstant::warm_rate),
          .feed = v(MoeConstant::feed_rate),
          .step_s = v(MoeConstant::k_step_time),
          .tile_s = v(MoeConstant::tile_time),
          .narrow = v(MoeConstant::narrow_share),
          .unaligned = v(MoeConstant::unaligned_factor),
          .empty = v(MoeConstant::empty_row_factor),
          .math = v(MoeConstant::math_share),
          .remote_s = v(MoeConstant::remote_tile_time)};
}

double MoeTimeModel::warm_share(double bytes) const {
  const double x = bytes / holding_l2_bytes_;
  const double x2 = x * x, x4 = x2 * x2;
  const double x8 = x4 * x4;
  return 1 / (1 + x8 * x8);
}

MoeTimeModel::Limits MoeTimeModel::limits(const MoeGemmWork& gemm, const MoeTileWork& tile,
                                          const Rates& r, double warm) const {
  // Loads of single elements miss the pipeline; filling it costs about one more slow step.
  const double slow = gemm.unaligned ? r.unaligned + (r.unaligned - 1) / tile.steps : 1;
  const double dram = r.dram * (tile.narrow ? r.narrow : 1);
  const double lag = warm + (1 - warm) * cold_latency_ratio_;
  return {.cold_s = gemm.weight_bytes * (1 - warm) / dram,
          .warm_s = gemm.weight_bytes * warm / r.warm,
          .math_s = tile.math_s / r.math,
          .feed_s = (tile.feed_bytes + r.empty * tile.empty_bytes) * slow / r.feed,
          .latency_s = tile.rounds * (tile.steps * r.step_s * slow * lag + r.tile_s)};
}

std::size_t MoeTimeModel::pick(const MoeGemmWork& gemm, const Rates& r, double warm) const {
  std::size_t best = 0;
  double least = limits(gemm, gemm.tiles[0], r, warm).seconds();
  for (std::size_t t = 1; t < gemm.tiles.size(); ++t) {
    const double s = limits(gemm, gemm.tiles[t], r, warm).seconds();
    if (s < least) least = s, best = t;
  }
  return best;
}

double MoeTimeModel::launch_s(const MoeWork& w, std::span<const double> values) const {
  const auto v = [&](MoeConstant c) { return constants_.value(c, values); };
  const MoeShape& s = w.shape;
  constexpr double kFusedTopk = 8;  // experts a token that the frameworks' fused kernels handle
  double seconds = v(MoeConstant::fixed_time) + v(MoeConstant::expert_time) * s.local_experts() +
                   v(MoeConstant::switch_time) * w.active_experts +
                   v(MoeConstant::pair_time) * w.pairs + v(MoeConstant::sort_time) * w.sort_share +
                   v(MoeConstant::align_time) * w.align_passes +
                   v(MoeConstant::column_time) * s.hidden;
  if (s.topk > kFusedTopk) {
    seconds += v(MoeConstant::slow_topk_time) +
               v(MoeConstant::slow_topk_row_time) * s.tokens / gpu_.sm_count;
  }
  if (s.ep > 1) seconds += v(MoeConstant::ep_routing_time);
  return seconds;
}

double MoeTimeModel::around_bytes(const MoeWork& w, std::span<const double> values) const {
  const auto v = [&](MoeConstant c) { return constants_.value(c, values); };
  double per_element = v(MoeConstant::token_bytes);
  if (w.shape.topk == 1) per_element += v(MoeConstant::input_weight_bytes);
  return v(MoeConstant::row_traffic) * w.row_bytes + per_element * w.token_elements;
}

double MoeTimeModel::around_warm_share(double bytes) const {
  const double x = bytes / holding_l2_bytes_;
  return 1 / (1 + x * x);
}

MoeTimeModel::State MoeTimeModel::state(const MoeWork& w, std::span<const double> values,
                                        CacheState cache, int& choice, bool search) const {
  const Rates r = rates(values);
  const double around = around_bytes(w, values);
  const bool benchmark = cache == CacheState::benchmark;
  const double warm = benchmark ? warm_share(w.weight_bytes + kAroundInWorkingSet * around) : 0;
  if (search) {
    const bool tuned = !w.tuned_gemms.front().tiles.empty();
    const auto& timed = tuned ? w.tuned_gemms : w.gemms;
    const double timed_warm = tuned ? warm_share(w.tuned_weight_bytes) : warm;
    choice = join({pick(timed[0], r, timed_warm), pick(timed[1], r, timed_warm)});
  }
  const double around_warm = around_warm_share(around);
  return {.rates = r,
          .around_dram_s = around * (1 - around_warm) / r.dram,
          .around_l2_s = around * around_warm / l2_read_bytes_per_s_,
          .warm = warm,
          .picked = split(choice, w.tiles.size())};
}

double MoeTimeModel::seconds(const MoeWork& w, std::span<const double> values, CacheState cache,
                             int& choice, bool search) const {
  const State s = state(w, values, cache, choice, search);
  double total = launch_s(w, values) + s.around_l2_s + s.around_dram_s;
  for (std::size_t m = 0; m < w.gemms.size(); ++m) {
    const MoeTileWork& tile = w.gemms[m].tiles[s.picked[m]];
    total += limits(w.gemms[m], tile, s.rates, s.warm).seconds() +
             tile.remote_cta_rounds * s.rates.remote_s;
  }
  return total;
}

TimeParts MoeTimeModel::parts(const MoeWork& w, std::span<const double> values,
                              CacheState cache) const {
  TimeParts p;
  int choice = 0;
  p.seconds = seconds(w, values, cache, choice, true);
  const State s = state(w, values, cache, choice, false);
  p[Regime::launch] = launch_s(w, values);
  p[Regime::dram] = s.around_dram_s;
  p[Regime::l2] = s.around_l2_s;
  for (std::size_t m = 0; m < w.gemms.size(); ++m) {
    const MoeTileWork& tile = w.gemms[m].tiles[s.picked[m]];
    const Limits l = limits(w.gemms[m], tile, s.rates, s.warm);
    p[Regime::dram] += l.cold_s;
    p[Regime::l2] += std::max(l.warm_s, l.feed_s);
    p[Regime::compute] += l.math_s;
    p[Regime::latency] += l.latency_s + tile.remote_cta_rounds * s.rates.remote_s;
    const MoeTile& t = w.tiles[s.picked[m]];
    p.choice += (m > 0 ? ", " : "") + std::to_string(t.rows) + "x" + std::to_string(t.columns) +
                "x" + std::to_string(t.depth);
  }
  return p;
}

}  // namespace smtwin
