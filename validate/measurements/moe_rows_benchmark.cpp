// SPDX-License-Identifier: Apache-2.0
#include "validate/measurements/moe_rows_benchmark.hpp"

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

RemotePairs benchmark_remote_pairs(const MoeImplementation& how, const MoeShape& shape) {
  const bool sglang_mxfp4_marlin = how.kernel == MoeKernel::marlin &&
                                   how.framework == MoeFramework::sglang &&
                                   how.dtype == MoeDtype::mxfp4;
  if (how.kernel == MoeKernel::triton_trtllm || sglang_mxfp4_marlin) {
    return RemotePairs::last_expert;
  }
  return is_bare_kernel(how, shape) ? RemotePairs::first_expert : RemotePairs::dropped;
}

GroupLimit benchmark_group_limit(const MoeImplementation& how, const MoeShape& shape) {
  if (how.framework == MoeFramework::trtllm) return {};
  return is(shape, 7168, 2048, 8, 256) ? GroupLimit{.groups = 8, .kept = 4} : GroupLimit{};
}

bool benchmark_is_gated(double hidden, double inter) {
  constexpr std::array<std::pair<int, int>, 5> kNonGated{
      {{2688, 1856}, {1024, 2688}, {4096, 2688}, {2048, 5120}, {8192, 5120}}};
  return std::none_of(kNonGated.begin(), kNonGated.end(),
                      [&](const auto& g) { return g.first == hidden && g.second == inter; });
}

}  // namespace smtwin
