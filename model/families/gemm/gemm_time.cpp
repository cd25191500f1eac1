// SPDX-License-Identifier: Apache-2.0
#include "model/families/gemm/gemm_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/families/gemm/cublas_tiles.hpp"
#include "model/timing/norms.hpp"

namespace smtwin {
namespace {

constexpr double kStepElements = 128;  // to which step_s refers
constexpr double kPartialSumBytes = 4;

// Set once on measured rows and held (AIConfigurator performance database, commit 095f58a51c4c);
// effects are points of the cross-validated median and 90th percentile after a new fit.
// A kernel this long feels half of the power limit. 3 ms instead: 0.1 point of the median.
constexpr double kPowerLimitTime_s = 1.5e-3;
// Half way from step_s to loaded_step_s; set on TensorRT-LLM's block-scaled FP8 on SM120. Half or
// twice of it there: 0.4 to 0.6 and 1 to 2 points worse.
constexpr double kLoadedShareOfSms = 0.1;
// Quantizing rows one after another, more per row from DRAM; set on the same rows. Without it 0.1
// and 0.6 points worse; batched 0.2 better and 2 worse.
constexpr double kColdRowWait = 0.4;
// A row of a single block has no second load to wait for; set on TensorRT-LLM's batched FP8 on
// SM120. Without it there 2.4 and 1.9 points worse.
constexpr double kOneBlockRow = 0.8;
constexpr double kQuantBlock = 128;
// A tile's loads against a dot product's; set on BF16 rows with M = 1 on SM120. Without it 0.1
// point over all M.
constexpr double kGemvRowsInTileLoads = 4;

constexpr double kLargeTileOutputs = 128 * 192;
constexpr double kTileOutputs = 128 * 128;  // to which tile_s refers

double norm(int p, double a, double b, double c, double d) {
  const double a2 = a * a, b2 = b * b, c2 = c * c, d2 = d * d;
  if (p == 2) return std::sqrt(a2 + b2 + c2 + d2);
  return std::sqrt(std::sqrt(a2 * a2 + b2 * b2 + c2 * c2 + d2 * d2));
}

}  // namespace

struct GemmTimeModel::Bounds {
  double mma = 0, step = 0, sm = 0;
  double tiles = 0;   // changes of tile and epilogues that nothing hides
  double change = 0;  // changes of tile that overlap the K loop
  double l2 = 0, dram = 0, pad = 0;
  double steps_of_sm = 1;  // kt p
  double reduction = 0;

