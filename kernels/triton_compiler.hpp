// SPDX-License-Identifier: Apache-2.0
// What Triton's NVIDIA backend makes of a tl.dot in a pipelined loop: the instruction it picks,
// the shared-memory buffers of the pipeline, how warps share the tile, and the work that follows.
//
//   instruction  3.x: wgmma on 9.x where BLOCK_M >= 64 and whole warp groups, tcgen05 on 10.x/11.x
//                (same condition), mma.sync from 7.5 on otherwise, plain FMA on 7.0
//   buffers      3.x: num_stages for wgmma and tcgen05, max(num_stages - 1, 1) for mma.sync (the
//                last stage is consumed from registers), 1 below 8.0 (no cp.async)
//                2.x: num_stages, whatever the chip
//   operands     (BLOCK_M + BLOCK_N) x BLOCK_K x bytes a buffer
// Sources: Triton 3.6.0 compiled for sm_90 and sm_120 (898 GEMM configurations agree to the byte),
// reports of users for 2.x and 7.0; the 10.x and 11.x rule is an assumption nothing was compiled
// for. Left out: warp specialization, tensor-memory staging, operands kept in registers by choice.
#pragma once

#include <cstdint>
#include <string>

#include "arch/gpu_spec.hpp"
#include "arch/provenance.hpp"
#include "kernels/descriptor.hpp"

namespace smtwin {

enum class TritonVersion { v3, v2 };
enum class DotInstruction { fma, mma_sync, wgmma, tcgen05 };
std::string to_string(DotInstruction instruction);

struct DotTile {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;  // of one pipeline step
  int element_bytes = 2;
  std::int64_t num_warps = 4;
};

DotInstruction dot_instruction(ComputeCapability cc, TritonVersion version, const DotTile& tile);

struct OperandBuffers {
  std::int64_t count = 0;
  int element_bytes = 0;   // as staged: 16-bit operands become FP32 on 7.0
  std::int64_t bytes = 0;  // (m + n) x k x element_bytes x count, saturated
  std::string formula;     // "(16 + 128) x 128 x 2 B x 3 buffers"
  Provenance provenance = Provenance::assumed;
  std::string rule;  // the sentence that says why so many buffers
};
OperandBuffers operand_buffers(ComputeCapability cc, TritonVersion version, const DotTile& tile,
                               std::int64_t num_stages);

// How mma.sync tiles are dealt to warps: the side with more 16 x 16 pieces left per warp doubles
// until every warp has a place. Where pieces run out, warps repeat each other's work. (Chained
// dots, as in attention, share one grid instead: all warps along the wider side of the output.)
struct WarpGrid {
  std::int64_t m = 1;
  std::int64_t n = 1;
};
WarpGrid warp_grid(const DotTile& tile);

// Work of one dot on one tile, all warps together, repeats and padding included.
struct DotWork {
  double flops = 0;
  double shared_read_bytes = 0;
  double warp_instructions = 0;  // multiply-adds and operand loads
  double repeats = 1;            // flops / flops of the padded tile done once
};
DotWork dot_work(DotInstruction instruction, const DotTile& tile);
DotWork mma_sync_work(const DotTile& tile, WarpGrid grid);

// Warp instructions besides the dot: 16-byte copies into shared memory, and loop control and
// addresses for every warp and step. The latter count is assumed.
double copy_instructions(double bytes);
inline constexpr double kLoopInstructionsPerWarpStep = 16;

// The pipe a dot of this data type runs on.
MathPipe dot_pipe(DotInstruction instruction, int element_bytes, bool is_integer);

}  // namespace smtwin
