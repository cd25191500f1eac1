// SPDX-License-Identifier: Apache-2.0
// Time of the projections (GEMMs of a few rows) inside an attention module: each is the meeting of
// its weight stream, its padded multiply-adds and, where the kernel walks K in one go, that walk.
//   T = sum over projections of hypot(weights, flops, walk) + [vLLM] small_batch * log2(min(B, 16))
//   weights = N*K*b * (cold / (share * dram) + (1-cold) / l2_weight_rate)
//   flops   = 2 * ceil(B/64)*64 * N * K / flop_rate
//   walk    = [NVFP4] K/128 * k_step * max(1, tiles of 128x128 / SMs)
//             [tall FP8 tiles] the same times min(ceil(B/64)*64, 128)/128: a tile grows to 128 rows
// A module's GEMM is not the tuned, lone GEMM of the GEMM families: it follows another kernel's
// tail, its library's heuristics see B rows only. Hence its own few constants.
// Left out: the library's tile choice, split-K, launch overlap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/families/mla/mla_constants.hpp"
#include "model/families/mla/mla_terms.hpp"

namespace smtwin {

enum class ProjectionType : std::uint8_t { bf16, fp8_block, nvfp4 };

// With scales: FP8 blocks of 128 x 128 add nothing that counts, NVFP4 one byte per 16 values.
double projection_weight_bytes(ProjectionType type);

struct Projection {
  double n = 0;
  double k = 0;
  double element_bytes = 2;
};

inline constexpr std::size_t kMaxProjections = 6;

class Projections {
 public:
  struct Work {
    std::array<Projection, kMaxProjections> list{};
    std::size_t count = 0;
    double rows = 1;
    double cold = 0;  // of the weights in the replayed benchmark

    void add(Projection p) { list[count++] = p; }
    double weight_bytes() const;
  };

  // `small_batch`: the module's kernels for up to 16 rows get slower with each doubling (vLLM's do,
  // whatever the weights: one of its choices among kernels for few rows).
  // `tall_tiles`: a step along K costs with the height of the tile (SGLang's FP8 GEMMs).
  Projections(const TimingGpu& gpu, ProjectionType type, bool small_batch, MlaConstants& constants,
              bool tall_tiles = false);

  MlaTime time(const Work& work, std::span<const double> values, CacheState cache) const;

 private:
  double sm_count_ = 1;
  bool tall_tiles_ = false;
  MlaConstant dram_rate_, weight_share_, l2_weight_rate_, flop_rate_, k_step_s_, small_batch_s_;
};

}  // namespace smtwin
