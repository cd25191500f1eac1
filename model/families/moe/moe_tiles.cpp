// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/moe_tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "model/families/moe/moe_library.hpp"

namespace smtwin {
namespace {

// A list that `choice` of the time model can index.
template <std::size_t N>
std::vector<MoeTile> candidates(const MoeTile (&tiles)[N]) {
  static_assert(N <= kMostMoeTiles);
  return {tiles, tiles + N};
}

std::vector<MoeTile> marlin_tiles(const MoeShape& s, double tokens) {
  constexpr double kFill = 0.9;
  const double rows_per_expert = tokens * s.topk / s.local_experts();
  for (const int rows : {8, 16, 32, 48}) {
    if (rows_per_expert < kFill * rows) return {{rows, 128, 64}};
  }
  return {{64, 128, 64}};
}

// SGLang picks a tuned BF16 file by device name, local experts and width per rank. Those that exist
// for the H200: seven are named in vLLM's list, from which SGLang's descends, (8, 7168) in SGLang's
// own.
bool has_tuned_file(const MoeImplementation& how, const TimingGpu& gpu, const MoeShape& s) {
  constexpr std::string_view kDevice = "h200";
  constexpr std::array<std::pair<int, int>, 8> kTuned{{{8, 1792},
                                                       {8, 4096},
                                                       {8, 7168},
                                                       {8, 14336},
                                                       {16, 1024},
                                                       {128, 192},
                                                       {128, 384},
                                                       {128, 768}}};
  if (how.kernel != MoeKernel::triton_sglang || how.dtype != MoeDtype::bf16 ||
      !gpu.name.starts_with(kDevice)) {
    return false;
  }
  return std::any_of(kTuned.begin(), kTuned.end(), [&](const auto& t) {
    return t.first == s.local_experts() && t.second == s.inter_per_rank();
  });
}

std::vector<MoeTile> sglang_tiles(const MoeImplementation& how, const TimingGpu& gpu,
                                  const MoeShape& s, double tokens) {
  if (how.dtype == MoeDtype::fp8_block) return {{64, 128, 128}};
  const MoeTile by_rule = tokens <= s.local_experts() ? MoeTile{16, 32, 64} : MoeTile{64, 64, 32};
  if (!has_tuned_file(how, gpu, s)) return {by_rule};
  // What the files hold is not read: the fastest of usual tiles stands for it.
  return candidates(
      {by_rule, {16, 64, 128}, {16, 128, 64}, {64, 128, 64}, {128, 128, 64}, {128, 256, 64}});
}

std::vector<MoeTile> vllm_tiles(const MoeImplementation& how, double tokens) {
  constexpr double kFewTokens = 64;
  if (how.dtype == MoeDtype::fp8_block) return {{tokens <= kFewTokens ? 16 : 64, 128, 128}};
  const int rows = tokens <= 32 ? 16 : tokens <= 96 ? 32 : tokens <= 512 ? 64 : 128;
  return {tokens <= kFewTokens ? MoeTile{rows, 64, 128} : MoeTile{rows, 128, 64}};
}

// CTAs that fit an SM: Triton keeps num_stages tiles of both operands in shared memory. SGLang's
// rule for block-scaled FP8 asks for 4 stages, the others leave Triton's default of 3.
std::vector<MoeTile> triton_tiles(const MoeImplementation& how, const TimingGpu& gpu,
                                  const MoeShape& s, double tokens) {
  std::vector<MoeTile> tiles;
  double stages = 3;
  if (how.kernel == MoeKernel::triton_trtllm) {
    tiles = {{16, 32, 128}};
  } else if (how.kernel == MoeKernel::triton_sglang) {
    tiles = sglang_tiles(how, gpu, s, tokens);
    if (how.dtype == MoeDtype::fp8_block) stages = 4;
  } else {
    tiles = vllm_tiles(how, tokens);
  }
  const MoeFormat f = moe_format(how, gpu);
  for (MoeTile& t : tiles) {
    const double bytes =
        stages * t.depth * (t.rows * f.activation_bytes + t.columns * f.weight_bytes);
    t.ctas_per_sm = std::max(1.0, std::floor(gpu.shared_bytes_per_sm / bytes));
  }
  return tiles;
}

std::vector<MoeTile> flashinfer_tiles(MoeDtype dtype, bool hopper) {
  switch (dtype) {
    case MoeDtype::bf16:
      return {hopper ? MoeTile{128, 16, 64, 1} : MoeTile{16, 128, 64, 2}};
    case MoeDtype::fp8:
      return {hopper ? MoeTile{128, 16, 128, 1} : MoeTile{32, 128, 64, 3}};
    case MoeDtype::fp8_block:
      return {MoeTile{64, 64, 128, 1}};
    default:
      return {MoeTile{128, 128, 256, 1}};
  }
}

std::vector<MoeTile> cutlass_tiles(MoeDtype dtype, bool hopper) {
  if (hopper) {
    const bool narrow =
        dtype == MoeDtype::bf16 || dtype == MoeDtype::int4 || dtype == MoeDtype::mxfp4;
    const int depth = narrow ? 64 : 128;  // 128 bytes of activations
    return candidates({{16, 128, depth, 2},
                       {32, 128, depth, 2},
                       {64, 128, depth, 2},
                       {128, 128, depth, 1},
                       {128, 256, depth, 1}});
  }
  switch (dtype) {
    case MoeDtype::nvfp4:
    case MoeDtype::mxfp4_mxfp8:
      return candidates(
          {{128, 128, 128, 1}, {128, 128, 256, 1}, {128, 256, 128, 1}, {256, 128, 128, 1}});
    case MoeDtype::fp8:
    case MoeDtype::fp8_block:
      return candidates({{16, 128, 64, 4},
                         {16, 256, 128, 1},
                         {32, 128, 64, 3},
                         {64, 128, 64, 3},
                         {128, 128, 64, 2},
                         {128, 256, 64, 1},
                         {256, 128, 64, 1}});
    default:
      return candidates({{16, 128, 64, 2}, {32, 128, 64, 2}, {64, 128, 64, 2}, {128, 128, 64, 1}});
  }
}

}  // namespace

std::vector<MoeTile> moe_tiles(const MoeImplementation& how, const TimingGpu& gpu,
                               const MoeShape& shape, double tokens) {
  if (how.kernel == MoeKernel::marlin) return marlin_tiles(shape, tokens);
  if (how.triton()) return triton_tiles(how, gpu, shape, tokens);
  // Only Hopper has the warp-group kernels; older and consumer chips run the mma.sync ones.
  const bool hopper = gpu.hopper();
  if (how.kernel == MoeKernel::flashinfer) return flashinfer_tiles(how.dtype, hopper);
  return cutlass_tiles(how.dtype, hopper);
}

double tuner_tokens(double tokens) {
  return std::min(std::exp2(std::floor(std::log2(tokens))), kTunerMaxTokens);
}

}  // namespace smtwin
