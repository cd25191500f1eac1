// SPDX-License-Identifier: Apache-2.0
#include "kernels/triton_compiler.hpp"

#include <algorithm>
#include <cmath>

#include "arch/units.hpp"
#include "kernels/text.hpp"

namespace smtwin {
namespace {

constexpr ComputeCapability kFirstMmaSync{7, 5};
constexpr ComputeCapability kFirstAsyncCopy{8, 0};
constexpr std::int64_t kWarpsPerGroup = 4;   // wgmma and tcgen05 are issued by four warps together
constexpr std::int64_t kGroupRows = 64;      // smallest M of wgmma
constexpr std::int64_t kTcgen05Rows = 128;   // rows a tcgen05 instruction covers
constexpr std::int64_t kGroupColumns = 256;  // largest N of either
constexpr std::int64_t kMmaRows = 16;        // mma.sync m16n8, 32 bytes of K
constexpr std::int64_t kMmaColumns = 8;
constexpr std::int64_t kMmaDepthBytes = 32;
constexpr double kBytesPerWarpInstruction = 512;  // 32 lanes x 16 B: ldmatrix.x4, cp.async
constexpr double kLanes = 32;
constexpr std::int64_t kFmaTileEdge = 8;  // per thread, assumed: 8 x 8 outputs in registers

double as_double(std::int64_t value) { return static_cast<double>(value); }

// Operands stay in shared memory: each instruction of `rows` rows reads its part of A and all of B.
DotWork group_work(const DotTile& tile, std::int64_t rows) {
  const auto row_pieces = ceil_div(tile.m, rows);
  const auto column_pieces = ceil_div(tile.n, kGroupColumns);
  const auto steps = ceil_div(tile.k * tile.element_bytes, kMmaDepthBytes);
  const double padded_m = as_double(row_pieces * rows);
  const double k_bytes = as_double(steps * kMmaDepthBytes);
  DotWork work;
  work.flops =
      kFlopsPerFma * padded_m * as_double(tile.n) * k_bytes / as_double(tile.element_bytes);
  work.shared_read_bytes =
      (padded_m * as_double(column_pieces) + as_double(row_pieces) * as_double(tile.n)) * k_bytes;
  work.warp_instructions = as_double(row_pieces * column_pieces * steps * kWarpsPerGroup);
  return work;
}

DotWork fma_work(const DotTile& tile) {
  const double products = as_double(tile.m) * as_double(tile.n) * as_double(tile.k);
  DotWork work;
  work.flops = kFlopsPerFma * products;
  work.shared_read_bytes = 2 * products * sizeof(float) / kFmaTileEdge;
  work.warp_instructions = products / kLanes + work.shared_read_bytes / kBytesPerWarpInstruction;
  return work;
}

}  // namespace

std::string to_string(DotInstruction instruction) {
  switch (instruction) {
    case DotInstruction::fma:
      return "FMA";
    case DotInstruction::mma_sync:
      return "mma.sync";
    case DotInstruction::wgmma:
      return "wgmma";
    case DotInstruction::tcgen05:
      return "tcgen05";
  }
  return "FMA";
}

DotInstruction dot_instruction(ComputeCapability cc, TritonVersion version, const DotTile& tile) {
  if (cc < kFirstMmaSync) return DotInstruction::fma;
  const bool groups = tile.num_warps % kWarpsPerGroup == 0 && tile.m >= kGroupRows;
  if (groups && cc.major == 9) return DotInstruction::wgmma;
  if (groups && version == TritonVersion::v3 && (cc.major == 10 || cc.major == 11)) {
    return DotInstruction::tcgen05;
  }
  return DotInstruction::mma_sync;
}

OperandBuffers operand_buffers(ComputeCapability cc, TritonVersion version, const DotTile& tile,
                               std::int64_t num_stages) {
  const DotInstruction instruction = dot_instruction(cc, version, tile);
  OperandBuffers buffers;
  buffers.element_bytes = instruction == DotInstruction::fma
                              ? std::max(tile.element_bytes, static_cast<int>(sizeof(float)))
                              : tile.element_bytes;
  if (version == TritonVersion::v2) {
    buffers.count = num_stages;
    buffers.rule = "Triton 2.x keeps num_stages whole buffers, as users of 2.0 reported on 8.0.";
    buffers.provenance = cc == kFirstAsyncCopy ? Provenance::measured : Provenance::extrapolated;
  } else if (cc < kFirstAsyncCopy) {
    buffers.count = 1;
    buffers.rule = "Below 8.0 there is no cp.async, so one buffer is assumed whatever num_stages.";
    if (instruction == DotInstruction::fma) {
      buffers.rule += " Without mma.sync the operands are staged as FP32.";
    }
  } else if (instruction == DotInstruction::mma_sync) {
    buffers.count = std::max<std::int64_t>(num_stages - 1, 1);
    buffers.rule =
        "mma.sync: max(num_stages - 1, 1) buffers, as Triton 3.6.0 compiles for sm_90 and sm_120.";
    const bool compiled = cc == ComputeCapability{9, 0} || cc == ComputeCapability{12, 0};
    buffers.provenance = compiled ? Provenance::compiled : Provenance::extrapolated;
    if (!compiled) buffers.rule += " For this chip the same backend rule is taken over.";
  } else {
    buffers.count = num_stages;
    const bool compiled = instruction == DotInstruction::wgmma;
    buffers.provenance = compiled ? Provenance::compiled : Provenance::assumed;
    buffers.rule = compiled ? "wgmma reads both operands from shared memory: num_stages buffers, "
                              "as Triton 3.6.0 compiles for sm_90."
                            : "tcgen05 is assumed to keep num_stages buffers as wgmma does; "
                              "nothing was compiled for 10.x or 11.x.";
  }
  const std::int64_t per_buffer =
      saturating_mul(saturating_mul(tile.m + tile.n, tile.k), buffers.element_bytes);
  buffers.bytes = saturating_mul(per_buffer, buffers.count);
  buffers.formula = std::string("(") + std::to_string(tile.m) + " + " + std::to_string(tile.n) +
                    ") x " + std::to_string(tile.k) + " x " +
                    std::to_string(buffers.element_bytes) + " B x " +
                    std::to_string(buffers.count) + (buffers.count == 1 ? " buffer" : " buffers");
  return buffers;
}

WarpGrid warp_grid(const DotTile& tile) {
  const auto pieces_m = std::max<std::int64_t>(tile.m / kMmaRows, 1);
  WarpGrid grid;
  while (grid.m * grid.n < tile.num_warps) {
    const bool taller = pieces_m / grid.m >= tile.n / (2 * kMmaColumns) / grid.n;
    if (taller && grid.m < pieces_m) {
      grid.m *= 2;
    } else {
      grid.n *= 2;
    }
  }
  return grid;
}

DotWork mma_sync_work(const DotTile& tile, WarpGrid grid) {
  const auto rows = ceil_div(ceil_div(tile.m, kMmaRows), grid.m);        // 16-row pieces a warp
  const auto columns = ceil_div(ceil_div(tile.n, kMmaColumns), grid.n);  // 8-column pieces a warp
  const auto depth = kMmaDepthBytes / tile.element_bytes;
  const auto steps = ceil_div(tile.k, depth);
  const double warps = as_double(grid.m * grid.n);
  const double mma = warps * as_double(rows * columns * steps);
  const double padded_k = as_double(steps * depth);
  DotWork work;
  work.flops = mma * kFlopsPerFma * as_double(kMmaRows * kMmaColumns * depth);
  work.shared_read_bytes =
      warps * as_double(rows * kMmaRows + columns * kMmaColumns) * padded_k * tile.element_bytes;
  work.warp_instructions = mma + work.shared_read_bytes / kBytesPerWarpInstruction;
  const double once =
      as_double(round_up(tile.m, kMmaRows)) * as_double(round_up(tile.n, kMmaColumns)) * padded_k;
  work.repeats = work.flops / (kFlopsPerFma * once);
  return work;
}

DotWork dot_work(DotInstruction instruction, const DotTile& tile) {
  switch (instruction) {
    case DotInstruction::fma:
      return fma_work(tile);
    case DotInstruction::mma_sync:
      return mma_sync_work(tile, warp_grid(tile));
    case DotInstruction::wgmma:
      return group_work(tile, kGroupRows);
    case DotInstruction::tcgen05:
      return group_work(tile, kTcgen05Rows);
  }
  return {};
}

double copy_instructions(double bytes) { return bytes / kBytesPerWarpInstruction; }

MathPipe dot_pipe(DotInstruction instruction, int element_bytes, bool is_integer) {
  if (instruction == DotInstruction::fma) return MathPipe::fp32;
  if (element_bytes == 1) return is_integer ? MathPipe::int8 : MathPipe::fp8;
  return element_bytes == 2 ? MathPipe::bf16 : MathPipe::tf32;
}

}  // namespace smtwin
