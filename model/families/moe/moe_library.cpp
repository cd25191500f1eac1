// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/moe_library.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace smtwin {
namespace {

bool is(const MoeShape& s, double hidden, double inter, double topk, double experts) {
  return s.hidden == hidden && s.inter == inter && s.topk == topk && s.experts == experts;
}

// SGLang's Triton kernel can be timed without the framework's expert-parallel layer; then only
// tokens with a local pair are there. Seen in the rows of three geometries.
bool is_bare_kernel(const MoeImplementation& how, const MoeShape& s) {
  if (how.kernel != MoeKernel::triton_sglang || how.dtype == MoeDtype::mxfp4) return false;
  return is(s, 2816, 704, 8, 128) || is(s, 4096, 14336, 2, 8) || is(s, 6144, 16384, 2, 8);
}

}  // namespace

MoeFormat moe_format(const MoeImplementation& how, const TimingGpu& gpu) {
  constexpr double kFp8BlockWeight = 1 + 4.0 / (128 * 128);  // one FP32 scale a 128 x 128 block
  constexpr double kFp8BlockActivation = 1 + 4.0 / 128;      // one a row of 128
  constexpr double kNvfp4 = 0.5 + 1.0 / 16;                  // one FP8 scale a 16 elements
  constexpr double kInt4 = 0.5 + 2.0 / 32;                   // one BF16 scale a 32 elements
  constexpr double kMxfp4 = 0.5 + 1.0 / 32;                  // one exponent a 32 elements
  constexpr double kMxfp8 = 1 + 1.0 / 32;
  switch (how.dtype) {
    case MoeDtype::bf16:
      return {2, 2, gpu.bf16_flops_per_s};
    case MoeDtype::fp8:
      return {1, 1, gpu.fp8_flops_per_s};
    case MoeDtype::fp8_block:
      // TensorRT-LLM's Triton path widens the weights in the kernel and multiplies in BF16.
      if (how.kernel == MoeKernel::triton_trtllm) return {kFp8BlockWeight, 2, gpu.bf16_flops_per_s};
      return {kFp8BlockWeight, kFp8BlockActivation, gpu.fp8_flops_per_s};
    case MoeDtype::nvfp4:
      return {kNvfp4, kNvfp4, gpu.nvfp4_flops_per_s};
    case MoeDtype::int4:
      return {kInt4, 2, gpu.bf16_flops_per_s};
    case MoeDtype::mxfp4:
      // SGLang's Triton path keeps the weights widened to BF16.
      return {how.kernel == MoeKernel::triton_sglang ? 2 : kMxfp4, 2, gpu.bf16_flops_per_s};
    case MoeDtype::mxfp4_mxfp8:
      return {kMxfp4, kMxfp8, gpu.fp8_flops_per_s};
  }
  return {};
}

RemotePairs moe_remote_pairs(const MoeImplementation& how, const MoeShape& shape) {
  const bool sglang_mxfp4_marlin = how.kernel == MoeKernel::marlin &&
                                   how.framework == MoeFramework::sglang &&
                                   how.dtype == MoeDtype::mxfp4;
  if (how.kernel == MoeKernel::triton_trtllm || sglang_mxfp4_marlin)
    return RemotePairs::last_expert;
  return is_bare_kernel(how, shape) ? RemotePairs::first_expert : RemotePairs::dropped;
}

GroupLimit moe_group_limit(const MoeImplementation& how, const MoeShape& shape) {
  if (how.framework == MoeFramework::trtllm) return {};
  return is(shape, 7168, 2048, 8, 256) ? GroupLimit{.groups = 8, .kept = 4} : GroupLimit{};
}

bool moe_is_gated(double hidden, double inter) {
  constexpr std::array<std::pair<int, int>, 5> kNonGated{
      {{2688, 1856}, {1024, 2688}, {4096, 2688}, {2048, 5120}, {8192, 5120}}};
  return std::none_of(kNonGated.begin(), kNonGated.end(),
                      [&](const auto& g) { return g.first == hidden && g.second == inter; });
}

}  // namespace smtwin
