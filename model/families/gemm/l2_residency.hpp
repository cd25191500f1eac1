// SPDX-License-Identifier: Apache-2.0
// Which share of a replayed working set is still in the L2: hit = 1 / (1 + (bytes / capacity)^e).
// Capacity as a share of the L2, and how sharply the hits fall, belong to the chip's L2: one
// partition that holds everything once on SM120; two partitions on Hopper, each of which keeps its
// own copy of what its SMs read. The numbers were found once on all measured GEMM rows of a GPU
// (AIConfigurator performance database, commit 095f58a51c4c) and are not refitted per family.
#pragma once

#include "model/timing/timing_gpu.hpp"

namespace smtwin {

struct L2Residency {
  double capacity_bytes = 0;
  int exponent = 4;  // power of two

  double hit(double replayed_bytes) const {
    double power = replayed_bytes / capacity_bytes;
    for (int e = exponent; e > 1; e /= 2) power *= power;
    return 1 / (1 + power);  // infinitely far away: 0
  }
};

inline constexpr double kSm120L2Share = 1.0;
inline constexpr double kHopperL2Share = 0.44;       // read by SMs of both partitions
inline constexpr double kHopperOwnedL2Share = 0.70;  // each byte read by few SMs: batched products

inline L2Residency l2_residency(const TimingGpu& gpu, bool owned = false) {
  if (!gpu.hopper()) return {.capacity_bytes = kSm120L2Share * gpu.l2_bytes, .exponent = 16};
  if (owned) return {.capacity_bytes = kHopperOwnedL2Share * gpu.l2_bytes, .exponent = 8};
  return {.capacity_bytes = kHopperL2Share * gpu.l2_bytes, .exponent = 4};
}

}  // namespace smtwin
