// SPDX-License-Identifier: Apache-2.0
// Who multiplies what. The work of a GEMM is a line of tiles x k_steps pipeline steps, tile after
// tile; CTA i takes the steps from floor(i x total / ctas) on, so that no two CTAs differ by more
// than one step. Whole tiles, split K (ctas = tiles x splits) and stream-K (ctas = what is
// resident at once) are the same partition with another number of CTAs.
// Idea: Osama et al., "Stream-K", 2023. Used by the kernel, its launcher and its descriptor.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define SMTWIN_HOST_DEVICE __host__ __device__
#else
#define SMTWIN_HOST_DEVICE
#endif

namespace smtwin {

struct StreamK {
  std::int32_t tiles = 1;
  std::int32_t k_steps = 1;  // of one tile
  std::int32_t ctas = 1;     // at most kMaxStreamKCtas and total()
  // total / ctas and total % ctas: divisions are subroutines on a GPU.
  std::int32_t steps_each = 1;
  std::int32_t steps_over = 0;

  SMTWIN_HOST_DEVICE std::int32_t total() const { return tiles * k_steps; }
  // floor(cta x total / ctas) without leaving 32 bits.
  SMTWIN_HOST_DEVICE std::int32_t first_step(std::int32_t cta) const {
    const std::int32_t first = cta * steps_each;
    if (steps_over == 0) return first;
    const auto over = static_cast<std::uint32_t>(cta) * static_cast<std::uint32_t>(steps_over);
    return first + static_cast<std::int32_t>(over / static_cast<std::uint32_t>(ctas));
  }
  // The first and the last CTA with steps of a tile, counted from `cta`, which has some.
  SMTWIN_HOST_DEVICE std::int32_t first_cta(std::int32_t tile, std::int32_t cta) const {
    while (first_step(cta) > tile * k_steps) --cta;
    return cta;
  }
  SMTWIN_HOST_DEVICE std::int32_t last_cta(std::int32_t tile, std::int32_t cta) const {
    while (first_step(cta + 1) < (tile + 1) * k_steps) ++cta;
    return cta;
  }
};

inline StreamK make_stream_k(std::int32_t tiles, std::int32_t k_steps, std::int32_t ctas) {
  const std::int32_t total = tiles * k_steps;
  return {.tiles = tiles,
          .k_steps = k_steps,
          .ctas = ctas,
          .steps_each = total / ctas,
          .steps_over = total % ctas};
}

inline constexpr std::int32_t kMaxStreamKCtas = 65535;        // its square fits 32 bits
inline constexpr std::int64_t kMaxStreamKSteps = 0x7FFFFFFF;  // of all tiles

// A CTA leaves at most two tiles unfinished: the one it starts inside of and the one it stops
// inside of. Each has a place in the workspace.
inline constexpr std::int32_t kPartialsPerCta = 2;

// Place of the partial sums a CTA has of a tile; `starts_tile`: its steps begin at the tile's
// first.
SMTWIN_HOST_DEVICE inline std::int32_t partial_slot(std::int32_t cta, bool starts_tile) {
  return kPartialsPerCta * cta + (starts_tile ? 1 : 0);
}

}  // namespace smtwin
