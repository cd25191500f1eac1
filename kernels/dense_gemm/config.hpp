// SPDX-License-Identifier: Apache-2.0
// The configurations of dense_gemm and what follows from one: shared bytes, CTAs resident on an
// SM, the number of CTAs of the grid, and which configuration a shape gets by default. Pure and
// free of CUDA: the launcher asks the device's numbers, the descriptor a GpuSpec's, both get the
// same grid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "kernels/dense_gemm/stream_k.hpp"
#include "kernels/descriptor.hpp"

namespace smtwin {

enum class DenseGemmDtype { bf16, fp8 };  // in the order of the dtype parameter
std::string to_string(DenseGemmDtype dtype);
int element_bytes(DenseGemmDtype dtype);

struct DenseGemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  DenseGemmDtype dtype = DenseGemmDtype::bf16;
};

struct DenseGemmTile {
  DenseGemmDtype dtype = DenseGemmDtype::bf16;
  std::int32_t block_m = 0;  // rows of A
  std::int32_t block_n = 0;  // rows of W
  std::int32_t block_k = 0;  // elements of K a pipeline step loads: always 128 bytes
  std::int32_t num_warps = 0;
  std::int32_t num_stages = 0;
  bool wgmma = false;  // Hopper: wgmma and tensor copies by one more warp, else mma.sync
  friend bool operator==(const DenseGemmTile&, const DenseGemmTile&) = default;
};

// Bytes of K that one row of a tile holds: one swizzle period of shared memory, and the most that
// ldmatrix and wgmma read without bank conflicts.
inline constexpr std::int64_t kGemmRowBytes = 128;
// Behind the stages: whether this CTA is the last of a tile; with wgmma two barriers a stage.
inline constexpr std::int64_t kGemmFlagBytes = 16;
inline constexpr std::int64_t kGemmBarrierBytes = 16;
inline constexpr std::int64_t kGemmMaxSplit = 64;

const std::vector<DenseGemmTile>& gemm_variants();   // every compiled one
std::string gemm_symbol(const DenseGemmTile& tile);  // "smtwin_gemm_bf16_m16_n128_k64_w4_s5_g0"

DenseGemmShape gemm_shape(const Parameters& parameters);
DenseGemmTile gemm_tile(const Parameters& parameters);  // dtype by block_k: 64 = bf16, 128 = fp8
Parameters gemm_config(const DenseGemmTile& tile, std::int64_t split_k = 0);

// Why the kernel cannot compute it; empty when it can. Rows must start at 16-byte boundaries.
std::string gemm_shape_problem(const DenseGemmShape& shape);

std::int32_t gemm_warps(const DenseGemmTile& tile);  // of a CTA, the copying one included
std::int64_t gemm_stage_bytes(const DenseGemmTile& tile);
std::int64_t gemm_shared_bytes(const DenseGemmTile& tile);
std::int64_t gemm_partial_bytes(const DenseGemmTile& tile);  // FP32 sums of one unfinished tile

// CTAs that one SM holds at once, by shared memory, registers, warps and slots; at least 1, since
// what does not fit is refused elsewhere.
std::int64_t gemm_resident_ctas(const DenseGemmTile& tile, std::int64_t registers_per_thread,
                                const SmSpec& sm);

// Why there is no such partition: more tiles or steps than the kernel counts. Empty = there is.
std::string gemm_partition_problem(const DenseGemmShape& shape, const DenseGemmTile& tile,
                                   std::int64_t split_k);

// CTAs of a variant that a GPU holds at once.
struct GemmSlots {
  std::int64_t resident = 1;  // on one SM
  std::int64_t sm_count = 1;
  std::int64_t total() const { return resident * sm_count; }
};

// The grid. split_k > 0: that many CTAs a tile, at most one a pipeline step. split_k = 0, the
// rule, one wave in any case: as many whole splits as fit if they fill at least four fifths of the
// slots (no CTA then starts inside of a tile), else as many CTAs a SM as there are tiles for, each
// with an equal share (stream-K).
StreamK gemm_partition(const DenseGemmShape& shape, const DenseGemmTile& tile, std::int64_t split_k,
                       const GemmSlots& slots);

// CTAs that are launched as one cluster and sum through each other's shared memory: with wgmma all
// CTAs of a tile, if they are two, or three of which an SM holds as many. 1 otherwise: larger
// clusters wait for room in one GPC longer than the sum takes through memory.
std::int32_t gemm_cluster_ctas(const DenseGemmTile& tile, const StreamK& work,
                               const GemmSlots& slots);

// The configuration for a shape where nobody chose one: config parameters, split_k included.
Parameters gemm_default_config(const DenseGemmShape& shape, ComputeCapability cc,
                               std::int64_t sm_count);

}  // namespace smtwin
