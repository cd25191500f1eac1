// SPDX-License-Identifier: Apache-2.0
// The body of the Hopper variants of dense_gemm. One more warp only copies: it fills the ring of
// stages by tensor copies, the others multiply with wgmma and hand stages back. Two barriers a
// stage, none for the whole CTA, so copies run as far ahead as the ring is long. Partition, layout
// in shared memory and epilogue are those of the mma.sync variants (cta.cuh).
#pragma once

#include "kernels/dense_gemm/cluster.cuh"
#include "kernels/dense_gemm/epilogue.cuh"
#include "kernels/dense_gemm/kernel.cuh"
#include "kernels/dense_gemm/tma.cuh"
#include "kernels/dense_gemm/trace.cuh"
#include "kernels/dense_gemm/wgmma.cuh"

namespace smtwin::gemm {

inline constexpr int kCopyWarpThreads = 32;

// Starts at a multiple of 1024 bytes, the period of the swizzle.
template <typename C>
struct WgmmaStorage {
  unsigned char stages[C::kStages][C::kStageBytes];
  std::uint64_t full[C::kStages];
  std::uint64_t empty[C::kStages];
  std::uint32_t last;  // this CTA sums the tile
  std::uint32_t unused[3];
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// A place in the ring; the parity of its barriers changes with every round.
template <typename C>
struct RingPlace {
  int stage = 0;
  std::uint32_t parity = 0;
  __device__ void advance() {
    if (++stage == C::kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

template <typename C>
struct Producer {
  const GemmArgs& args;
  const TensorMaps& maps;
  WgmmaStorage<C>& storage;
  int step, end;
  int tile, k_step;
  RingPlace<C> place;
  std::uint64_t weight_policy, activation_policy;

  __device__ Producer(const GemmArgs& arguments, const TensorMaps& tensor_maps,
                      WgmmaStorage<C>& shared, int first, int last)
      : args(arguments), maps(tensor_maps), storage(shared), step(first), end(last) {
    tile = step / args.work.k_steps;
    k_step = step - tile * args.work.k_steps;
    weight_policy = args.tiles_m > 1 ? policy_evict_normal() : policy_evict_first();
    activation_policy = policy_evict_last();
  }

  __device__ void copy_step() {
    const TilePlace at = tile_place(args, tile);
    const std::uint32_t to = shared_address(storage.stages[place.stage]);
    std::uint64_t* const full = &storage.full[place.stage];
    barrier_expect(full, static_cast<std::uint32_t>(C::kWeightBytes + args.a_box_rows * kRowBytes));
    copy_box(to, maps.w, k_step * kRowBytes, at.n * C::kBlockN, full, weight_policy);
    copy_box(to + C::kWeightBytes, maps.a, k_step * kRowBytes, at.m * C::kBlockM, full,
             activation_policy);
    place.advance();
    ++step;
    if (++k_step == args.work.k_steps) {
      k_step = 0;
      ++tile;
    }
  }

  __device__ void fill_ring() {
    const int stop = min(end, step + C::kStages);
#pragma unroll 1
    while (step < stop) copy_step();
  }

  __device__ void keep_filled() {
#pragma unroll 1
    while (step < end) {
      barrier_wait(&storage.empty[place.stage], place.parity ^ 1);
      copy_step();
    }
  }
};

template <typename C>
__device__ void multiply_stage_wgmma(Accumulators<C>& sums, std::uint32_t stage) {
  constexpr int kGroupRows = 64;
  const auto group = __shfl_sync(0xFFFFFFFFu, threadIdx.x / 128, 0);
  const std::uint64_t w = matrix_descriptor(stage + group * kGroupRows * kRowBytes);
  const std::uint64_t a = matrix_descriptor(stage + C::kWeightBytes);
  wgmma_begin();
#pragma unroll
  for (int depth = 0; depth < kRowBytes / kDepthBytes; ++depth) {
    const std::uint64_t k = depth * kDepthBytes >> 4;
#pragma unroll
    for (int tile = 0; tile < C::kRowTiles; ++tile) {
      const std::uint64_t rows = tile * C::kRowStride * kRowBytes >> 4;
      warpgroup_multiply<C::kFp8, C::kGroups>(sums[tile], w + rows + k, a + k);
    }
  }
  wgmma_commit();
}

// Multiplies the steps up to `stop` and hands every stage back.
template <typename C>
__device__ void multiply_steps(Accumulators<C>& sums, WgmmaStorage<C>& storage, RingPlace<C>& place,
                               int step, int stop) {
  const bool speaks = threadIdx.x % 32 == 0;  // for its warp
  int done = -1;                              // the stage whose multiply may still run
#pragma unroll 1
  for (; step < stop; ++step) {
    barrier_wait(&storage.full[place.stage], place.parity);
    multiply_stage_wgmma<C>(sums, shared_address(storage.stages[place.stage]));
    wgmma_wait<1>();
    if (done >= 0 && speaks) barrier_arrive(&storage.empty[done]);
    done = place.stage;
    place.advance();
  }
  wgmma_wait<0>();
  if (done >= 0 && speaks) barrier_arrive(&storage.empty[done]);
}

template <typename C>
__device__ void consume(const GemmArgs& args, WgmmaStorage<C>& storage, int step, int end) {
  RingPlace<C> place;
  while (step < end) {
    const int tile = step / args.work.k_steps;
    const int first = tile * args.work.k_steps;
    const int stop = min(end, first + args.work.k_steps);
    const bool starts_tile = step == first;
    const bool whole = starts_tile && stop == first + args.work.k_steps;
    Accumulators<C> sums = {}, part;
    bool fetched = false;
    if (!whole && args.cluster_ctas == 1) {
      // The last steps are on their way already: time to fetch what the other CTA has left.
      const int pause = max(step, stop - C::kStages);
      multiply_steps<C>(sums, storage, place, step, pause);
      fetched = fetch_other<C>(part, args, tile, starts_tile, &storage.last);
      step = pause;
    }
    multiply_steps<C>(sums, storage, place, step, stop);
    step = stop;
    if (fetched) add<C>(sums, part);
    if (args.cluster_ctas > 1) {
      sum_in_cluster<C>(sums, args, tile, storage.stages[0]);
    } else if (whole || fetched || gather_tile<C>(sums, args, tile, starts_tile, &storage.last)) {
      store_tile<C>(sums, args, tile);
    }
  }
}

#endif

template <typename C>
__device__ void run_cta_wgmma(const GemmArgs& args, const TensorMaps& maps, CtaTrace* trace,
                              WgmmaStorage<C>& storage) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  const TraceStart start = trace_start(trace);
  const int cta = static_cast<int>(blockIdx.x);
  const bool copies = threadIdx.x / 32 == C::kThreads / 32;
  const int step = args.work.first_step(cta), end = args.work.first_step(cta + 1);
  if (copies) {
    const bool leads = threadIdx.x % 32 == 0;
    Producer<C> producer(args, maps, storage, step, end);
    if (leads) {
      prefetch_map(maps.w);
      prefetch_map(maps.a);
      for (int i = 0; i < C::kStages; ++i) {
        barrier_init(&storage.full[i], 1);
        barrier_init(&storage.empty[i], C::kThreads / 32);
      }
      publish_barriers();
      producer.fill_ring();
    }
    __syncwarp();
    __syncthreads();
    if (leads) producer.keep_filled();
    __syncwarp();
    if (args.cluster_ctas > 1) {
      sync_cluster();
      sync_cluster();
    }
    return;
  }
  __syncthreads();
  consume<C>(args, storage, step, end);
  if (threadIdx.x == 0) trace_end(trace, start);
#endif
}

}  // namespace smtwin::gemm
