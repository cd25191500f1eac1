// SPDX-License-Identifier: Apache-2.0
// How long a kernel that nobody measured runs, from its descriptor and the GPU alone. Measured
// families (model/families/) replace it where they exist. MODEL.md sections 2 and 3 work one kernel
// through every equation.
//
//   time = launch gap + prologue + sum over waves of max(compute, shared, issue, L2, DRAM, latency)
//
// Each wave is bounded by the busiest SM (compute, shared memory, issue slots), by the whole chip
// (L2, DRAM), and by the chain of dependent pipeline steps of one CTA. DRAM and L2 rates are
// capped by Little's law: bytes that the resident CTAs keep in flight / latency. That is how
// residency turns into time, and why more warps help only while latency is what limits.
// Left out here: clock changes under power, bank conflicts, and how many CTAs drift apart.
//
// kernel_seconds() is the arithmetic alone, without text, for searches; kernel_time() calls it and
// adds equations, provenance and the full residency. Both give the same seconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "arch/provenance.hpp"
#include "kernels/descriptor.hpp"
#include "model/residency.hpp"
#include "model/timing/profile.hpp"

namespace smtwin {

enum class L2State { cold, warm };  // deployment: cold weights; benchmark replay: warm
enum class LaunchMode { graph, stream };

// What no data sheet and no descriptor holds. Uncalibrated defaults, all `assumed`.
struct KernelTimeConstants {
  // Share of a replayed working set still in the L2 = 1 / (1 + (set / L2)^sharpness). Fits to GEMM
  // measurements gave 16 on an RTX PRO 6000 and 4 on an H200; 8 is their geometric mean.
  double l2_sharpness = 8;
  // Bytes a lane keeps in flight where a descriptor does not say: one load of the widest kind. An
  // H200 read stream of 256-thread CTAs reaches 0.78-0.88 of what this gives (MODEL.md section 3).
  double fallback_bytes_in_flight_per_lane = 16;
};

struct KernelTimeOptions {
  L2State l2 = L2State::cold;
  LaunchMode launch = LaunchMode::graph;
  KernelTimeConstants constants{};
  // Of a calibration profile: how far families were off before a row of theirs was fitted. Gives
  // the time an interval.
  std::optional<UnmeasuredErrors> unmeasured = std::nullopt;
};

// How far this model itself was off where one of its kernels could be checked: decode GEMMs of an
// RTX PRO 6000 took 0.9 to 1.3 times as long as predicted, a Triton sparse attention kernel on an
// H200 4.2 to 5.5 times (its chains inside a warp and bank conflicts are not counted).
inline constexpr UnmeasuredErrors kKernelModelErrors{.low = -0.22, .high = 1.7};

// The same for kernels that read and write activations once: norms, RoPE and activations of a layer
// profile of that card (eager, so with launch cost) took 1.5 to 2.2 times as long.
inline constexpr UnmeasuredErrors kStreamingErrors{.low = -0.22, .high = 0.8};

// What to expect of a kernel that only this model covers: at least `own`, and at least what the
// families of a profile were off by before they were fitted.
UnmeasuredErrors kernel_model_errors(const UnmeasuredErrors& of_families,
                                     const UnmeasuredErrors& own = kKernelModelErrors);

enum class Bound { launch, tensor, fp32, sfu, shared_memory, issue, l2, dram, latency };
inline constexpr std::size_t kBoundCount = 9;
std::string_view to_string(Bound bound);

// How a grid fills the GPU.
struct Waves {
  std::int64_t ctas = 0;
  std::int64_t slots = 0;  // CTAs the GPU holds at once
  double waves = 0;        // ctas / slots
  std::int64_t full_waves = 0;
  std::int64_t tail_ctas = 0;  // CTAs of the last, partial wave; 0 = it is full
  double tail_fill = 0;        // share of the SMs that the last wave gives work, 0..1
  double efficiency = 0;       // ctas / (ceil(waves) x slots)
};
Waves fill_waves(std::int64_t ctas, int sm_count, int ctas_per_sm);

// What the caches and the DRAM move for the whole kernel in one L2 state.
struct MemoryTraffic {
  double read_bytes = 0;  // that the CTAs ask for; the L2 serves all of it
  double write_bytes = 0;
  double dram_read_bytes = 0;  // that the L2 misses
  double dram_write_bytes = 0;
  double first_touch_hit = 0;  // share of the unique bytes found in the L2; 0 when cold
  double unique_bytes = 0;     // read and written, each byte once: the working set
};
MemoryTraffic memory_traffic(const GpuSpec& gpu, const KernelInstance& kernel,
                             const KernelTimeOptions& options);

// One wave of `ctas` CTAs; `count` such waves follow each other.
struct WaveTime {
  std::int64_t count = 0;
  std::int64_t ctas = 0;
  std::int64_t ctas_on_busiest_sm = 0;
  double pipe_share = 1;       // partitions of the busiest SM that have a warp, 0..1
  double bytes_in_flight = 0;  // of all its CTAs
  bool l2_starved = false;     // too little in flight for the peak: Little's law sets the rate
  bool dram_starved = false;
  std::array<double, kBoundCount> bound_seconds{};  // of one wave, indexed by Bound
  double seconds = 0;                               // of one wave: the largest of them
  Bound binding = Bound::latency;                   // of this wave; the whole kernel's can differ
};

// The numbers of KernelTime and how they came about, without text.
struct KernelSeconds {
  bool runs = false;
  double seconds = 0;
  Bound binding = Bound::launch;
  std::array<double, kBoundCount> bound_seconds{};  // over the whole kernel, indexed by Bound
  ResidentCtas resident;
  Waves waves;
  WaveTime full;  // count 0: no full wave
  WaveTime tail;  // count 0: the last wave is full
  MemoryTraffic traffic;
  double launch_gap_s = 0;
  double read_latency_s = 0;  // of the level that serves the reads of a pipeline step
  double l2_latency_s = 0;
  double cta_bytes_in_flight = 0;
};

// DataError (through require) when the GPU lacks a rate that the kernel needs.
KernelSeconds kernel_seconds(const GpuSpec& gpu, const KernelInstance& kernel,
                             const KernelTimeOptions& options = {});

struct BoundTime {
  Bound bound = Bound::launch;
  double seconds = 0;    // if this alone decided, over the whole kernel
  std::string equation;  // with the numbers in it
  Provenance provenance = Provenance::assumed;
};

struct KernelTime {
  bool runs = false;  // false: does not fit; residency.verdict says why
  double seconds = 0;
  Bound binding = Bound::launch;
  std::vector<BoundTime> bounds;  // slowest first; those without any work are left out
  Waves waves;
  WaveTime full;  // count 0: no full wave
  WaveTime tail;  // count 0: the last wave is full
  Residency residency;
  double dram_bytes = 0;  // that DRAM moves in this L2 state
  double l2_bytes = 0;
  double bytes_in_flight = 0;                           // of the whole GPU in a full wave
  double bytes_in_flight_for_dram_peak = 0;             // from here on more of them do not help
  double l2_hit = 0;                                    // share of the reads that the L2 serves
  std::optional<TimeInterval> interval = std::nullopt;  // 90 %, with KernelTimeOptions::unmeasured
  // Of the time: assumed at best; weaker when an input is.
  Provenance provenance = Provenance::assumed;
  std::vector<std::string> assumptions;  // of this model; the kernel's are in KernelInstance
};

// A kernel that does not fit, cannot exist on this chip or has an empty grid: runs = false, no
// seconds. Otherwise the same errors and the same seconds as kernel_seconds.
KernelTime kernel_time(const GpuSpec& gpu, const KernelInstance& kernel,
                       const KernelTimeOptions& options = {});

}  // namespace smtwin
