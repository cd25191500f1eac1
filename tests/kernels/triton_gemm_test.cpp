// SPDX-License-Identifier: Apache-2.0
// Dense Triton GEMM: bytes, grid and work by hand, and numbers users reported.
#include "kernels/external/triton_gemm/descriptor.hpp"

#include "tests/catch.hpp"
#include "tests/kernels/chip.hpp"
#include "tests/kernels/instance_of.hpp"

using namespace smtwin;
using smtwin::test::chip;
using smtwin::test::fact;
using smtwin::test::instance_of;

namespace {
KernelInstance gemm(const GpuSpec& gpu, const std::string& settings) {
  return instance_of("triton_gemm", gpu, settings);
}
std::int64_t bytes(const KernelInstance& instance) {
  return instance.resources.dynamic_shared_bytes;
}
}  // namespace

TEST_CASE("the 2023 compiler and the current one differ by a buffer", "[unit]") {
  // fp16 128 x 256 x 64, 4 stages on an A100 (triton-lang/triton#1561): a buffer is
  // (128 + 256) x 64 x 2 = 49,152 B; 2.x keeps 4 = 196,608 B, 3.x keeps 3 = 147,456 B.
  std::string settings =
      "block_m=128 block_n=256 block_k=64 num_stages=4 dtype=fp16 triton_version=2.x";
  const auto old_compiler = gemm(chip({8, 0}), settings);
  CHECK(bytes(old_compiler) == 196608);
  CHECK(old_compiler.shared_formula == "(128 + 256) x 64 x 2 B x 4 buffers = 196,608");
  CHECK(old_compiler.shared_provenance == Provenance::measured);
  settings += " triton_version=3.x";
  const auto new_compiler = gemm(chip({8, 0}), settings);
  CHECK(bytes(new_compiler) == 147456);
  CHECK(new_compiler.shared_provenance == Provenance::extrapolated);
}

TEST_CASE("an fp8 prefill tile overflows SM120 at four stages", "[unit]") {
  // sgl-project/sglang#8513: (128 + 256) x 128 x 1 x 3 = 147,456 B against 101,376 B.
  std::string settings = "block_m=128 block_n=256 block_k=128 num_stages=4 dtype=fp8";
  CHECK(bytes(gemm(test::sm120(), settings)) == 147456);
  settings += " num_stages=3";
  CHECK(bytes(gemm(test::sm120(), settings)) == 98304);
}

TEST_CASE("on sm_90 a small tile with eight warps is sized by its output", "[unit]") {
  // wgmma, bf16 128 x 128 x 32, 1 stage: operands (128 + 128) x 32 x 2 = 16,384 B, the output
  // staging 2 x 128 x 128 = 32,768 B is larger. Four warps stage nothing.
  std::string settings = "block_m=128 block_n=128 block_k=32 num_stages=1 num_warps=8";
  const auto staged = gemm(test::sm90(), settings);
  CHECK(bytes(staged) == 32768);
  CHECK(staged.shared_formula ==
        "output staging 2 x 128 x 128 (more than the operands' (128 + 128) x 32 x 2 B x 1 buffer "
        "= 16,384) = 32,768");
  settings += " num_warps=4";
  CHECK(bytes(gemm(test::sm90(), settings)) == 16384);
  settings += " num_warps=8";
  CHECK(bytes(gemm(test::sm120(), settings)) == 16384);
}

TEST_CASE("grid and work of a GEMM with edge tiles", "[unit]") {
  // m 100, n 300, k 200; tile 64 x 128 x 64 on sm_120, bf16, 4 warps, 3 stages
  const auto instance =
      gemm(test::sm120(), "m=100 n=300 k=200 block_m=64 block_n=128 block_k=64 num_stages=3");
  CHECK(instance.grid.ctas() == 2 * 3);  // ceil(100/64) x ceil(300/128)
  CHECK(instance.grid.formula == "2 x 3 tiles x 1 splits");
  CHECK(instance.work.steps == 4);  // ceil(200/64)
  // An average CTA has 50 rows and 100 columns: (50 + 100) x 200 x 2 B
  CHECK(instance.work.global_read_bytes == 60000);
  CHECK(instance.work.global_write_bytes == 50 * 100 * 2);
  CHECK(instance.work.math_flops == 4 * 2.0 * 64 * 128 * 64);  // full tiles, 4 steps of 64
  CHECK(instance.work.step_read_bytes == 15000);
  CHECK(instance.work.loads_in_flight == 2);
  CHECK(instance.useful_flops == 2.0 * 100 * 300 * 200);
  CHECK(instance.unique_read_bytes == (100 + 300) * 200 * 2);
  CHECK(instance.unique_write_bytes == 100 * 300 * 2);
  CHECK(instance.pipe == MathPipe::bf16);
  CHECK(instance.resources.threads_per_cta == 128);
  CHECK(fact(instance, "operand_buffers") == 2);
  // 12,000,000 useful of 6 CTAs x 4,194,304
  CHECK(fact(instance, "useful_share") == Approx(12.0e6 / (6 * 4194304.0)));
}

