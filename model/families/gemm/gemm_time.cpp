// SPDX-License-Identifier: Apache-2.0
#include "model/families/gemm/gemm_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/families/gemm/cublas_tiles.hpp"

namespace smtwin {
namespace {

constexpr double kStepElements = 128;     // to which step_s refers
constexpr double kPowerLimitTime = 1.5e-3;  // a kernel this long feels half of the power limit
constexpr double kPartialSumBytes = 4;

double norm(int p, double a, double b, double c, double d) {
  const double a2 = a * a, b2 = b * b, c2 = c * c, d2 = d * d;
  if (p == 2) return std::sqrt(a2 + b2 + c2 + d2);
  return std::sqrt(std::sqrt(a2 * a2 + b2 * b2 + c2 * c2 + d2 * d2));
}

}  // namespace

struct GemmTimeModel::Bounds {
  double mma = 0, step = 0, sm = 0, tiles = 0;
  double l2 = 0, dram = 0, pad = 0;
  double steps_of_sm = 1;  // kt p
  double reduction = 0;

  double least() const {
    return std::max({std::max({mma, step, sm}) + tiles, l2, dram, pad}) + reduction;
  }
};

GemmTimeModel::GemmTimeModel(const GemmImplementation& implementation, const TimingGpu& gpu)
    : implementation_(implementation),
      constants_(implementation, gpu),
      l2_(l2_residency(gpu)),
      sm_count_(gpu.sm_count) {}

GemmTimeModel::GemmTimeModel(const TimingGpu& gpu, std::string_view framework,
                             std::string_view kernel_source, std::string_view dtype)
    : GemmTimeModel(gemm_implementation(framework, kernel_source, dtype, gpu), gpu) {}

GemmPoint GemmTimeModel::replayed_point(const GemmShape& s, double replayed_bytes) const {
  GemmPoint p;
  p.shape = s;
  const double element = bytes_per_element(implementation_.dtype);
  p.weight_bytes = s.b * s.n * s.k * element;
  p.activation_bytes = s.b * s.m * s.k * element;
  p.output_bytes = s.b * s.m * s.n * kOutputBytesPerElement;
  if (implementation_.quantizes()) {
    p.quant_bytes = s.b * s.m * s.k * (2 + element);
    p.quant_rows = implementation_.quantizes_whole_tokens ? s.m : s.b * s.m;
  }
  p.weight_miss = p.activation_miss = 1 - l2_.hit(replayed_bytes);
  p.dram_read_bytes = p.weight_miss * (p.weight_bytes + p.activation_bytes);
  p.dram_bytes = p.dram_read_bytes + p.weight_miss * p.output_bytes;
  if (implementation_.rule) p.rule_tile = implementation_.rule(s, sm_count_);
  return p;
}

GemmPoint GemmTimeModel::cold_point(const GemmShape& s) const {
  GemmPoint p = replayed_point(s, 0);
  p.activation_miss = 1 - l2_.hit(p.activation_bytes + p.output_bytes);
  p.weight_miss = 1;
  p.dram_read_bytes = p.weight_bytes + p.activation_miss * p.activation_bytes;
  p.dram_bytes = p.dram_read_bytes + p.activation_miss * p.output_bytes;
  return p;
}

GemmTimeModel::Bounds GemmTimeModel::bounds(const GemmPoint& p, const GemmTile& t,
                                            const GemmConstants& c) const {
  const GemmShape& s = p.shape;
  const TileWork w = tile_work(s, t, sm_count_);
  const double element = bytes_per_element(implementation_.dtype);
  const double k_of_sm = w.per_sm * w.steps * t.block_k;
  const double cold = std::max(c.cold_step_s, c.step_s);
  const double step = c.step_s + (cold - c.step_s) * p.weight_miss;
  Bounds b;
  b.mma = k_of_sm * 2 * t.block_m * t.block_n * sm_count_ / c.tensor_flops_per_s;
  if (implementation_.spilling_tiles && t.cluster_m * t.cluster_n == 1 && t.block_m * t.block_n >= 128 * 192) b.mma *= c.spill_factor;
  b.step = w.rounds * w.steps * (t.block_k / kStepElements) * step;
  b.sm = k_of_sm * (t.block_m + t.block_n) * element / c.sm_l2_bytes_per_s;
  b.tiles = w.rounds * c.tile_s;
  b.l2 = w.ctas * w.steps * t.block_k *
         (std::min(t.block_m, s.m) / std::min(t.cluster_n, w.tiles_n) + t.block_n / std::min(t.cluster_m, w.tiles_m)) * element /
         c.l2_bytes_per_s;
  b.dram = p.dram_bytes / c.dram_bytes_per_s;
  b.pad = s.b * w.tiles_n * w.steps * (w.tiles_m * t.block_m - s.m) / c.padded_rows_per_s;
  b.steps_of_sm = w.steps * w.per_sm;
  if (t.splits > 1) {
    b.reduction = s.b * s.m * s.n * kPartialSumBytes * (t.splits + 1) / c.l2_bytes_per_s + c.split_s;
  }
  return b;
}

double GemmTimeModel::gemm_seconds(const GemmPoint& p, const Bounds& b,
                                   const GemmConstants& c) const {
  const int e = implementation_.overlap_norm;
  const double core = norm(e, b.mma, b.step, b.sm, 0) + b.tiles;
  const double fill =
      (b.l2 + b.pad + p.dram_read_bytes / c.dram_bytes_per_s) / b.steps_of_sm;
  const double all = norm(e, core, b.l2, b.dram, b.pad) + fill + b.reduction +
                     p.output_bytes / c.output_bytes_per_s;
  return all * (1 + c.power_loss * all / (all + kPowerLimitTime));
}

double GemmTimeModel::quantization_seconds(const GemmPoint& p, const GemmConstants& c) const {
  if (!implementation_.quantizes()) return 0;
  const double rows = c.quant_row_s * p.quant_rows;
  const double bytes =
      p.quant_bytes * std::max(1 / c.quant_bytes_per_s, p.activation_miss / c.dram_bytes_per_s);
  return implementation_.quantizes_whole_tokens ? rows + bytes : std::max(rows, bytes);
}

bool GemmTimeModel::allowed(const GemmPoint& p, const GemmTile& t) const {
  return t.splits == 1 || p.shape.k >= t.block_k * t.splits * kLeastStepsPerSplit;
}

int GemmTimeModel::fastest(const GemmPoint& p, const GemmConstants& c) const {
  double best = std::numeric_limits<double>::infinity();
  int pick = 0;
  const auto& tiles = implementation_.candidates;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (!allowed(p, tiles[i])) continue;
    const Bounds b = bounds(p, tiles[i], c);
    if (b.least() >= best) continue;
    const double t = gemm_seconds(p, b, c);
    if (t < best) {
      best = t;
      pick = static_cast<int>(i);
    }
  }
  return pick;
}