  double least() const {
    return std::max({std::max({mma, step, sm, change}) + tiles, l2, dram, pad}) + reduction;
  }
};

GemmTimeModel::GemmTimeModel(const GemmImplementation& implementation, const TimingGpu& gpu)
    : implementation_(implementation),
      constants_(implementation, gpu),
      l2_(l2_residency(gpu, implementation.batched)),
      sm_count_(gpu.sm_count) {}

GemmTimeModel::GemmTimeModel(const TimingGpu& gpu, std::string_view framework,
                             std::string_view kernel_source, std::string_view dtype)
    : GemmTimeModel(gemm_implementation(framework, kernel_source, dtype, gpu), gpu) {}

GemmTensors GemmTimeModel::tensors(const GemmShape& s) const {
  const double element = bytes_per_element(implementation_.dtype);
  GemmTensors t;
  t.weights = s.b * s.n * s.k * element;
  t.activations = s.b * s.m * s.k * element;
  t.outputs = s.b * s.m * s.n * kOutputBytesPerElement;
  if (implementation_.quantizes()) t.source = s.b * s.m * s.k * kSourceBytesPerElement;
  return t;
}

GemmPoint GemmTimeModel::point(const GemmShape& s, const GemmReuse& reuse) const {
  GemmPoint p;
  p.shape = s;
  p.bytes = tensors(s);
  if (implementation_.quantizes()) {
    p.quant_bytes = implementation_.quant_passes * p.bytes.source + p.bytes.activations;
    p.quant_rows = implementation_.quantizes_whole_tokens ? s.m : s.b * s.m;
  }
  p.weight_miss = 1 - l2_.hit(reuse.weight_bytes);
  p.source_miss = 1 - l2_.hit(reuse.source_bytes);
  // A second pass finds what the first one left in the L2.
  const double again = (implementation_.quant_passes - 1) * (1 - l2_.hit(p.bytes.source));
  p.quant_dram_bytes =
      (p.source_miss + again) * p.bytes.source + p.source_miss * p.bytes.activations;
  p.dram_read_bytes =
      p.weight_miss * p.bytes.weights + (1 - l2_.hit(reuse.activation_bytes)) * p.bytes.activations;
  p.dram_bytes = p.dram_read_bytes + (1 - l2_.hit(reuse.output_bytes)) * p.bytes.outputs;
  if (implementation_.rule) p.rule_tile = implementation_.rule(s, sm_count_);
  return p;
}

GemmPoint GemmTimeModel::cold_point(const GemmShape& s) const {
  const GemmTensors t = tensors(s);
  return point(s, {.weight_bytes = std::numeric_limits<double>::infinity(),
                   .activation_bytes = t.activations + t.source,
                   .output_bytes = t.outputs,
                   .source_bytes = t.source});
}

GemmTimeModel::Bounds GemmTimeModel::bounds(const GemmPoint& p, const GemmTile& t,
                                            const GemmConstants& c) const {
  const GemmShape& s = p.shape;
  const TileWork w = tile_work(s, t, sm_count_);
  const double element = bytes_per_element(implementation_.dtype);
  const double k_of_sm = w.per_sm * w.steps * t.block_k;
  const double cold = std::max(c.cold_step_s, c.step_s);
  const double busy = w.ctas / (kLoadedShareOfSms * sm_count_);
  const double busy4 = busy * busy * busy * busy;
  const double loaded = std::max(c.loaded_step_s, c.step_s);
  const double step =
      c.step_s + (cold - c.step_s) * p.weight_miss + (loaded - c.step_s) * busy4 / (1 + busy4);
  Bounds b;
  b.mma = k_of_sm * 2 * t.block_m * t.block_n * sm_count_ / c.tensor_flops_per_s;
  const bool alone = t.cluster_m * t.cluster_n == 1;
  if (alone && t.block_m * t.block_n >= kLargeTileOutputs) b.mma *= c.large_tile_factor;
  if (t.block_m == 1) {
    // Dot products: no tensor cores, no tile, the loads of one row at a time in flight.
    b.sm = k_of_sm * t.block_n * element * kGemvRowsInTileLoads / c.sm_l2_bytes_per_s;
    b.l2 = p.bytes.weights / c.l2_bytes_per_s;
    b.dram = p.dram_bytes / c.dram_bytes_per_s;
    b.steps_of_sm = w.steps * w.per_sm;
    return b;
  }
  b.step = w.rounds * w.steps * (t.block_k / kStepElements) * step;
  b.sm = k_of_sm * (t.block_m + t.block_n) * element / c.sm_l2_bytes_per_s;
  const double area = t.block_m * t.block_n / kTileOutputs;
  if (implementation_.overlaps_tile_change) {
    b.change = c.tile_s * (w.rounds - 1);
    b.tiles = c.tile_s * area;
  } else {
    b.tiles = c.tile_s * (w.rounds - 1 + w.rounds * area);
  }
  b.l2 = w.ctas * w.steps * t.block_k *
         (std::min(t.block_m, s.m) / std::min(t.cluster_n, w.tiles_n) +
          t.block_n / std::min(t.cluster_m, w.tiles_m)) *
         element / c.l2_bytes_per_s;
  b.dram = p.dram_bytes / c.dram_bytes_per_s;
  b.pad = s.b * w.tiles_n * w.steps * (w.tiles_m * t.block_m - s.m) / c.padded_rows_per_s;
  b.steps_of_sm = w.steps * w.per_sm;
  if (t.splits > 1) {
    b.reduction =
        s.b * s.m * s.n * kPartialSumBytes * (t.splits + 1) / c.l2_bytes_per_s + c.split_s;
  }
  return b;
}

double GemmTimeModel::gemm_seconds(const GemmPoint& p, const Bounds& b,
                                   const GemmConstants& c) const {
  const int e = implementation_.overlap_norm;
  const double core = norm(e, b.mma, b.step, b.sm, b.change) + b.tiles;
  const double fill = (b.l2 + b.pad + p.dram_read_bytes / c.dram_bytes_per_s) / b.steps_of_sm;
  const double all = norm(e, core, b.l2, b.dram, b.pad) + fill + b.reduction +
                     p.bytes.outputs / c.output_bytes_per_s;
  return all * (1 + c.power_loss * all / (all + kPowerLimitTime_s));
}

double GemmTimeModel::quantization_seconds(const GemmPoint& p, const GemmConstants& c) const {
  if (p.quant_bytes <= 0) return 0;
  double wait = 1;
  if (implementation_.rows_in_turn) {
    wait += kColdRowWait * p.source_miss;
    if (p.shape.k <= kQuantBlock) wait *= kOneBlockRow;
  }
  const double rows = c.quant_row_s * p.quant_rows * wait;
  const double bytes =
      std::max(p.quant_bytes / c.quant_bytes_per_s, p.quant_dram_bytes / c.dram_bytes_per_s);
  return norm2(rows, bytes);
}

bool GemmTimeModel::allowed(const GemmPoint& p, const GemmTile& t) const {
  return cublas_allows(p.shape, t, bytes_per_element(implementation_.dtype));
}

// Below the time of the tile whatever the splits: all its steps spread evenly over the SMs.
double GemmTimeModel::least_seconds(const GemmPoint& p, const GemmTile& t,
                                    const GemmConstants& c) const {
  const GemmShape& s = p.shape;
  if (t.block_m == 1) return 0;  // a dot product uses no tensor cores
  const double elements = s.b * ceil_div(s.m, t.block_m) * ceil_div(s.n, t.block_n) * s.k;
  const double element = bytes_per_element(implementation_.dtype);
  return std::max({elements * 2 * t.block_m * t.block_n / c.tensor_flops_per_s,
                   elements * (std::min(t.block_m, s.m) + t.block_n) * element / c.l2_bytes_per_s,
                   p.dram_bytes / c.dram_bytes_per_s});
}

int GemmTimeModel::fastest(const GemmPoint& p, const GemmConstants& c) const {
  const double output = p.bytes.outputs / c.output_bytes_per_s;
  double best = std::numeric_limits<double>::infinity();
  double least = 0, most_splits = 0;
  std::size_t pick = plain_tile();
  const auto& tiles = implementation_.candidates;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const GemmTile& t = tiles[i];
    if (t.splits == 1) {
      least = least_seconds(p, t, c) + output;
      most_splits = implementation_.most_split_rounds * sm_count_ * t.ctas_per_sm /
                    (p.shape.b * ceil_div(p.shape.m, t.block_m) * ceil_div(p.shape.n, t.block_n));
    }
    if (least >= best || (t.splits > 1 && t.splits > most_splits) || !allowed(p, t)) continue;
    const Bounds b = bounds(p, t, c);
    if (b.least() + output >= best) continue;
    const double s = gemm_seconds(p, b, c);
    if (s < best) {
      best = s;
      pick = i;
    }
  }
  return static_cast<int>(pick);
}

