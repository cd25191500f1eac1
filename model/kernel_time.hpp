// SPDX-License-Identifier: Apache-2.0
// How long a kernel runs: version 1, uncalibrated. MODEL.md sections 2 and 3 work one kernel
// through every equation.
//
//   time = launch gap + prologue + sum over waves of max(compute, shared, issue, L2, DRAM, latency)
//
// Each wave is bounded by the busiest SM (compute, shared memory, issue slots), by the whole chip
// (L2, DRAM), and by the chain of dependent pipeline steps of one CTA. DRAM and L2 rates are
// capped by Little's law: bytes that the resident CTAs keep in flight / latency. That is how
// residency turns into time, and why more warps help only while latency is what limits.
// Left out here: clock changes under power, bank conflicts, and how many CTAs drift apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "arch/provenance.hpp"
#include "kernels/descriptor.hpp"
#include "model/residency.hpp"

namespace smtwin {

enum class L2State { cold, warm };  // deployment: cold weights; benchmark replay: warm
enum class LaunchMode { graph, stream };

struct KernelTimeOptions {
  L2State l2 = L2State::cold;
  LaunchMode launch = LaunchMode::graph;
};

enum class Bound { launch, tensor, fp32, sfu, shared_memory, issue, l2, dram, latency };
std::string_view to_string(Bound bound);

// How a grid fills the GPU.
struct Waves {
  std::int64_t ctas = 0;
  std::int64_t slots = 0;       // CTAs the GPU holds at once
  double waves = 0;             // ctas / slots
  std::int64_t full_waves = 0;
  std::int64_t tail_ctas = 0;   // CTAs of the last, partial wave; 0 = it is full
  double tail_fill = 0;         // share of the SMs that the last wave gives work, 0..1
  double efficiency = 0;        // ctas / (ceil(waves) x slots)
};
Waves fill_waves(std::int64_t ctas, int sm_count, int ctas_per_sm);

struct BoundTime {
  Bound bound = Bound::launch;
  double seconds = 0;           // if this alone decided, over the whole kernel
  std::string equation;         // with the numbers in it
  Provenance provenance = Provenance::assumed;
};

struct KernelTime {
  bool runs = false;            // false: does not fit; residency.verdict says why
  double seconds = 0;
  Bound binding = Bound::launch;
  std::vector<BoundTime> bounds;  // slowest first
  Waves waves;
  Residency residency;
  double dram_bytes = 0;        // that DRAM moves in this L2 state
  double l2_bytes = 0;
  double bytes_in_flight = 0;   // of the whole GPU in a full wave
  double l2_hit = 0;            // share of the reads that the L2 serves
  Provenance provenance = Provenance::assumed;  // weakest input of the binding bound
  std::vector<std::string> assumptions;
};

// DataError (through require) when the GPU lacks a rate that the kernel needs.
KernelTime kernel_time(const GpuSpec& gpu, const KernelInstance& kernel,
                       const KernelTimeOptions& options = {});

}  // namespace smtwin