double GemmTimeModel::seconds(const GemmPoint& p, const GemmConstants& c, int& tile,
                              bool search) const {
  const bool rule = implementation_.rule != nullptr;
  if (rule) {
    tile = 0;
  } else if (search) {
    tile = fastest(p, c);
  }
  const GemmTile& t =
      rule ? p.rule_tile : implementation_.candidates[static_cast<std::size_t>(tile)];
  return gemm_seconds(p, bounds(p, t, c), c) + quantization_seconds(p, c) + c.op_s;
}

TimeParts GemmTimeModel::parts(const GemmPoint& p, const GemmConstants& c) const {
  int pick = 0;
  TimeParts out;
  out.seconds = seconds(p, c, pick, true);
  const GemmTile& t = implementation_.rule
                          ? p.rule_tile
                          : implementation_.candidates[static_cast<std::size_t>(pick)];
  const Bounds b = bounds(p, t, c);
  out.choice = to_string(t);
  out[Regime::launch] = c.op_s + c.quant_row_s * p.quant_rows;
  out[Regime::latency] = b.step + b.tiles;
  out[Regime::l2] = std::max(b.l2, b.sm);
  out[Regime::dram] = b.dram;
  out[Regime::compute] = b.mma;
  return out;
}

TimeParts GemmTimeModel::cold_time(const GemmShape& shape, std::span<const double> values) const {
  return parts(cold_point(shape), read(values));
}

}  // namespace smtwin
