// SPDX-License-Identifier: Apache-2.0
// The main kernel of sparse_mla_decode: one CTA = one request, BLOCK_H heads, one split of the
// tokens. Warps [0, num_warps) compute, those after them gather. With one split the CTA writes the
// output itself; of two, both may join theirs as a cluster; otherwise each writes a partial output
// and its log-sum for the combine kernel.
#pragma once

#include "kernels/sparse_mla_decode/compute.cuh"
#include "kernels/sparse_mla_decode/gather.cuh"
#include "kernels/sparse_mla_decode/join.cuh"
#include "kernels/sparse_mla_decode/trace.cuh"

namespace smtwin::device {

// The barrier of the whole CTA; the two roles meet it in different branches.
template <int Threads>
__device__ __forceinline__ void cta_barrier() {
  asm volatile("barrier.cta.sync 0, %0;" ::"n"(Threads) : "memory");
}

template <class Variant>
__device__ __forceinline__ void prepare_storage(typename Variant::Storage& storage, int thread) {
  if (thread == 0) {
    for (int stage = 0; stage < Variant::kStages; ++stage) {
      // Two arrivals a producer lane, for its stores and its copies; one a compute lane, for its
      // reads.
      mbarrier_init(shared_address(&storage.full[stage]), 2 * 32 * Variant::kProducerWarps);
      mbarrier_init(shared_address(&storage.empty[stage]), Variant::kComputeThreads);
      storage.present[stage] = 0;
    }
    storage.exponent_limit[0] = storage.exponent_limit[1] = 0;
  }
  if (thread < Variant::kHeads) storage.largest_q[thread] = 0;
}

template <class Variant, bool Rope>
__device__ __forceinline__ void compute_role(typename Variant::Storage& storage,
                                             const SparseMlaArguments& arguments, TileRange range,
                                             int warp, unsigned lane) {
  constexpr int kThreads = Variant::kThreads;
  const std::int64_t request = blockIdx.x;
  const int first_head = blockIdx.y * Variant::kBlockH;
  const int length = min(arguments.topk, __ldg(arguments.lengths + request));
  prepare_storage<Variant>(storage, threadIdx.x);

  ComputeWarp<Variant, Rope> warp_state(storage, warp, lane);
  StageCursor<Variant::kStages> cursor;
#pragma unroll 1
  for (int pass = 0; pass < Variant::kPasses; ++pass) {
    const int head = first_head + pass * Variant::kHeads;
    const int heads = min(Variant::kHeads, arguments.heads - head);
    if (heads <= 0) break;
    const std::int64_t row = request * arguments.heads + head;
    warp_state.load_query(arguments.q + row * kMlaHeadDim, heads);
    if (pass == 0) {
      cta_barrier<kThreads>();  // the gather starts
    } else {
      if (threadIdx.x < Variant::kHeads) storage.largest_q[threadIdx.x] = 0;
      if (threadIdx.x == 0) storage.exponent_limit[0] = storage.exponent_limit[1] = 0;
      group_barrier<Variant::kComputeThreads>();
    }
    warp_state.prepare(arguments.scale * kLog2E);
    warp_state.run(cursor, tiles_of<Variant>(range, length));
    const float* sinks = arguments.sinks == nullptr ? nullptr : arguments.sinks + head;
    std::uint16_t* out = arguments.out + row * kMlaHeadDim;
    if constexpr (JoinedOutputs<Variant>::kFits) {
      if (arguments.joined) {
        group_barrier<Variant::kComputeThreads>();  // nobody reads the rows any more
        warp_state.finish(JoinedOutputs<Variant>::outputs(storage), JoinedOutputs<Variant>::kStride,
                          JoinedOutputs<Variant>::log_sums(storage), nullptr, Variant::kHeads);
        cluster_barrier();
        join_splits<Variant>(storage, out, sinks, heads);
        cluster_barrier();
        return;
      }
    }
    const bool whole = arguments.splits == 1;
    const std::int64_t rows = static_cast<std::int64_t>(gridDim.x) * arguments.heads;
    const std::int64_t partial = blockIdx.z * rows + row;
    warp_state.finish(whole ? out : arguments.partial_out + partial * kMlaHeadDim, kMlaHeadDim,
                      whole ? nullptr : arguments.partial_log_sum + partial,
                      whole ? sinks : nullptr, heads);
  }
}

template <class Variant>
__device__ __forceinline__ void gather_role(typename Variant::Storage& storage,
                                            const SparseMlaArguments& arguments, TileRange range,
                                            int producer) {
  Gather<Variant> gather(storage, arguments, range, producer);
  gather.start(arguments.lengths + blockIdx.x);
  cta_barrier<Variant::kThreads>();
  const int heads = arguments.heads - static_cast<int>(blockIdx.y) * Variant::kBlockH;
  gather.run(tiles_of<Variant>(range, gather.length()),
             min(Variant::kPasses, (heads + Variant::kHeads - 1) / Variant::kHeads));
}

template <class Variant>
__device__ __forceinline__ void sparse_mla_decode(const SparseMlaArguments& arguments) {
  extern __shared__ std::uint8_t dynamic_shared[];
  auto& storage = *reinterpret_cast<typename Variant::Storage*>(dynamic_shared);
  trace_start(arguments.trace);
  allow_dependents();
  const unsigned lane = threadIdx.x % 32;
  const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 32), 0);
  const TileRange range = split_range<Variant>(arguments);
  if (warp < Variant::kWarps) {
    if constexpr (Variant::kMovesRegisters) take_registers<Variant::kComputeRegisters>();
    if (warp == Variant::kWarps - 1) {
      compute_role<Variant, true>(storage, arguments, range, warp, lane);
    } else {
      compute_role<Variant, false>(storage, arguments, range, warp, lane);
    }
    trace_end(arguments.trace);
  } else {
    if constexpr (Variant::kMovesRegisters) give_registers<Variant::kProducerRegisters>();
    gather_role<Variant>(storage, arguments, range, warp - Variant::kWarps);
  }
}

}  // namespace smtwin::device
