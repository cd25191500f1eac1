// SPDX-License-Identifier: Apache-2.0
// The body of the mma.sync variants of dense_gemm: one CTA's walk over its steps. All warps copy
// ahead and multiply.
#pragma once

#include "kernels/dense_gemm/epilogue.cuh"
#include "kernels/dense_gemm/kernel.cuh"
#include "kernels/dense_gemm/trace.cuh"

namespace smtwin::gemm {

template <typename C>
__device__ void run_cta(const GemmArgs& args, CtaTrace* trace, Storage<C>& storage) {
  const TraceStart start = trace_start(trace);
  const int cta = static_cast<int>(blockIdx.x);
  const int end = args.work.first_step(cta + 1);
  int step = args.work.first_step(cta);
  const std::uint32_t stages = shared_address(&storage.stages[0][0]);
  Loader<C> loader(args, stages, step, end);
  int missing = C::kStages - 1;  // steps still to be copied ahead of the first multiply

  int stage = 0;
  while (step < end) {
    const int tile = step / args.work.k_steps;
    const int first = tile * args.work.k_steps;
    const int stop = min(end, first + args.work.k_steps);
    const bool starts_tile = step == first;
    const bool whole = starts_tile && stop == first + args.work.k_steps;
    Accumulators<C> sums = {};
#pragma unroll 1
    while (step < stop) {
      if (missing == 0) {
        copy_async_wait<C::kStages - 2>();
        __syncthreads();
      }
      loader.next();
      // The first turns only copy. One loop for both: a cold launch also waits for its code.
      if (missing > 0) {
        --missing;
        continue;
      }
      const std::uint32_t at = stages + static_cast<std::uint32_t>(stage * C::kStageBytes);
      multiply_stage<C>(sums, at);
      stage = stage + 1 == C::kStages ? 0 : stage + 1;
      ++step;
    }
    if (whole || gather_tile<C>(sums, args, tile, starts_tile, &storage.last)) {
      store_tile<C>(sums, args, tile);
    }
  }

  __syncthreads();
  if (threadIdx.x == 0) trace_end(trace, start);
}

}  // namespace smtwin::gemm
