// SPDX-License-Identifier: Apache-2.0
// The compiler's rules by hand: instruction, buffers, warps on a tile, counted work.
#include "kernels/triton_compiler.hpp"

#include "tests/catch.hpp"

using namespace smtwin;

namespace {
DotTile tile(std::int64_t m, std::int64_t n, std::int64_t k, int bytes = 2,
             std::int64_t warps = 4) {
  return {m, n, k, bytes, warps};
}
constexpr ComputeCapability kSm70{7, 0}, kSm75{7, 5}, kSm80{8, 0}, kSm90{9, 0}, kSm100{10, 0},
    kSm120{12, 0};
}  // namespace

TEST_CASE("the instruction of a dot follows chip, rows and warps", "[unit]") {
  const auto v3 = TritonVersion::v3;
  CHECK(dot_instruction(kSm90, v3, tile(64, 64, 64)) == DotInstruction::wgmma);
  CHECK(dot_instruction(kSm90, v3, tile(32, 64, 64)) == DotInstruction::mma_sync);
  CHECK(dot_instruction(kSm90, v3, tile(64, 64, 64, 2, 2)) == DotInstruction::mma_sync);
  CHECK(dot_instruction(kSm100, v3, tile(128, 64, 64)) == DotInstruction::tcgen05);
  CHECK(dot_instruction(kSm120, v3, tile(128, 256, 64)) == DotInstruction::mma_sync);
  CHECK(dot_instruction(kSm80, v3, tile(128, 256, 64)) == DotInstruction::mma_sync);
  CHECK(dot_instruction(kSm75, v3, tile(128, 256, 64)) == DotInstruction::mma_sync);
  CHECK(dot_instruction(kSm70, v3, tile(128, 256, 64)) == DotInstruction::fma);
}

TEST_CASE("buffers: stages - 1 for mma.sync, all stages for wgmma and for Triton 2", "[unit]") {
  const auto t = tile(128, 256, 64);
  const auto count = [&](ComputeCapability cc, TritonVersion version, int stages) {
    return operand_buffers(cc, version, t, stages).count;
  };
  CHECK(count(kSm120, TritonVersion::v3, 4) == 3);
  CHECK(count(kSm120, TritonVersion::v3, 2) == 1);
  CHECK(count(kSm120, TritonVersion::v3, 1) == 1);
  CHECK(count(kSm90, TritonVersion::v3, 4) == 4);
  CHECK(count(kSm80, TritonVersion::v3, 4) == 3);
  CHECK(count(kSm80, TritonVersion::v2, 4) == 4);
  CHECK(count(kSm75, TritonVersion::v3, 4) == 1);  // no cp.async
  // (128 + 256) x 64 x 2 = 49,152 B a buffer
  const auto buffers = operand_buffers(kSm120, TritonVersion::v3, t, 4);
  CHECK(buffers.bytes == 147456);
  CHECK(buffers.formula == "(128 + 256) x 64 x 2 B x 3 buffers");
  CHECK(buffers.provenance == Provenance::compiled);
  CHECK(operand_buffers(kSm80, TritonVersion::v3, t, 4).provenance == Provenance::extrapolated);
  CHECK(operand_buffers(kSm100, TritonVersion::v3, t, 4).provenance == Provenance::assumed);
  // On 7.0 the operands are staged as FP32: (128 + 256) x 64 x 4.
  CHECK(operand_buffers(kSm70, TritonVersion::v3, t, 1).bytes == 98304);
}

TEST_CASE("warps spread over the tile before they repeat it", "[unit]") {
  const auto grid = [](const DotTile& t) {
    const WarpGrid g = warp_grid(t);
    return std::pair(g.m, g.n);
  };
  CHECK(grid(tile(128, 128, 64, 2, 4)) == std::pair<std::int64_t, std::int64_t>(2, 2));
  CHECK(grid(tile(16, 512, 64, 2, 8)) == std::pair<std::int64_t, std::int64_t>(1, 8));
  CHECK(grid(tile(16, 16, 576, 2, 8)) == std::pair<std::int64_t, std::int64_t>(1, 8));
}

