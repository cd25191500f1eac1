// SPDX-License-Identifier: Apache-2.0
// The table of compiled variants and the combine kernel, of which there is one.
#include "kernels/sparse_mla_decode/compiled_variants.hpp"

#include <algorithm>

#include "kernels/sparse_mla_decode/combine.cuh"
#include "kernels/sparse_mla_decode/launch_plan.hpp"

#define SMTWIN_FOR_STAGES(F, BH, BT, W) F(BH, BT, W, 1) F(BH, BT, W, 2) F(BH, BT, W, 3)
#define SMTWIN_FOR_WARPS(F, BH, BT) SMTWIN_FOR_STAGES(F, BH, BT, 4) SMTWIN_FOR_STAGES(F, BH, BT, 8)
#define SMTWIN_FOR_TOKENS(F, BH) \
  SMTWIN_FOR_WARPS(F, BH, 16) SMTWIN_FOR_WARPS(F, BH, 32) SMTWIN_FOR_WARPS(F, BH, 64)
#define SMTWIN_FOR_VARIANTS(F) \
  SMTWIN_FOR_TOKENS(F, 16) SMTWIN_FOR_TOKENS(F, 32) SMTWIN_FOR_TOKENS(F, 64)

#define SMTWIN_DECLARE(BH, BT, W, S) \
  smtwin::SparseMlaCompiled sparse_mla_compiled_##BH##_##BT##_##W##_##S();
#define SMTWIN_CALL(BH, BT, W, S) sparse_mla_compiled_##BH##_##BT##_##W##_##S(),

SMTWIN_FOR_VARIANTS(SMTWIN_DECLARE)

extern "C" __global__ void __launch_bounds__(smtwin::device::kCombineThreads)
    smtwin_sparse_mla_combine(const __grid_constant__ smtwin::device::SparseMlaArguments arguments,
                              std::int64_t rows) {
  smtwin::device::sparse_mla_combine(arguments, rows);
}

namespace smtwin {

static_assert(kSparseMlaCombineThreads == device::kCombineThreads);
static_assert(sparse_mla_combine_ctas(2) == 1 &&
              kSparseMlaCombineThreads == 2 * device::kCombineLanes);

const std::vector<SparseMlaCompiled>& sparse_mla_compiled_variants() {
  static const std::vector<SparseMlaCompiled> variants = {SMTWIN_FOR_VARIANTS(SMTWIN_CALL)};
  return variants;
}

const SparseMlaCompiled* find_sparse_mla_variant(const SparseMlaTile& tile) {
  const auto& variants = sparse_mla_compiled_variants();
  const auto found = std::find_if(variants.begin(), variants.end(),
                                  [&](const auto& variant) { return variant.tile == tile; });
  return found == variants.end() ? nullptr : &*found;
}

const void* sparse_mla_combine_function() {
  return reinterpret_cast<const void*>(smtwin_sparse_mla_combine);
}

}  // namespace smtwin
