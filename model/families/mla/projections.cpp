// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/projections.hpp"

#include <algorithm>
#include <cmath>

#include "model/timing/constant_specs.hpp"
#include "model/timing/norms.hpp"

namespace smtwin {

namespace {

constexpr double kRowTile = 64;
constexpr double kTile = 128;
constexpr double kStepDepth = 128;
constexpr double kSmallRows = 16;
// Of the tensor cores' peak: the prior on SM120, held on Hopper. Assumed, not verified.
constexpr double kFlopEfficiency = 0.7;

double peak_flops(const TimingGpu& gpu, ProjectionType type) {
  switch (type) {
    case ProjectionType::bf16:
      return gpu.bf16_flops_per_s;
    case ProjectionType::fp8_block:
      return gpu.fp8_flops_per_s;
    case ProjectionType::nvfp4:
      break;
  }
  return gpu.nvfp4_flops_per_s;
}

}  // namespace

double projection_weight_bytes(ProjectionType type) {
  switch (type) {
    case ProjectionType::bf16:
      return 2;
    case ProjectionType::fp8_block:
      return 1;
    case ProjectionType::nvfp4:
      break;
  }
  return 0.5 + 1.0 / 16;
}

double Projections::Work::weight_bytes() const {
  double bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += list[i].n * list[i].k * list[i].element_bytes;
  return bytes;
}

Projections::Projections(const TimingGpu& gpu, ProjectionType type, bool small_batch,
                         MlaConstants& constants, bool tall_tiles)
    : sm_count_(gpu.sm_count), tall_tiles_(tall_tiles) {
  weight_share_ = MlaConstant(1);
  l2_weight_rate_ = MlaConstant(kNoRate);
  k_step_s_ = small_batch_s_ = MlaConstant(0);
  dram_rate_ = constants.dram_rate(gpu);
  const double flop_rate = kFlopEfficiency * peak_flops(gpu, type);
  if (gpu.hopper()) {
    // Its rows cannot tell multiply-adds from the activations of the same rows: a fact, not fitted.
    flop_rate_ = MlaConstant(flop_rate);
  } else {
    flop_rate_ = constants.rate("flop_rate", "flop/s",
                                "multiply-adds of the projections on padded rows", flop_rate, 0.4);
  }
  if (gpu.hopper()) {
    weight_share_ = constants.factor(
        "weight_share", "of dram_rate that a stream of weights reaches", 0.85, 0.15, 1);
  } else if (type == ProjectionType::fp8_block) {
    l2_weight_rate_ = constants.rate("l2_weight_rate", "B/s", "weights that the L2 still holds",
                                     2 * gpu.dram_bytes_per_s);
  } else if (type == ProjectionType::nvfp4) {
    k_step_s_ =
        constants.time("k_step_time", "128 elements of K in one tile, whatever the rows", 0.55e-6);
  }
  if (tall_tiles) {
    k_step_s_ = constants.time("k_step_time", "128 elements of K in one tile of 128 rows", 0.15e-6);
  }
  if (small_batch) {
    small_batch_s_ =
        constants.time("small_batch_time", "per doubling of the rows up to 16, whole module", 3e-6);
  }
}

MlaTime Projections::time(const Work& w, std::span<const double> values, CacheState cache) const {
  const double cold = cache == CacheState::cold ? 1 : w.cold;
  const double dram = dram_rate_(values) * weight_share_(values);
  const double l2 = l2_weight_rate_(values);
  const double flop_rate = flop_rate_(values);
  const double padded = std::ceil(w.rows / kRowTile) * kRowTile;
  const double row_tiles = std::ceil(w.rows / kTile);
  const double step_s = k_step_s_(values) * (tall_tiles_ ? std::min(padded / kTile, 1.0) : 1);
  MlaTime t;
  for (std::size_t i = 0; i < w.count; ++i) {
    const Projection& p = w.list[i];
    const double bytes = p.n * p.k * p.element_bytes;
    const double dram_s = bytes * cold / dram, l2_s = bytes * (1 - cold) / l2;
    const double flop_s = 2 * padded * p.n * p.k / flop_rate;
    const double walk_s =
        p.k / kStepDepth * step_s * std::max(1.0, row_tiles * std::ceil(p.n / kTile) / sm_count_);
    t.seconds += norm2(norm2(dram_s + l2_s, flop_s), walk_s);
    t.dram_s += dram_s;
    t.l2_s += l2_s;
    t.compute_s += flop_s;
    t.latency_s += walk_s;
  }
  const double small_s = small_batch_s_(values) * std::log2(std::min(w.rows, kSmallRows));
  t.launch_s = small_s;
  t.seconds += small_s;
  return t;
}

}  // namespace smtwin
