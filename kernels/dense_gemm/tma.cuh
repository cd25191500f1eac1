// SPDX-License-Identifier: Apache-2.0
// Bulk tensor copies into shared memory and the barriers they complete on, for the Hopper variants
// of dense_gemm. Source: PTX ISA 9.0, "mbarrier" and "cp.async.bulk.tensor".
#pragma once

#include <cstdint>

#include "kernels/dense_gemm/ptx.cuh"

namespace smtwin::gemm {

// A CUtensorMap, opaque here: what a box of a matrix is and how it lies in shared memory.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

struct TensorMaps {
  TensorMap w;
  TensorMap a;
};

__device__ inline void barrier_init(std::uint64_t* barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}

// Makes initialized barriers visible to the copy engine.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}

// One arrival; the phase ends when `bytes` have come as well.
__device__ inline void barrier_expect(std::uint64_t* barrier, std::uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

__device__ inline void barrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

__device__ inline void barrier_wait(std::uint64_t* barrier, std::uint32_t parity) {
  const std::uint32_t address = shared_address(barrier);
  std::uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(address), "r"(parity)
        : "memory");
  }
}

// The box whose first element is (column, row); what lies outside the matrix becomes zero.
__device__ inline void copy_box(std::uint32_t to, const TensorMap& map, int column, int row,
                                std::uint64_t* barrier, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(&map), "r"(column), "r"(row), "r"(shared_address(barrier)), "l"(policy)
      : "memory");
}

__device__ inline void prefetch_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

}  // namespace smtwin::gemm
