// SPDX-License-Identifier: Apache-2.0
// When and where this CTA ran, written by one of its threads if somebody asked.
#pragma once

#include "kernels/cta_trace.hpp"
#include "kernels/dense_gemm/ptx.cuh"

namespace smtwin::gemm {

struct TraceStart {
  std::uint64_t clock = 0;
  std::uint64_t ns = 0;
};

__device__ inline TraceStart trace_start(const CtaTrace* trace) {
  if (trace == nullptr) return {};
  return {static_cast<std::uint64_t>(clock64()), global_nanoseconds()};
}

__device__ inline void trace_end(CtaTrace* trace, const TraceStart& start) {
  if (trace == nullptr) return;
  trace[blockIdx.x] = {.sm = sm_id(),
                       .written = 1,
                       .start_clock = start.clock,
                       .end_clock = static_cast<std::uint64_t>(clock64()),
                       .start_ns = start.ns,
                       .end_ns = global_nanoseconds()};
}

}  // namespace smtwin::gemm
