// SPDX-License-Identifier: Apache-2.0
// Hopper's warpgroup multiply for dense_gemm: 64 rows of W x N rows of A x 32 bytes of K, both
// operands in shared memory as rows of 128 bytes in the 128-byte swizzle. Only sm_90a has it.
// FP8 products are added with fewer bits than FP32 has: against float64 the error of D grows from
// 1.7e-3 (rounding to BF16 alone) to 2.7e-3 at k = 8192 and 4.7e-3 at k = 28672 (H200, normal
// data). Source: PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include <cstdint>

namespace smtwin::gemm {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// Address of an operand for the instruction: K-major, groups of 8 rows 1024 bytes apart.
__device__ inline std::uint64_t matrix_descriptor(std::uint32_t address) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62;
  constexpr std::uint64_t kGroupStride = std::uint64_t{1024 >> 4} << 32;
  constexpr std::uint64_t kUnusedStride = std::uint64_t{1} << 16;
  return kSwizzle128 | kGroupStride | kUnusedStride | ((address & 0x3FFFF) >> 4);
}

__device__ inline void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// All but the last kPending groups are done.
template <int kPending>
__device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#define SMTWIN_C4(c) "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
#define SMTWIN_WGMMA_8(shape, types, tail)                            \
  asm volatile("wgmma.mma_async.sync.aligned." shape ".f32." types    \
               " {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, " tail ";" \
               : SMTWIN_C4(c[0]), SMTWIN_C4(c[1])                     \
               : "l"(w), "l"(a))
#define SMTWIN_WGMMA_16(shape, types, tail)                                          \
  asm volatile("wgmma.mma_async.sync.aligned." shape ".f32." types                   \
               " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, " \
               "%15}, %16, %17, " tail ";"                                           \
               : SMTWIN_C4(c[0]), SMTWIN_C4(c[1]), SMTWIN_C4(c[2]), SMTWIN_C4(c[3])  \
               : "l"(w), "l"(a))
#define SMTWIN_WGMMA_32(shape, types, tail)                                             \
  asm volatile("wgmma.mma_async.sync.aligned." shape ".f32." types                      \
               " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "    \
               "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, " \
               "%29, %30, %31}, %32, %33, " tail ";"                                    \
               : SMTWIN_C4(c[0]), SMTWIN_C4(c[1]), SMTWIN_C4(c[2]), SMTWIN_C4(c[3]),    \
                 SMTWIN_C4(c[4]), SMTWIN_C4(c[5]), SMTWIN_C4(c[6]), SMTWIN_C4(c[7])     \
               : "l"(w), "l"(a))

// c += w x a. kGroups 8-row groups of A; c as mma.sync m16n8 lays it out, warp w holds rows 16w on.
template <bool kFp8, int kGroups>
__device__ void warpgroup_multiply(float (&c)[kGroups][4], std::uint64_t w, std::uint64_t a) {
  static_assert(kGroups == 2 || kGroups == 4 || kGroups == 8);
  if constexpr (kFp8) {
    if constexpr (kGroups == 2) SMTWIN_WGMMA_8("m64n16k32", "e4m3.e4m3", "1, 1, 1");
    if constexpr (kGroups == 4) SMTWIN_WGMMA_16("m64n32k32", "e4m3.e4m3", "1, 1, 1");
    if constexpr (kGroups == 8) SMTWIN_WGMMA_32("m64n64k32", "e4m3.e4m3", "1, 1, 1");
  } else {
    if constexpr (kGroups == 2) SMTWIN_WGMMA_8("m64n16k16", "bf16.bf16", "1, 1, 1, 0, 0");
    if constexpr (kGroups == 4) SMTWIN_WGMMA_16("m64n32k16", "bf16.bf16", "1, 1, 1, 0, 0");
    if constexpr (kGroups == 8) SMTWIN_WGMMA_32("m64n64k16", "bf16.bf16", "1, 1, 1, 0, 0");
  }
}
#undef SMTWIN_WGMMA_32
#undef SMTWIN_WGMMA_16
#undef SMTWIN_WGMMA_8
#undef SMTWIN_C4

#endif

}  // namespace smtwin::gemm
