// SPDX-License-Identifier: Apache-2.0
// Seconds of one dense GEMM (or batched projection) of a serving framework: tiles of the library,
// rounds of CTAs, the bounds of a round that overlap, and the kernels around it.
//
//   work per tile_work(): p tiles of the busiest SM, w rounds, kt K steps, ctas
//   mma  = p kt 2 bm bn bk SMs / tensor_rate     a tile with one row costs what a full one costs
//   lat  = w kt (bk/128) step                    dependent K steps of one CTA
//   sm   = p kt bk (bm + bn) e / sm_l2_rate
//   core = |mma, lat, sm| + tile (w - 1 + w bm bn / 128^2)      |...| = p-norm: bounds that overlap
//          where tile changes overlap: |mma, lat, sm, tile (w - 1)| + tile bm bn / 128^2
//   l2   = ctas kt bk (min(bm,M)/cn + bn/cm) e / l2_rate        clusters of cm x cn share loads
//   dram = (missed W + missed A + missed O) / dram_rate
//   pad  = b nt kt (mt bm - M) / padded_rows_rate
//   fill = (l2 + pad + (missed W + missed A) / dram_rate) / (kt p)   nothing hides the first stage
//   red  = b M N 4 (s+1) / l2_rate + split       if K is split over s CTAs
//   G    = |core, l2, dram, pad| + fill + red + O / output_rate
//   G   *= 1 + power_loss G / (G + 1.5 ms)
//   Q    = |quant_row rows wait, max(bytes / quant_rate, missed bytes / dram_rate)|_2
//          bytes: 16-bit activations read (twice for a scale of the whole tensor), operand written
//          wait = (1 + 0.4 share of rows from DRAM) x (0.8 if K <= 128) where a kernel takes rows
//          in turn (block-scaled FP8 on SM120), else 1
//   time = G + Q + op
// step: step_time, moved towards cold_step_time by the share of W from DRAM and towards
// loaded_step_time when more than a tenth of the SMs work. Dot products (gemv) have only the
// bounds sm, l2 and dram.
// Units: seconds, bytes, bytes/s, flop/s. A, W, O: bytes of activations, weights, outputs; e bytes
// per element. Sources: gemm_tile_rules.hpp (tiles), l2_residency.hpp (misses); the form of the
// bounds follows the roofline with latency; `pad` is inferred from rows whose time falls while M
// grows inside a tile. Left out: pipeline stages, bank conflicts, rasterisation, clock states.
#pragma once

#include <span>

#include "model/families/gemm/gemm_constants.hpp"
#include "model/families/gemm/l2_residency.hpp"
#include "model/timing/time_problem.hpp"

namespace smtwin {

struct GemmTensors {
  double weights = 0, activations = 0, outputs = 0;
  double source = 0;  // 16-bit activations, if they are quantized in the operation
  double all() const { return weights + activations + outputs + source; }
};

// Bytes touched between two uses of the same tensor: what decides whether it is still in the L2.
struct GemmReuse {
  double weight_bytes = 0;      // until the same copy of the weights comes again
  double activation_bytes = 0;  // from the making of the operand to this GEMM
  double output_bytes = 0;      // until the same output buffer is written again
  double source_bytes = 0;      // until the 16-bit activations are quantized again
};

// What is done once per shape.
struct GemmPoint {
  GemmShape shape;
  GemmTile rule_tile;  // unless the library searches
  GemmTensors bytes;
  // Read and written by the quantization kernel. A caller that counts that kernel on its own sets
  // this to 0.
  double quant_bytes = 0;
  double quant_dram_bytes = 0;  // of them missed by the L2
  double quant_rows = 0;
  double dram_bytes = 0;       // missed by the GEMM: operands and output
  double dram_read_bytes = 0;  // of it operands
  double weight_miss = 0;      // share of the weights that come from DRAM
  double source_miss = 0;      // of the 16-bit activations that are quantized
};

class GemmTimeModel {
 public:
  GemmTimeModel(const GemmImplementation& implementation, const TimingGpu& gpu);
  // By the names of the measured tables; no rows are needed: constants() has priors.
  GemmTimeModel(const TimingGpu& gpu, std::string_view framework, std::string_view kernel_source,
                std::string_view dtype);

  const GemmImplementation& implementation() const { return implementation_; }
  const std::vector<ConstantSpec>& constants() const { return constants_.specs(); }
  GemmConstants read(std::span<const double> values) const { return constants_.read(values); }

  // Bytes of one operation's tensors.
  GemmTensors tensors(const GemmShape& shape) const;
  GemmPoint point(const GemmShape& shape, const GemmReuse& reuse) const;
  // A deployment: weights were evicted since the last step, activations were just written.
  GemmPoint cold_point(const GemmShape& shape) const;

  // Time of the operation. `tile` is an index of the candidates (0 for a rule); see TimeProblem.
  // One that is out of range or that the library does not allow counts as the first unsplit tile.
  double seconds(const GemmPoint& point, const GemmConstants& c, int& tile, bool search) const;
  TimeParts parts(const GemmPoint& point, const GemmConstants& c) const;

 private:
  struct Bounds;
  Bounds bounds(const GemmPoint& point, const GemmTile& tile, const GemmConstants& c) const;
  double gemm_seconds(const GemmPoint& point, const Bounds& b, const GemmConstants& c) const;
  double quantization_seconds(const GemmPoint& point, const GemmConstants& c) const;
  bool allowed(const GemmPoint& point, const GemmTile& tile) const;
  double least_seconds(const GemmPoint& point, const GemmTile& tile, const GemmConstants& c) const;
  int fastest(const GemmPoint& point, const GemmConstants& c) const;
  std::size_t plain_tile() const;  // the first that every shape may run
  const GemmTile& chosen(const GemmPoint& point, int choice) const;

  GemmImplementation implementation_;
  GemmConstantList constants_;
  L2Residency l2_;
  double sm_count_ = 0;
};

}  // namespace smtwin
