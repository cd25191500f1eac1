// SPDX-License-Identifier: Apache-2.0
// Thread 0 of a CTA writes when and where the CTA ran. A null trace costs one branch.
#pragma once

#include <cstdint>

#include "kernels/cta_trace.hpp"

namespace smtwin::device {

__device__ __forceinline__ std::int64_t trace_index() {
  return blockIdx.x +
         static_cast<std::int64_t>(gridDim.x) * (blockIdx.y + std::int64_t{gridDim.y} * blockIdx.z);
}
__device__ __forceinline__ std::uint64_t global_nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__device__ __forceinline__ void trace_start(CtaTrace* trace) {
  if (trace == nullptr || threadIdx.x != 0) return;
  CtaTrace& entry = trace[trace_index()];
  std::uint32_t sm;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  entry.sm = sm;
  entry.start_ns = global_nanoseconds();
  entry.start_clock = static_cast<std::uint64_t>(clock64());
}

__device__ __forceinline__ void trace_end(CtaTrace* trace) {
  if (trace == nullptr || threadIdx.x != 0) return;
  CtaTrace& entry = trace[trace_index()];
  entry.end_clock = static_cast<std::uint64_t>(clock64());
  entry.end_ns = global_nanoseconds();
  entry.written = 1;
}

}  // namespace smtwin::device
