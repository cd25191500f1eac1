// SPDX-License-Identifier: Apache-2.0
#include "kernels/dense_gemm/config.hpp"

#include <algorithm>

#include "arch/units.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kCopyBytes = 16;    // one cp.async
constexpr std::int64_t kPartialBytes = 4;  // FP32

std::int64_t per_sm(std::int64_t capacity, std::int64_t taken) {
  return taken > 0 ? capacity / taken : capacity;
}

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

Parameters gemm_config(const DenseGemmTile& tile) {
  return {{"block_m", tile.block_m},
          {"block_n", tile.block_n},
          {"block_k", tile.block_k},
          {"num_warps", tile.num_warps},
          {"num_stages", tile.num_stages},
          {"wgmma", tile.wgmma ? 1 : 0},
          {"split_k", 0}};
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
  const auto unit = std::max<std::int64_t>(sm.shared_allocation_unit_bytes, 1);
  const auto shared = round_up(gemm_shared_bytes(tile) + sm.shared_bytes_reserved_per_cta, unit);
  std::int64_t resident = per_sm(sm.shared_bytes_per_sm, shared);
  if (sm.max_warps_per_sm > 0) {
    resident = std::min(resident, per_sm(sm.max_warps_per_sm, gemm_warps(tile)));
  }
  if (sm.max_ctas_per_sm > 0) resident = std::min<std::int64_t>(resident, sm.max_ctas_per_sm);
  if (sm.registers_per_sm > 0 && sm.partitions_per_sm > 0 && registers_per_thread > 0) {
    const auto register_unit = std::max<std::int64_t>(sm.register_allocation_unit, 1);
    const auto per_warp = round_up(registers_per_thread * sm.threads_per_warp, register_unit);
    const auto warps = sm.registers_per_sm / sm.partitions_per_sm / per_warp * sm.partitions_per_sm;
    resident = std::min(resident, warps / gemm_warps(tile));
  }
  return std::max<std::int64_t>(resident, 1);
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
                       std::int64_t slots) {
  const auto [tiles, k_steps] = tiling(shape, tile);
  const auto ctas =
      split_k > 0 ? tiles * std::min(split_k, k_steps) : std::min(slots, tiles * k_steps);
  return make_stream_k(static_cast<std::int32_t>(tiles), static_cast<std::int32_t>(k_steps),
                       static_cast<std::int32_t>(ctas));
}

DenseGemmTile gemm_default_tile(const DenseGemmShape& shape, ComputeCapability cc) {
  const bool hopper = cc.major == 9;
  DenseGemmTile tile;
  tile.dtype = shape.dtype;
  tile.block_m = shape.m <= 16 ? 16 : shape.m <= 32 ? 32 : 64;
  tile.block_n = 128;
  tile.block_k = static_cast<std::int32_t>(kGemmRowBytes / element_bytes(shape.dtype));
  tile.num_warps = 4;
  tile.num_stages = hopper ? (tile.block_m == 16 ? 6 : tile.block_m == 32 ? 5 : 4) : 3;
  tile.wgmma = hopper && tile.block_m >= 32;
  return tile;
}

}  // namespace smtwin
