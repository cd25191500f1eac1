// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/moe_library.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace smtwin {
namespace {

bool is(double hidden, double inter, double topk, double experts, const MoeShape& s) {
  return s.hidden == hidden && s.inter == inter && s.topk == topk && s.experts == experts;
}

// Marlin: the smallest tile that an expert's mean rows fill to less than 90 %.
std::vector<MoeTile> marlin_tiles(const MoeShape& s, double tokens) {
  constexpr double kFill = 0.9;
  const double per_expert = tokens * s.topk / s.local_experts();
  for (const int rows : {8, 16, 32, 48}) {
    if (per_expert < kFill * rows) return {{rows, 128, 64, 1}};
  }
  return {{64, 128, 64, 1}};
}

bool has_tuned_file(const MoeImplementation& how, const TimingGpu& gpu, const MoeShape& s) {
  // (local experts, width per rank) of SGLang's BF16 files for the H200.
  constexpr std::array<std::pair<int, int>, 11> kTuned{{{8, 1792},
                                                        {8, 2048},
                                                        {8, 3584},
                                                        {8, 4096},
                                                        {8, 7168},
                                                        {8, 14336},
                                                        {16, 1024},
                                                        {128, 192},
                                                        {128, 384},
                                                        {128, 704},
                                                        {128, 768}}};
  if (how.kernel != MoeKernel::triton_sglang || how.dtype != MoeDtype::bf16 || !gpu.hopper()) {
    return false;
  }
  return std::any_of(kTuned.begin(), kTuned.end(), [&](const auto& t) {
    return t.first == s.local_experts() && t.second == s.inter_per_rank();
  });
}

std::vector<MoeTile> triton_tiles(const MoeImplementation& how, const TimingGpu& gpu,
                                  const MoeShape& s, double tokens) {
  if (how.kernel == MoeKernel::triton_trtllm) return {{16, 32, 128, 1}};
  if (how.kernel == MoeKernel::triton_sglang) {
    if (how.dtype == MoeDtype::fp8_block) return {{64, 128, 128, 1}};
    std::vector<MoeTile> tiles;
    tiles.push_back(tokens <= s.local_experts() ? MoeTile{16, 32, 64, 1} : MoeTile{64, 64, 32, 1});
    if (has_tuned_file(how, gpu, s)) {
      for (const MoeTile& t : {MoeTile{16, 64, 128, 1}, MoeTile{16, 128, 64, 1},
                               MoeTile{64, 128, 64, 1}, MoeTile{128, 128, 64, 1},
                               MoeTile{128, 256, 64, 1}}) {
        tiles.push_back(t);
      }
    }
    return tiles;
  }
  if (how.dtype == MoeDtype::fp8_block) return {{tokens <= 64 ? 16 : 64, 128, 128, 1}};
  const int rows = tokens <= 32 ? 16 : tokens <= 96 ? 32 : tokens <= 512 ? 64 : 128;
  return {{rows, tokens <= 64 ? 64 : 128, tokens <= 64 ? 128 : 64, 1}};
}

std::vector<MoeTile> cutlass_tiles(const MoeImplementation& how, const TimingGpu& gpu) {
  const MoeDtype d = how.dtype;
  if (gpu.hopper()) {
    if (how.kernel == MoeKernel::flashinfer) {
      if (d == MoeDtype::bf16) return {{128, 16, 64, 1}};
      if (d == MoeDtype::fp8) return {{128, 16, 128, 1}};
      if (d == MoeDtype::fp8_block) return {{64, 64, 128, 2}};
    }
    const int depth = d == MoeDtype::bf16 || d == MoeDtype::int4 || d == MoeDtype::mxfp4 ? 64 : 128;
    return {{16, 128, depth, 2},
            {32, 128, depth, 2},
            {64, 128, depth, 2},
            {128, 128, depth, 1},
            {128, 256, depth, 1}};
  }
  if (d == MoeDtype::nvfp4 || d == MoeDtype::mxfp4_mxfp8) {
    return {{128, 128, 128, 1}, {128, 128, 256, 1}, {128, 256, 128, 1}, {256, 128, 128, 1}};
  }
  if (d == MoeDtype::fp8 || d == MoeDtype::fp8_block) {
    if (how.kernel == MoeKernel::flashinfer) return {{32, 128, 64, 3}};
    return {{16, 128, 64, 4},  {16, 256, 128, 1}, {32, 128, 64, 3}, {64, 128, 64, 3},
            {128, 128, 64, 2}, {128, 256, 64, 1}, {256, 128, 64, 1}};
  }
  if (how.kernel == MoeKernel::flashinfer) return {{16, 128, 64, 2}};
  return {{16, 128, 64, 2}, {32, 128, 64, 2}, {64, 128, 64, 2}, {128, 128, 64, 1}};
}

}  // namespace

std::string_view to_string(MoeFramework framework) {
  switch (framework) {
    case MoeFramework::vllm: return "vLLM";
    case MoeFramework::sglang: return "SGLang";
    case MoeFramework::trtllm: return "TensorRT-LLM";
  }
  return "?";
}