TEST_CASE("a 16 x 16 score tile makes eight warps repeat each other", "[unit]") {
  // m16n8k16 products over 576 values: 36 a column of 8, 2 columns = 72 needed.
  // 4 warps: one column each, 4 x 36 = 144, every product twice. 8 warps: 288, four times.
  const auto four = dot_work(DotInstruction::mma_sync, tile(16, 16, 576, 2, 4));
  const auto eight = dot_work(DotInstruction::mma_sync, tile(16, 16, 576, 2, 8));
  CHECK(four.repeats == 2);
  CHECK(eight.repeats == 4);
  CHECK(four.flops == 144 * 4096);
  CHECK(eight.flops == 2 * four.flops);
  // Each warp loads 16 rows of A and 8 of B, 1,152 B a row: 24 x 1,152 = 27,648 B.
  CHECK(four.shared_read_bytes == 4 * 27648);
  CHECK(eight.shared_read_bytes == 8 * 27648);
  CHECK(four.warp_instructions == 144 + 4 * 27648 / 512);
}

TEST_CASE("no warp repeats work on a large tile", "[unit]") {
  // 128 x 128 x 64 on 2 x 2 warps: each loads 64 rows of A and of B, 128 B a row.
  const auto work = dot_work(DotInstruction::mma_sync, tile(128, 128, 64));
  CHECK(work.repeats == 1);
  CHECK(work.flops == 2.0 * 128 * 128 * 64);
  CHECK(work.shared_read_bytes == 4 * 128 * 128);
}

TEST_CASE("wgmma reads A once and B once for every 64 rows", "[unit]") {
  // A: 128 rows x 128 B; B: 256 columns x 128 B, for two pieces of 64 rows.
  const auto work = dot_work(DotInstruction::wgmma, tile(128, 256, 64));
  CHECK(work.flops == 2.0 * 128 * 256 * 64);
  CHECK(work.shared_read_bytes == 128 * 128 + 2 * 256 * 128);
  CHECK(work.warp_instructions == 2 * 4 * 4);  // row pieces x steps of 32 B x warps
}

TEST_CASE("padding to the instruction's tile is counted as work", "[unit]") {
  const auto work = dot_work(DotInstruction::mma_sync, tile(8, 16, 64, 2, 2));
  CHECK(work.flops == 2.0 * 16 * 16 * 64);
}

TEST_CASE("the pipe follows instruction and data type", "[unit]") {
  CHECK(dot_pipe(DotInstruction::mma_sync, 2, false) == MathPipe::bf16);
  CHECK(dot_pipe(DotInstruction::mma_sync, 1, false) == MathPipe::fp8);
  CHECK(dot_pipe(DotInstruction::wgmma, 1, true) == MathPipe::int8);
  CHECK(dot_pipe(DotInstruction::mma_sync, 4, false) == MathPipe::tf32);
  CHECK(dot_pipe(DotInstruction::fma, 2, false) == MathPipe::fp32);
}

TEST_CASE("more stages never take fewer bytes, on any chip and version", "[property]") {
  for (const auto cc : {kSm70, kSm75, kSm80, kSm90, kSm100, kSm120}) {
    for (const auto version : {TritonVersion::v3, TritonVersion::v2}) {
      for (const auto m : {16, 64, 128, 256}) {
        std::int64_t before = 0;
        for (int stages = 1; stages <= 8; ++stages) {
          const auto bytes = operand_buffers(cc, version, tile(m, 128, 64), stages).bytes;
          REQUIRE(bytes >= before);
          before = bytes;
        }
      }
    }
  }
}

TEST_CASE("absurd sizes saturate instead of wrapping", "[unit]") {
  const std::int64_t huge = std::int64_t{1} << 40;
  CHECK(operand_buffers(kSm120, TritonVersion::v3, tile(huge, huge, huge), 16).bytes ==
        std::numeric_limits<std::int64_t>::max());
}