std::size_t GemmTimeModel::plain_tile() const {
  const auto& tiles = implementation_.candidates;
  std::size_t i = 0;
  while (i + 1 < tiles.size() && tiles[i].block_m == 1) ++i;
  return i;
}

const GemmTile& GemmTimeModel::chosen(const GemmPoint& p, int choice) const {
  if (implementation_.rule) return p.rule_tile;
  const auto& tiles = implementation_.candidates;
  if (choice >= 0 && static_cast<std::size_t>(choice) < tiles.size()) {
    const GemmTile& t = tiles[static_cast<std::size_t>(choice)];
    if (allowed(p, t)) return t;
  }
  return tiles[plain_tile()];
}

double GemmTimeModel::seconds(const GemmPoint& p, const GemmConstants& c, int& tile,
                              bool search) const {
  if (implementation_.rule) {
    tile = 0;
  } else if (search) {
    tile = fastest(p, c);
  }
  const GemmTile& t = chosen(p, tile);
  return gemm_seconds(p, bounds(p, t, c), c) + quantization_seconds(p, c) + c.op_s;
}

TimeParts GemmTimeModel::parts(const GemmPoint& p, const GemmConstants& c) const {
  int pick = 0;
  TimeParts out;
  out.seconds = seconds(p, c, pick, true);
  const GemmTile& t = chosen(p, pick);
  const Bounds b = bounds(p, t, c);
  out.choice = to_string(t);
  out[Regime::launch] = c.op_s + quantization_seconds(p, c);
  out[Regime::latency] = b.step + b.change + b.tiles;
  out[Regime::l2] = std::max(b.l2, b.sm);
  out[Regime::dram] = b.dram;
  out[Regime::compute] = b.mma;
  return out;
}

}  // namespace smtwin
