// SPDX-License-Identifier: Apache-2.0
// Time of one mixture-of-experts layer on one rank: route, permute, gate and up GEMM, activation,
// down GEMM, combine.
//
//   t = t_fixed + sum over both GEMMs (sqrt(mem^2 + math^2 + feed^2 + lat^2) + remote) + around
//       + counts
//   mem   s   weight bytes of active experts x (H / warm + (1 - H) / (dram x narrow))
//   math  s   padded flops of the busiest SM / its dense tensor rate (x share, Marlin)
//   feed  s   operand bytes into the busiest SM / feed rate, empty rows at their own price
//   lat   s   rounds x (steps x step time x (H + (1 - H) x DRAM latency / L2 latency) + tile time)
//   remote s  CTAs for rows of other ranks, in rounds x time of one (Triton)
//   around s  row and token bytes of the small kernels, from the L2 or from DRAM
//   counts s  experts, pairs, sorting, columns: each with a constant of its own
// H is the share of the weights that replays find in the L2: 1 / (1 + (W / (phi L2))^16), W the
// replayed working set, phi the part of the L2 that holds on to it (0.96 on SM120; 0.50 on Hopper,
// whose two halves each keep a copy). Cold, as in a deployment: H = 0. Rows between the kernels
// were just written, so they are warm while they fit, in both cases: 1 / (1 + (Y / (phi L2))^2).
// Equations, exponents and phi from rows of the AIConfigurator performance database (commit
// 095f58a51c4c); the latency ratio from pointer chasing. Left out: DRAM pages, L2 hit rates of
// shared operands, clock changes under load, host launch cost, all-to-all of expert parallelism.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/families/moe/moe_constants.hpp"
#include "model/families/moe/moe_shape.hpp"
#include "model/families/moe/moe_tiles.hpp"
#include "model/families/moe/moe_work.hpp"
#include "model/families/moe/routing.hpp"
#include "model/timing/time_problem.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

// `choice` of a layer: index of the first GEMM's tile + this x index of the second's.
inline constexpr int kMoeChoiceBase = kMostMoeTiles;

class MoeTimeModel {
 public:
  MoeTimeModel(const TimingGpu& gpu, const MoeImplementation& how);

  const MoeImplementation& implementation() const { return how_; }
  const std::vector<ConstantSpec>& constants() const { return constants_.specs(); }

  MoeWork prepare(const MoeShape& shape, const MoeRouting& routing) const {
    return moe_work(how_, gpu_, shape, routing);
  }

  // Of the layer, weights and rows as `cache` says. `values` in the order of constants(); `choice`
  // and `search` as in TimeProblem.
  double seconds(const MoeWork& work, std::span<const double> values, CacheState cache, int& choice,
                 bool search) const;

  // The same time taken apart: kernel by kernel what each limit alone would take, summed.
  TimeParts parts(const MoeWork& work, std::span<const double> values, CacheState cache) const;

 private:
  struct Rates;
  struct Limits;
  struct State;
  Rates rates(std::span<const double> values) const;
  double warm_share(double bytes) const;
  Limits limits(const MoeGemmWork& gemm, const MoeTileWork& tile, const Rates& rates,
                double warm) const;
  std::size_t pick(const MoeGemmWork& gemm, const Rates& rates, double warm) const;
  State state(const MoeWork& work, std::span<const double> values, CacheState cache, int& choice,
              bool search) const;
  double launch_s(const MoeWork& work, std::span<const double> values) const;
  double around_bytes(const MoeWork& work, std::span<const double> values) const;
  double around_warm_share(double bytes) const;

  TimingGpu gpu_;
  MoeImplementation how_;
  MoeConstants constants_;
  double holding_l2_bytes_ = 0;
  double l2_read_bytes_per_s_ = 0;
  double cold_latency_ratio_ = 1;
};

}  // namespace smtwin
