// SPDX-License-Identifier: Apache-2.0
#include "kernels/dense_gemm/config.hpp"

#include <algorithm>

#include "arch/units.hpp"
#include "kernels/launch_residency.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kCopyBytes = 16;    // one cp.async
constexpr std::int64_t kPartialBytes = 4;  // FP32

struct Tiling {
  std::int64_t tiles = 0;
  std::int64_t k_steps = 0;
};

Tiling tiling(const DenseGemmShape& shape, const DenseGemmTile& tile) {
  return {.tiles = ceil_div<std::int64_t>(shape.m, tile.block_m) *
                   ceil_div<std::int64_t>(shape.n, tile.block_n),
          .k_steps = ceil_div<std::int64_t>(shape.k, tile.block_k)};
}

}  // namespace

std::string to_string(DenseGemmDtype dtype) {
  return dtype == DenseGemmDtype::bf16 ? "bf16" : "fp8";
}
int element_bytes(DenseGemmDtype dtype) { return dtype == DenseGemmDtype::bf16 ? 2 : 1; }

const std::vector<DenseGemmTile>& gemm_variants() {
#define SMTWIN_GEMM(dtype, bm, bn, bk, warps, stages, wgmma) \
  {DenseGemmDtype::dtype, bm, bn, bk, warps, stages, wgmma != 0},
  static const std::vector<DenseGemmTile> variants = {
#include "kernels/dense_gemm/variants.def"
  };
#undef SMTWIN_GEMM
  return variants;
}

std::string gemm_symbol(const DenseGemmTile& tile) {
  return "smtwin_gemm_" + to_string(tile.dtype) + "_m" + std::to_string(tile.block_m) + "_n" +
         std::to_string(tile.block_n) + "_k" + std::to_string(tile.block_k) + "_w" +
         std::to_string(tile.num_warps) + "_s" + std::to_string(tile.num_stages) + "_g" +
         (tile.wgmma ? "1" : "0");
}

DenseGemmShape gemm_shape(const Parameters& parameters) {
  return {.m = parameters.at("m"),
          .n = parameters.at("n"),
          .k = parameters.at("k"),
          .dtype = static_cast<DenseGemmDtype>(parameters.at("dtype"))};
}

DenseGemmTile gemm_tile(const Parameters& parameters) {
  const auto value = [&](const char* name) {
    return static_cast<std::int32_t>(parameters.at(name));
  };
  DenseGemmTile tile;
  tile.block_m = value("block_m");
  tile.block_n = value("block_n");
  tile.block_k = value("block_k");
  tile.num_warps = value("num_warps");
  tile.num_stages = value("num_stages");
  tile.wgmma = value("wgmma") != 0;
  tile.dtype = tile.block_k == kGemmRowBytes ? DenseGemmDtype::fp8 : DenseGemmDtype::bf16;
  return tile;
}

Parameters gemm_config(const DenseGemmTile& tile, std::int64_t split_k) {
  return {
      {"block_m", tile.block_m},     {"block_n", tile.block_n},       {"block_k", tile.block_k},
      {"num_warps", tile.num_warps}, {"num_stages", tile.num_stages}, {"wgmma", tile.wgmma ? 1 : 0},
      {"split_k", split_k}};
}

std::string gemm_shape_problem(const DenseGemmShape& shape) {
  const auto unit = kCopyBytes / element_bytes(shape.dtype);
  if (shape.k % unit == 0) return "";
  return "k = " + std::to_string(shape.k) + " is not a multiple of " + std::to_string(unit) +
         ": rows of " + to_string(shape.dtype) + " must start at 16-byte boundaries; pad k to " +
         std::to_string(round_up(shape.k, unit));
}

std::int32_t gemm_warps(const DenseGemmTile& tile) { return tile.num_warps + (tile.wgmma ? 1 : 0); }

std::int64_t gemm_stage_bytes(const DenseGemmTile& tile) {
  return (tile.block_m + tile.block_n) * kGemmRowBytes;
}

std::int64_t gemm_shared_bytes(const DenseGemmTile& tile) {
  const auto barriers = tile.wgmma ? kGemmBarrierBytes : 0;
  return tile.num_stages * (gemm_stage_bytes(tile) + barriers) + kGemmFlagBytes;
}

std::int64_t gemm_partial_bytes(const DenseGemmTile& tile) {
  return std::int64_t{tile.block_m} * tile.block_n * kPartialBytes;
}

std::int64_t gemm_resident_ctas(const DenseGemmTile& tile, std::int64_t registers_per_thread,
                                const SmSpec& sm) {
  const KernelResources resources{
      .threads_per_cta = static_cast<std::int32_t>(gemm_warps(tile) * sm.threads_per_warp),
      .registers_per_thread = static_cast<std::int32_t>(registers_per_thread),
      .dynamic_shared_bytes = gemm_shared_bytes(tile)};
  return std::max<std::int64_t>(launch_ctas_per_sm(resources, sm), 1);
}

