// SPDX-License-Identifier: Apache-2.0
// Tile rules and bytes of formats, each at the edges of its cases.
#include "model/families/moe/moe_tiles.hpp"

#include "model/families/moe/moe_library.hpp"
#include "tests/catch.hpp"
#include "tests/model/moe_time_chip.hpp"

using namespace smtwin;
using smtwin::test::hopper_chip;
using smtwin::test::plain_chip;

namespace {

MoeTile only_tile(const MoeImplementation& how, const MoeShape& shape, double tokens) {
  const std::vector<MoeTile> tiles = moe_tiles(how, plain_chip(), shape, tokens);
  REQUIRE(tiles.size() == 1);
  return tiles.front();
}

}  // namespace

TEST_CASE("SGLang's BF16 tile changes when there are more tokens than local experts", "[unit]") {
  const MoeImplementation how{MoeFramework::sglang, MoeKernel::triton_sglang, MoeDtype::bf16};
  const MoeShape shape{.topk = 8, .experts = 128, .ep = 4, .hidden = 2048, .inter = 768};
  CHECK(only_tile(how, shape, 32).rows == 16);
  CHECK(only_tile(how, shape, 33).rows == 64);
  CHECK(only_tile(how, shape, 33).depth == 32);
  // 3 stages x 32 x (64 + 64) x 2 B = 24,576 B of the 102,400 B of an SM: 4 CTAs.
  CHECK(only_tile(how, shape, 33).ctas_per_sm == 4);
  // A tuned file exists on the H200 for 128 local experts of width 768, not for 32; files go by the
  // device's name, so another Hopper chip runs the rule.
  TimingGpu h200 = hopper_chip();
  h200.name = "h200-sxm";
  MoeShape all = shape;
  CHECK(moe_tiles(how, h200, shape, 33).size() == 1);
  all.ep = 1;
  CHECK(moe_tiles(how, h200, all, 33).size() == 6);
  CHECK(moe_tiles(how, hopper_chip(), all, 33).size() == 1);
  CHECK(moe_tiles(how, plain_chip(), all, 33).size() == 1);
}

TEST_CASE("vLLM's tiles grow with the tokens", "[unit]") {
  const MoeShape shape{.topk = 8, .experts = 128};
  MoeImplementation how{MoeFramework::vllm, MoeKernel::triton_vllm, MoeDtype::bf16};
  CHECK(only_tile(how, shape, 32).rows == 16);
  CHECK(only_tile(how, shape, 33).rows == 32);
  CHECK(only_tile(how, shape, 64).columns == 64);
  CHECK(only_tile(how, shape, 65).columns == 128);
  CHECK(only_tile(how, shape, 512).rows == 64);
  CHECK(only_tile(how, shape, 513).rows == 128);
  how.dtype = MoeDtype::fp8_block;
  CHECK(only_tile(how, shape, 64).rows == 16);
  CHECK(only_tile(how, shape, 65).rows == 64);
}

TEST_CASE("Marlin takes the smallest tile that the mean expert fills to 90 %", "[unit]") {
  const MoeImplementation how{MoeFramework::vllm, MoeKernel::marlin, MoeDtype::int4};
  const MoeShape shape{.topk = 8, .experts = 64};  // rows an expert = tokens / 8
  CHECK(only_tile(how, shape, 57).rows == 8);      // 7.125 < 7.2
  CHECK(only_tile(how, shape, 58).rows == 16);     // 7.25
  CHECK(only_tile(how, shape, 300).rows == 48);    // 37.5 < 43.2
  CHECK(only_tile(how, shape, 4096).rows == 64);
}

TEST_CASE("a tuner has candidates, a default tactic is one tile", "[unit]") {
  const MoeShape shape{.topk = 8, .experts = 128};
  const auto count = [&](MoeKernel kernel, MoeDtype dtype, const TimingGpu& gpu) {
    return moe_tiles({MoeFramework::trtllm, kernel, dtype}, gpu, shape, 64).size();
  };
  CHECK(count(MoeKernel::cutlass, MoeDtype::bf16, plain_chip()) == 4);
  CHECK(count(MoeKernel::cutlass, MoeDtype::fp8, plain_chip()) == 7);
  CHECK(count(MoeKernel::cutlass, MoeDtype::nvfp4, plain_chip()) == 4);
  CHECK(count(MoeKernel::cutlass, MoeDtype::fp8, hopper_chip()) == 5);
  for (const MoeDtype dtype :
       {MoeDtype::bf16, MoeDtype::fp8, MoeDtype::fp8_block, MoeDtype::nvfp4}) {
    CHECK(count(MoeKernel::flashinfer, dtype, plain_chip()) == 1);
    CHECK(count(MoeKernel::flashinfer, dtype, hopper_chip()) == 1);
  }
}

TEST_CASE("the tuner rounds tokens down to a power of two, at most 8192", "[unit]") {
  CHECK(tuner_tokens(1) == 1);
  CHECK(tuner_tokens(96) == 64);
  CHECK(tuner_tokens(128) == 128);
  CHECK(tuner_tokens(16384) == 8192);
}

TEST_CASE("bytes of an element include its scales", "[unit]") {
  const auto weight = [](MoeKernel kernel, MoeDtype dtype) {
    return moe_format({MoeFramework::sglang, kernel, dtype}, plain_chip()).weight_bytes;
  };
  CHECK(weight(MoeKernel::flashinfer, MoeDtype::nvfp4) == 0.5625);
  CHECK(weight(MoeKernel::marlin, MoeDtype::int4) == 0.5625);
  CHECK(weight(MoeKernel::marlin, MoeDtype::mxfp4) == 0.53125);
  CHECK(weight(MoeKernel::triton_sglang, MoeDtype::mxfp4) == 2);  // kept widened
}