TEST_CASE("splitting K shortens the loop and writes partial sums", "[unit]") {
  const std::string settings = "m=64 n=128 k=4096 block_m=64 block_n=128 block_k=64 split_k=4";
  const auto instance = gemm(test::sm120(), settings);
  CHECK(instance.grid.z == 4);
  CHECK(instance.work.steps == 16);  // 64 steps over 4 splits
  CHECK(instance.work.global_write_bytes == 64 * 128 * 4);
  CHECK(instance.unique_write_bytes == 64 * 128 * 4 * 4);
  CHECK(test::says(instance, "FP32 partial sums"));
}

TEST_CASE("registers are an estimate and say so", "[unit]") {
  // mma.sync, bf16, 64 x 128 x 64, 4 warps: 64 accumulators; copies of 16 B a thread:
  // A 64 x 128 B / 16 / 128 = 4, B 8 -> 27 + 1.45 x 64 + 1.8 x 12 = 141.4
  const auto instance = gemm(test::sm120(), "block_m=64 block_n=128");
  CHECK(instance.resources.registers_per_thread == 141);
  CHECK(instance.registers_provenance == Provenance::fitted);
  // 128 x 256 on 4 warps: 256 accumulators alone exceed what a thread can name.
  const auto large = gemm(test::sm120(), "block_n=256");
  CHECK(large.resources.registers_per_thread == 255);
  CHECK(large.registers_source.find("it will spill") != std::string::npos);
  CHECK(gemm(test::sm120(), "dtype=int8").registers_provenance == Provenance::extrapolated);
  CHECK(gemm(chip({8, 9}), "").registers_provenance == Provenance::extrapolated);
}

TEST_CASE("configs Triton cannot compile are told apart from those that do not fit", "[unit]") {
  const GpuSpec gpu = test::sm120();
  CHECK(gemm(gpu, "").impossible.empty());
  CHECK(gemm(gpu, "block_n=96").impossible ==
        "block_n 96 is not a power of two, which Triton requires");
  CHECK(gemm(gpu, "num_warps=6").impossible ==
        "num_warps 6 is not a power of two, which Triton requires");
  CHECK(gemm(gpu, "block_k=16 dtype=fp8").impossible ==
        "block_k 16 is below 32, the least a tl.dot of fp8 takes");
  CHECK(gemm(chip({8, 0}), "dtype=fp8").impossible ==
        "Triton compiles fp8 from sm_89 on; this is sm_80");
  CHECK(gemm(gpu, "block_m=8 triton_version=2.x").impossible ==
        "Triton 2.x takes no tl.dot with a side below 16");
  // 64 warps compile; that 2,048 threads cannot launch is the residency model's answer.
  const auto wide = gemm(gpu, "num_warps=64");
  CHECK(wide.impossible.empty());
  CHECK(wide.resources.threads_per_cta == 2048);
  CHECK(gemm(gpu, "m=67108864 n=67108864 block_m=16 block_n=16").impossible ==
        "the grid 4194304 x 4194304 tiles x 1 splits exceeds CUDA's 2,147,483,647 x 65,535 x "
        "65,535");
}

TEST_CASE("a larger tile side never takes fewer bytes", "[property]") {
  for (const auto& gpu : {test::sm120(), test::sm90(), chip({8, 0})}) {
    for (const char* side : {"block_m", "block_n", "block_k"}) {
      std::int64_t before = 0;
      for (const char* value : {"16", "32", "64", "128", "256"}) {
        const auto now = bytes(gemm(gpu, std::string(side) + "=" + value + " num_warps=8"));
        REQUIRE(now >= before);
        before = now;
      }
    }
  }
}
