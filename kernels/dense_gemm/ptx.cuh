// SPDX-License-Identifier: Apache-2.0
// The PTX instructions of dense_gemm, each as a function: asynchronous copies with an L2 policy,
// operand loads, mma.sync, Hopper's wgmma, and what publishes sums between CTAs.
// Source: PTX ISA 9.0, sections on cp.async, ldmatrix, mma, wgmma.
#pragma once

#include <cstdint>

namespace smtwin::gemm {

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// What is read once should leave the L2 first, what every CTA reads last.
__device__ inline std::uint64_t policy_evict_first() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ inline std::uint64_t policy_evict_normal() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ inline std::uint64_t policy_evict_last() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// 16 bytes past the L1 to shared memory; only the first `bytes` are read, the rest is zero.
__device__ inline void copy_async(std::uint32_t to, const void* from, std::uint32_t bytes,
                                  std::uint64_t policy) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(to),
               "l"(from), "r"(bytes), "l"(policy)
               : "memory");
}

__device__ inline void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kPending>
__device__ void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// Four 8 x 8 matrices of 16-bit elements (8 x 16 of bytes); lane i gives the address of row i % 8
// of matrix i / 8.
__device__ inline void load_matrices(std::uint32_t (&to)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

// Transposes an 8 x 8 matrix of 16-bit elements that a warp holds two a lane.
__device__ inline std::uint32_t transpose(std::uint32_t pair) {
  std::uint32_t out;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(pair));
  return out;
}

// Lower half = round(low), upper half = round(high).
__device__ inline std::uint32_t pack_bf16(float low, float high) {
  std::uint32_t out;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
  return out;
}

// c += w x a: 16 rows of W x 8 rows of A x 16 elements of K.
template <bool kHalf>
__device__ void multiply_16bit(float (&c)[4], std::uint32_t w0, std::uint32_t w1, std::uint32_t w2,
                               std::uint32_t w3, std::uint32_t a0, std::uint32_t a1) {
  if constexpr (kHalf) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(w0), "r"(w1), "r"(w2), "r"(w3), "r"(a0), "r"(a1));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(w0), "r"(w1), "r"(w2), "r"(w3), "r"(a0), "r"(a1));
  }
}

// c += w x a for 32 E4M3 elements of K.
__device__ inline void multiply_e4m3(float (&c)[4], const std::uint32_t (&w)[4], std::uint32_t a0,
                                     std::uint32_t a1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(a0), "r"(a1));
}

// Four E4M3 values as two pairs of FP16, exactly.
__device__ inline void widen(std::uint32_t (&to)[2], std::uint32_t from) {
  asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\ncvt.rn.f16x2.e4m3x2 %0, low;\n"
      "cvt.rn.f16x2.e4m3x2 %1, high;\n}"
      : "=r"(to[0]), "=r"(to[1])
      : "r"(from));
}

__device__ inline std::uint32_t load_acquire(const std::uint32_t* from) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

__device__ inline std::uint32_t add_acquire_release(std::uint32_t* to, std::uint32_t count) {
  std::uint32_t before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(to), "r"(count)
               : "memory");
  return before;
}

__device__ inline std::uint32_t sm_id() {
  std::uint32_t value;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(value));
  return value;
}

__device__ inline std::uint64_t global_nanoseconds() {
  std::uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value));
  return value;
}

}  // namespace smtwin::gemm
