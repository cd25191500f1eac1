// SPDX-License-Identifier: Apache-2.0
// The interface between the equations of a family and everything that fits, scores or explains
// them. A family (model/families/) describes one implementation of one operation on one GPU:
// cuBLAS BF16 GEMM, FlashAttention 2 decode. It lists its constants and turns a shape and their
// values into seconds. A TimeProblem is such a family with many prepared shapes.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/timing/constant_spec.hpp"

namespace smtwin {

// What the data of a kernel was doing when it started. `benchmark`: as the replayed rows leave the
// L2, warm while the replayed working set fits. `cold`: every layer's weights and KV cache were
// evicted since the last step, as in a deployment.
enum class CacheState { benchmark, cold };

// What decides the time of a kernel.
//   launch   fixed costs: launch gap, prologue, small kernels around the main one, host
//   latency  dependent steps of one CTA, rounds of CTAs
//   l2       bytes through the L2 (all SMs, or into one SM)
//   dram     bytes from DRAM
//   compute  tensor or FMA rate on padded tiles
//   link     NVLink or PCIe between GPUs
enum class Regime { launch, latency, l2, dram, compute, link };
inline constexpr std::size_t kRegimeCount = 6;
std::string_view to_string(Regime regime);  // "launch", "latency", "L2", "DRAM", "compute", "link"

// One prediction taken apart.
struct TimeParts {
  double seconds = 0;
  std::array<double, kRegimeCount> regime_s{};  // if this alone decided; indexed by Regime
  std::string choice;  // what the library runs: "64x128x64 split 4", "8 KV splits"; may be empty

  double& operator[](Regime r) { return regime_s[static_cast<std::size_t>(r)]; }
  Regime regime() const;  // the largest; the first of equals
};

class TimeProblem {
 public:
  virtual ~TimeProblem() = default;

  // In the order in which seconds() takes their values. Stable: the same for every set of rows.
  virtual const std::vector<ConstantSpec>& constants() const = 0;
  virtual std::size_t size() const = 0;

  // What a benchmark would read for point i (instrument artefacts included). `values` are raw, in
  // the units of constants(). With `search` the model picks tile, splits, protocol as the library
  // would and stores its pick in `choice`; without, it takes the pick that is there (the fit's
  // derivatives hold the pick fixed). Families without a choice ignore both.
  // Finite and positive for all values within the bounds.
  virtual double seconds(std::size_t i, std::span<const double> values, int& choice,
                         bool search) const = 0;

  virtual TimeParts parts(std::size_t i, std::span<const double> values) const = 0;
};

}  // namespace smtwin
