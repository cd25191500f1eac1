// SPDX-License-Identifier: Apache-2.0
// Grouped Triton GEMM: bytes, balanced routing and work by hand.
#include "kernels/external/triton_moe_gemm/descriptor.hpp"

#include "tests/catch.hpp"
#include "tests/kernels/chip.hpp"
#include "tests/kernels/instance_of.hpp"

using namespace smtwin;
using smtwin::test::fact;
using smtwin::test::instance_of;

namespace {
KernelInstance moe(const GpuSpec& gpu, const std::string& settings) {
  return instance_of("triton_moe_gemm", gpu, settings);
}
std::int64_t bytes(const KernelInstance& instance) {
  return instance.resources.dynamic_shared_bytes;
}
}  // namespace

TEST_CASE("a scale vector longer than the CTA goes through shared memory", "[unit]") {
  // fp8 128 x 256 x 64, 4 warps = 128 threads, 3 stages on sm_120:
  //   (128 + 256) x 64 x 1 x 2 = 49,152, and 4 x 256 for the longer of the two vectors
  const std::string settings = "block_m=128 block_n=256 block_k=64";
  const auto instance = moe(test::sm120(), settings);
  CHECK(bytes(instance) == 50176);
  CHECK(instance.shared_formula == "(128 + 256) x 64 x 1 B x 2 buffers + 4 x 256 = 50,176");
  // 8 warps = 256 threads: the row vector of 128 no longer needs it, the column vector does.
  CHECK(bytes(moe(test::sm120(), "block_m=128 block_n=256 block_k=64 num_warps=8")) == 50176);
  CHECK(bytes(moe(test::sm120(), "block_m=128 block_n=128 block_k=64 num_warps=8")) == 32768);
}

TEST_CASE("grouped kernels without block scales match what users reported", "[unit]") {
  // sgl-project/sglang#37803, bf16 16 x 128 x 128: 3 x (16 + 128) x 128 x 2 = 110,592 B
  std::string small = "block_m=16 block_n=128 block_k=128 num_stages=4 dtype=bf16";
  CHECK(bytes(moe(test::sm120(), small)) == 110592);
  small += " num_stages=3";
  CHECK(bytes(moe(test::sm120(), small)) == 73728);
  // sgl-project/sglang#8513, fp8 with per-tensor scales: 3 x (128 + 256) x 128 = 147,456 B
  CHECK(bytes(moe(test::sm120(), "block_m=128 block_n=256 block_k=128 num_stages=4 scales=none")) ==
        147456);
}

TEST_CASE("on sm_90 tiles of 64 rows keep every stage", "[unit]") {
  const std::string settings = "block_m=64 block_n=64 block_k=128 num_stages=4";
  CHECK(bytes(moe(test::sm90(), settings)) == 4 * 16384);
  CHECK(bytes(moe(test::sm120(), settings)) == 3 * 16384);
}

TEST_CASE("balanced routing on whole experts", "[unit]") {
  // One token reaches exactly topk experts with a row each.
  const auto one = balanced_load({.tokens = 1, .experts = 128, .topk = 8}, 16);
  CHECK(one.active_experts == 8);
  CHECK(one.row_tiles == 8);
  // 16 tokens: 128 (1 - (15/16)^16) = 82.42 -> 82 experts share 128 rows: 46 get 2, 36 get 1.
  const auto some = balanced_load({.tokens = 16, .experts = 128, .topk = 8}, 16);
  CHECK(some.expected_active == Approx(82.42).epsilon(1e-3));
  CHECK(some.active_experts == 82);
  CHECK(some.rows == 128);
  CHECK(some.row_tiles == 82);
  CHECK(balanced_load({.tokens = 16, .experts = 128, .topk = 8}, 1).row_tiles == 46 * 2 + 36);
  // Many tokens: all experts, 4096 x 8 / 128 = 256 rows each = 4 tiles of 64.
  const auto many = balanced_load({.tokens = 4096, .experts = 128, .topk = 8}, 64);
  CHECK(many.active_experts == 128);
  CHECK(many.row_tiles == 512);
  const auto all = balanced_load({.tokens = 3, .experts = 4, .topk = 4}, 16);
  CHECK(all.active_experts == 4);
}

TEST_CASE("padding never loses a row and never adds a whole tile an expert", "[property]") {
  for (const std::int64_t tokens : {1, 2, 7, 64, 1000}) {
    for (const std::int64_t experts : {1, 8, 60, 256}) {
      for (const std::int64_t topk : {1, 2, 8}) {
        if (topk > experts) continue;
        for (const std::int64_t block_m : {1, 16, 128}) {
          const auto load =
              balanced_load({.tokens = tokens, .experts = experts, .topk = topk}, block_m);
          REQUIRE(load.active_experts >= topk);
          REQUIRE(load.active_experts <= experts);
          REQUIRE(load.row_tiles * block_m >= load.rows);
          REQUIRE(load.row_tiles * block_m < load.rows + load.active_experts * block_m);
        }
      }
    }
  }
}

TEST_CASE("work of a decode step's expert GEMM", "[unit]") {
  // 1 token, 8 experts, hidden 256, n 256, fp8 with block scales, tile 16 x 128 x 128
  const auto instance =
      moe(test::sm120(), "tokens=1 hidden=256 n=256 block_m=16 block_n=128 block_k=128");
  CHECK(instance.grid.ctas() == 8 * 2);
  CHECK(instance.grid.formula == "8 row tiles x 2 column tiles");
  CHECK(instance.work.steps == 2);
  // One real row and 128 columns of 256 bytes; scales: (1 row + 1 column block) x 2 x 4 B
  CHECK(instance.work.global_read_bytes == (1 + 128) * 256 + 16);
  CHECK(instance.work.global_write_bytes == 128 * 2);
  CHECK(instance.work.math_flops == 2 * 2.0 * 16 * 128 * 128);  // all 16 rows
  CHECK(instance.work.fp32_flops == 2 * 16 * 128 * 3);          // three flops an output and step
  CHECK(instance.useful_flops == 2.0 * 8 * 256 * 256);
  // 8 experts x 256 columns and one token's row, 256 B each; scales (8 x 2 + 1) x 2 x 4 B
  CHECK(instance.unique_read_bytes == (8 * 256 + 1) * 256 + 17 * 2 * 4);
  CHECK(instance.unique_write_bytes == 8 * 256 * 2);
  CHECK(fact(instance, "active_experts") == 8);
  CHECK(fact(instance, "useful_share") == Approx(1.0 / 16));
  CHECK(instance.pipe == MathPipe::fp8);
  CHECK(test::says(instance, "128 x (1 - (1 - 8/128)^1) = 8 experts are active"));
}

TEST_CASE("more experts per token than experts is refused", "[unit]") {
  CHECK(test::usage_error([] { moe(test::sm120(), "experts=4 topk=8"); }) ==
        "topk: a token cannot go to 8 of 4 experts; use at most experts");
}

TEST_CASE("scaling costs registers", "[property]") {
  for (const char* block_n : {"32", "64", "128"}) {
    const std::string plain = std::string("scales=none block_n=") + block_n;
    const std::string scaled = std::string("scales=block block_n=") + block_n;
    CHECK(moe(test::sm120(), scaled).resources.registers_per_thread >
          moe(test::sm120(), plain).resources.registers_per_thread);
  }
}