std::string_view to_string(MoeKernel kernel) {
  switch (kernel) {
    case MoeKernel::cutlass: return "CUTLASS";
    case MoeKernel::flashinfer: return "FlashInfer CUTLASS";
    case MoeKernel::triton_sglang: return "SGLang Triton";
    case MoeKernel::triton_vllm: return "vLLM Triton";
    case MoeKernel::triton_trtllm: return "TensorRT-LLM Triton";
    case MoeKernel::triton_kernels: return "triton_kernels";
    case MoeKernel::marlin: return "Marlin";
  }
  return "?";
}

std::string_view to_string(MoeDtype dtype) {
  switch (dtype) {
    case MoeDtype::bf16: return "bf16";
    case MoeDtype::fp8: return "fp8";
    case MoeDtype::fp8_block: return "fp8_block";
    case MoeDtype::nvfp4: return "nvfp4";
    case MoeDtype::int4: return "int4";
    case MoeDtype::mxfp4: return "mxfp4";
    case MoeDtype::mxfp4_mxfp8: return "mxfp4_mxfp8";
  }
  return "?";
}

MoeFormat moe_format(const MoeImplementation& how, const TimingGpu& gpu) {
  // One FP32 scale a 128 x 128 block of weights, a row of 128 activations.
  constexpr double kFp8BlockWeight = 1 + 4.0 / (128 * 128);
  constexpr double kFp8RowActivation = 1 + 4.0 / 128;
  constexpr double kNvfp4 = 0.5 + 1.0 / 16;   // one FP8 scale a 16 elements
  constexpr double kInt4 = 0.5 + 2.0 / 32;    // one BF16 scale a 32 elements
  constexpr double kMxfp4 = 0.5 + 1.0 / 32;   // one exponent a 32 elements
  constexpr double kMxfp8 = 1 + 1.0 / 32;
  switch (how.dtype) {
    case MoeDtype::bf16: return {2, 2, gpu.bf16_flops_per_s};
    case MoeDtype::fp8: return {1, 1, gpu.fp8_flops_per_s};
    case MoeDtype::fp8_block:
      // TensorRT-LLM's Triton path widens the weights and multiplies in BF16.
      if (how.kernel == MoeKernel::triton_trtllm) return {kFp8BlockWeight, 2, gpu.bf16_flops_per_s};
      return {kFp8BlockWeight, kFp8RowActivation, gpu.fp8_flops_per_s};
    case MoeDtype::nvfp4: return {kNvfp4, kNvfp4, gpu.nvfp4_flops_per_s};
    case MoeDtype::int4: return {kInt4, 2, gpu.bf16_flops_per_s};
    case MoeDtype::mxfp4:
      // SGLang's Triton path stores them widened to BF16.
      return {how.kernel == MoeKernel::triton_sglang ? 2.0 : kMxfp4, 2, gpu.bf16_flops_per_s};
    case MoeDtype::mxfp4_mxfp8: return {kMxfp4, kMxfp8, gpu.fp8_flops_per_s};
  }
  return {};
}

std::vector<MoeTile> moe_tiles(const MoeImplementation& how, const TimingGpu& gpu,
                               const MoeShape& shape, double tokens) {
  if (how.kernel == MoeKernel::marlin) return marlin_tiles(shape, tokens);
  if (how.triton()) {
    std::vector<MoeTile> tiles = triton_tiles(how, gpu, shape, tokens);
    const MoeFormat f = moe_format(how, gpu);
    const double st = getenv("STG") ? atof(getenv("STG")) : how.kernel == MoeKernel::triton_sglang && how.dtype == MoeDtype::fp8_block ? 4 : 3;
    for (MoeTile& t : tiles) t.ctas_per_sm = std::max(1.0, std::floor((gpu.hopper() ? 227 : 99) * 1024. / (st * t.depth * (t.rows * f.activation_bytes + t.columns * f.weight_bytes))));
    return tiles;
  }
  return cutlass_tiles(how, gpu);
}

bool moe_is_bare_kernel(const MoeImplementation& how, const MoeShape& shape) {
  if (how.kernel != MoeKernel::triton_sglang || how.dtype == MoeDtype::mxfp4) return false;
  return is(2816, 704, 8, 128, shape) || is(4096, 14336, 2, 8, shape) ||
         is(6144, 16384, 2, 8, shape);
}

RemotePairs moe_remote_pairs(const MoeImplementation& how, const MoeShape& shape) {
  if (how.kernel == MoeKernel::triton_trtllm) return RemotePairs::last_expert;
  if (how.kernel == MoeKernel::marlin && how.framework == MoeFramework::sglang &&
      how.dtype == MoeDtype::mxfp4) {
    return RemotePairs::last_expert;
  }
  return moe_is_bare_kernel(how, shape) ? RemotePairs::first_expert : RemotePairs::dropped;
}

GroupLimit moe_group_limit(const MoeImplementation& how, const MoeShape& shape) {
  if (how.framework == MoeFramework::trtllm) return {};
  return is(7168, 2048, 8, 256, shape) ? GroupLimit{8, 4} : GroupLimit{};
}

bool moe_is_gated(double hidden, double inter) {
  constexpr std::array<std::pair<int, int>, 5> kNonGated{
      {{2688, 1856}, {1024, 2688}, {4096, 2688}, {2048, 5120}, {8192, 5120}}};
  return std::none_of(kNonGated.begin(), kNonGated.end(),
                      [&](const auto& g) { return g.first == hidden && g.second == inter; });
}

}  // namespace smtwin
