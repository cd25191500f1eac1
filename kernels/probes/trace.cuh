// SPDX-License-Identifier: Apache-2.0
// How a probe kernel records when and where each CTA ran (kernels/cta_trace.hpp).
#pragma once

#include "kernels/cta_trace.hpp"

namespace smtwin {

struct TraceStart {
  unsigned long long clock;
  unsigned long long ns;
};

__device__ __forceinline__ unsigned long long global_timer_ns() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__device__ __forceinline__ TraceStart trace_start() {
  return {static_cast<unsigned long long>(clock64()), global_timer_ns()};
}

// By all threads of the CTA, before work that all warps begin together. The clock is read before
// any warp can begin: a warp that never waits can keep the one that reads it from issuing.
__device__ __forceinline__ TraceStart trace_start_together() {
  __syncthreads();
  const TraceStart start = trace_start();
  __syncthreads();
  return start;
}

// By all threads of the CTA: it ends when its last warp is here. `trace` may be null.
__device__ __forceinline__ void trace_end(CtaTrace* trace, const TraceStart& start) {
  if (trace == nullptr) return;
  __syncthreads();
  if (threadIdx.x != 0) return;
  CtaTrace& mine = trace[blockIdx.x];
  asm volatile("mov.u32 %0, %%smid;" : "=r"(mine.sm));
  mine.start_clock = start.clock;
  mine.end_clock = static_cast<unsigned long long>(clock64());
  mine.start_ns = start.ns;
  mine.end_ns = global_timer_ns();
  mine.written = 1;
}

}  // namespace smtwin
