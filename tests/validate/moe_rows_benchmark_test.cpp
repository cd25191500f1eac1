// SPDX-License-Identifier: Apache-2.0
// What the rows of single geometries mean beyond their columns.
#include "validate/measurements/moe_rows_benchmark.hpp"

#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("what becomes of remote pairs depends on library, format and geometry", "[unit]") {
  const MoeShape qwen{.topk = 8, .experts = 128, .ep = 4, .hidden = 2048, .inter = 768};
  MoeShape bare = qwen;
  bare.hidden = 2816, bare.inter = 704;
  const auto remote = [](MoeFramework f, MoeKernel k, MoeDtype d, const MoeShape& s) {
    return benchmark_remote_pairs({f, k, d}, s);
  };
  using F = MoeFramework;
  using K = MoeKernel;
  using D = MoeDtype;
  CHECK(remote(F::trtllm, K::triton_trtllm, D::fp8_block, qwen) == RemotePairs::last_expert);
  CHECK(remote(F::sglang, K::marlin, D::mxfp4, qwen) == RemotePairs::last_expert);
  CHECK(remote(F::sglang, K::marlin, D::int4, qwen) == RemotePairs::dropped);
  CHECK(remote(F::sglang, K::triton_sglang, D::bf16, qwen) == RemotePairs::dropped);
  CHECK(remote(F::sglang, K::triton_sglang, D::bf16, bare) == RemotePairs::first_expert);
  CHECK(remote(F::vllm, K::triton_vllm, D::bf16, bare) == RemotePairs::dropped);
}

TEST_CASE("group limit and gate projection belong to geometries", "[unit]") {
  const MoeShape deepseek{.topk = 8, .experts = 256, .hidden = 7168, .inter = 2048};
  MoeShape other = deepseek;
  other.hidden = 6144;
  const auto groups = [](MoeFramework f, const MoeShape& s) {
    return benchmark_group_limit({f, MoeKernel::flashinfer, MoeDtype::nvfp4}, s).groups;
  };
  CHECK(groups(MoeFramework::vllm, deepseek) == 8);
  CHECK(groups(MoeFramework::trtllm, deepseek) == 0);
  CHECK(groups(MoeFramework::vllm, other) == 0);
  CHECK_FALSE(benchmark_is_gated(2688, 1856));
  CHECK(benchmark_is_gated(2048, 768));
}