std::string gemm_partition_problem(const DenseGemmShape& shape, const DenseGemmTile& tile,
                                   std::int64_t split_k) {
  const auto [tiles, k_steps] = tiling(shape, tile);
  if (saturating_mul(tiles, k_steps) > kMaxStreamKSteps) {
    return std::to_string(tiles) + " tiles x " + std::to_string(k_steps) +
           " steps are more than the kernel counts (" + std::to_string(kMaxStreamKSteps) + ")";
  }
  const auto ctas = saturating_mul(tiles, std::min(split_k, k_steps));
  if (ctas <= kMaxStreamKCtas) return "";
  return "split_k = " + std::to_string(split_k) + " makes " + std::to_string(ctas) +
         " CTAs; at most " + std::to_string(kMaxStreamKCtas) + " are allowed, choose split_k = 0";
}

StreamK gemm_partition(const DenseGemmShape& shape, const DenseGemmTile& tile, std::int64_t split_k,
                       const GemmSlots& slots) {
  const auto [tiles, k_steps] = tiling(shape, tile);
  // With no more CTAs than tiles no tile has three: none has to wait for two others.
  const auto per_sm = std::clamp<std::int64_t>(tiles / slots.sm_count, 1, slots.resident);
  std::int64_t ctas = std::min(per_sm * slots.sm_count, tiles * k_steps);
  const auto splits = std::min(slots.total() / tiles, k_steps);
  const bool fills = 5 * splits * tiles >= 4 * slots.total();
  if (split_k > 0) {
    ctas = tiles * std::min(split_k, k_steps);
  } else if (fills || splits == k_steps) {
    ctas = tiles * splits;
  }
  return make_stream_k(static_cast<std::int32_t>(tiles), static_cast<std::int32_t>(k_steps),
                       static_cast<std::int32_t>(ctas));
}

std::int32_t gemm_cluster_ctas(const DenseGemmTile& tile, const StreamK& work,
                               const GemmSlots& slots) {
  if (!tile.wgmma || work.ctas % work.tiles != 0) return 1;
  const auto splits = work.ctas / work.tiles;
  return splits == 2 || (splits == 3 && slots.resident >= 3) ? splits : 1;
}

// Chosen on an H200 over weights of 64 to 470 MB. Idle SMs cost little while the others can draw
// all of the memory's bandwidth; CTAs that share a tile cost 1 to 3 us. So tiles are left whole
// where they are at least 0.7 to an SM. From 32 rows on every CTA also reads all of A: wide tiles,
// where these fill the SMs evenly.
Parameters gemm_default_config(const DenseGemmShape& shape, ComputeCapability cc,
                               std::int64_t sm_count) {
  const auto tile = [&](std::int32_t block_n, std::int32_t warps, std::int32_t stages,
                        bool wgmma = true) {
    return DenseGemmTile{
        .dtype = shape.dtype,
        .block_m = shape.m <= 16   ? 16
                   : shape.m <= 32 ? 32
                                   : 64,
        .block_n = block_n,
        .block_k = static_cast<std::int32_t>(kGemmRowBytes) / element_bytes(shape.dtype),
        .num_warps = warps,
        .num_stages = stages,
        .wgmma = wgmma};
  };
  const auto block_m = tile(64, 4, 5).block_m;
  if (cc.major != 9) return gemm_config(tile(128, 4, block_m == 16 ? 5 : 4, false));

  const auto narrow = tiling(shape, tile(64, 4, 5)).tiles;
  const auto [wide, k_steps] = tiling(shape, tile(128, 4, 5));
  const auto per_sm_above = [&](std::int64_t tiles, std::int64_t tenths) {
    return 10 * tiles > tenths * sm_count;
  };
  const bool one_each = per_sm_above(narrow, 7) && !per_sm_above(narrow, 10);
  const auto splits = std::clamp<std::int64_t>(2 * sm_count / narrow, 1, kGemmMaxSplit);
  if (block_m == 16) {
    if (one_each) return gemm_config(tile(64, 4, 11), 1);
    if (!per_sm_above(narrow, 15)) return gemm_config(tile(64, 4, 7), splits);
    return per_sm_above(narrow, 40) ? gemm_config(tile(64, 4, 7)) : gemm_config(tile(64, 4, 5), 1);
  }
  if (block_m == 32) {
    if (one_each) return gemm_config(tile(64, 4, 9), 1);
    if (!per_sm_above(narrow, 10)) return gemm_config(tile(64, 4, 9));
    if (!per_sm_above(narrow, 15)) return gemm_config(tile(64, 4, 6), 1);
    return per_sm_above(wide, 12) ? gemm_config(tile(128, 8, 10)) : gemm_config(tile(128, 4, 5), 1);
  }
  if (one_each && per_sm_above(narrow, 9)) return gemm_config(tile(64, 4, 7), 1);
  if (per_sm_above(wide * std::max<std::int64_t>(sm_count / wide, 1), 8)) {
    return gemm_config(tile(128, 8, 9));
  }
  constexpr std::int64_t kFewSteps = 64;
  if (per_sm_above(narrow, 10)) {
    return k_steps > kFewSteps ? gemm_config(tile(64, 4, 4), 2) : gemm_config(tile(128, 8, 9), 1);
  }
  return gemm_config(tile(64, 4, 4), std::min(5 * sm_count / (2 * narrow), kGemmMaxSplit));
}

}  // namespace smtwin
