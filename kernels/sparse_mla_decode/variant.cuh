// SPDX-License-Identifier: Apache-2.0
// Defines one variant of sparse_mla_decode: its __global__ function under a readable name, and the
// function that describes it to the launcher.
#pragma once

#include "kernels/sparse_mla_decode/compiled_variants.hpp"
#include "kernels/sparse_mla_decode/main_kernel.cuh"

namespace smtwin::device {

template <class Variant>
SparseMlaCompiled compiled_variant(const char* symbol, const void* function) {
  return {Variant::kTile,
          symbol,
          function,
          Variant::kThreads,
          sizeof(typename Variant::Storage),
          JoinedOutputs<Variant>::kFits};
}

}  // namespace smtwin::device

// clang-format off
#define SMTWIN_SPARSE_MLA_VARIANT(BH, BT, W, S)                                                  \
  using Variant_##BH##_##BT##_##W##_##S = smtwin::device::SparseMlaVariant<BH, BT, W, S>;        \
  extern "C" __global__ void __launch_bounds__(Variant_##BH##_##BT##_##W##_##S::kThreads,        \
                                               Variant_##BH##_##BT##_##W##_##S::kMinCtas)        \
      smtwin_sparse_mla_bh##BH##_bt##BT##_w##W##_s##S(                                           \
          const __grid_constant__ smtwin::device::SparseMlaArguments arguments) {                \
    smtwin::device::sparse_mla_decode<Variant_##BH##_##BT##_##W##_##S>(arguments);               \
  }                                                                                              \
  smtwin::SparseMlaCompiled sparse_mla_compiled_##BH##_##BT##_##W##_##S() {                      \
    return smtwin::device::compiled_variant<Variant_##BH##_##BT##_##W##_##S>(                    \
        "smtwin_sparse_mla_bh" #BH "_bt" #BT "_w" #W "_s" #S,                                    \
        reinterpret_cast<const void*>(smtwin_sparse_mla_bh##BH##_bt##BT##_w##W##_s##S));         \
  }
// clang-format on
