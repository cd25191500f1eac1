// SPDX-License-Identifier: Apache-2.0
// Streams over DRAM and L2: see memory_stream.hpp. Chunk i of the walk is 256 x n accesses of
// 16 bytes; CTA c takes chunks c, c + grid, c + 2 grid ... of a ring of `chunks`.
#include "kernels/probes/memory_stream.hpp"

#include <array>

#include "arch/error.hpp"
#include "kernels/probes/probe_point.hpp"
#include "kernels/probes/trace.cuh"
#include "kernels/probes/workspace.cuh"

namespace smtwin {
namespace {

struct StreamWork {
  const uint4* from = nullptr;
  uint4* to = nullptr;
  unsigned chunks = 0;      // of the data; the walk wraps there
  unsigned iterations = 0;  // chunks a CTA takes
  unsigned salt = 1;        // of the values written
  unsigned* sink = nullptr;
  CtaTrace* trace = nullptr;
};

// Past L1 (.cg), so that a small working set is not served from there.
__device__ __forceinline__ uint4 load_l2(const uint4* address) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address));
  return v;
}

__device__ __forceinline__ void fold(unsigned& sum, const uint4& v) {
  sum += v.x ^ v.y ^ v.z ^ v.w;
}

// Walks the ring: first(), then next() for each further iteration.
struct ChunkWalk {
  unsigned chunk;
  unsigned step;
  unsigned chunks;
  __device__ explicit ChunkWalk(const StreamWork& work)
      : chunk(blockIdx.x % work.chunks), step(gridDim.x % work.chunks), chunks(work.chunks) {}
  __device__ void advance() {
    chunk += step;
    if (chunk >= chunks) chunk -= chunks;
  }
  // Element of this thread's first access.
  __device__ std::int64_t element(int accesses) const {
    return std::int64_t{chunk} * (kStreamThreads * accesses) + threadIdx.x;
  }
};

template <int kAccesses>
__device__ __forceinline__ void read_body(const StreamWork& work) {
  const TraceStart start = trace_start();
  ChunkWalk walk(work);
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < work.iterations; ++i, walk.advance()) {
    const uint4* from = work.from + walk.element(kAccesses);
    uint4 v[kAccesses];
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) v[a] = load_l2(from + a * kStreamThreads);
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) fold(sum, v[a]);
  }
  work.sink[blockIdx.x * kStreamThreads + threadIdx.x] = sum;
  trace_end(work.trace, start);
}

template <int kAccesses>
__device__ __forceinline__ void write_body(const StreamWork& work) {
  ChunkWalk walk(work);
  uint4 v = {work.salt ^ threadIdx.x, work.salt * blockIdx.x + 1, work.salt + threadIdx.x, 7};
#pragma unroll 1
  for (unsigned i = 0; i < work.iterations; ++i, walk.advance()) {
    uint4* to = work.to + walk.element(kAccesses);
    v.w += work.salt;
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) to[a * kStreamThreads] = v;
  }
}

template <int kAccesses>
__device__ __forceinline__ void copy_body(const StreamWork& work) {
  ChunkWalk walk(work);
#pragma unroll 1
  for (unsigned i = 0; i < work.iterations; ++i, walk.advance()) {
    const std::int64_t element = walk.element(kAccesses);
    uint4 v[kAccesses];
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) v[a] = load_l2(work.from + element + a * kStreamThreads);
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) work.to[element + a * kStreamThreads] = v[a];
  }
}

// A ring of kStages slots a thread, each filled by one 16-byte cp.async; no thread reads another's
// slot, so no barrier is needed.
template <int kStages>
__device__ __forceinline__ void async_body(const StreamWork& work) {
  extern __shared__ uint4 ring[];
  const unsigned mine = static_cast<unsigned>(__cvta_generic_to_shared(ring + threadIdx.x));
  constexpr unsigned kSlotBytes = kStreamThreads * kStreamAccessBytes;
  ChunkWalk walk(work);
  unsigned sum = 0;
  unsigned issued = 0;
  const auto issue = [&](unsigned slot) {
    if (issued < work.iterations) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(mine + slot * kSlotBytes),
                   "l"(work.from + walk.element(1))
                   : "memory");
      walk.advance();
      ++issued;
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int slot = 0; slot < kStages; ++slot) issue(slot);
#pragma unroll 1
  for (unsigned i = 0; i < work.iterations; i += kStages) {
#pragma unroll
    for (int slot = 0; slot < kStages; ++slot) {
      asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 1) : "memory");
      uint4 v;
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                   : "r"(mine + slot * kSlotBytes)
                   : "memory");
      fold(sum, v);
      issue(slot);
    }
  }
  work.sink[blockIdx.x * kStreamThreads + threadIdx.x] = sum;
}

// A bound of 4 CTAs leaves 64 registers a thread; all but the deepest batch stay within the 32 that
// eight CTAs an SM need.
#define SMTWIN_STREAM_KERNELS(n)                                  \
  extern "C" __global__ void __launch_bounds__(kStreamThreads, 4) \
      smtwin_probe_stream_read_##n(StreamWork work) {             \
    read_body<n>(work);                                           \
  }                                                               \
  extern "C" __global__ void __launch_bounds__(kStreamThreads, 4) \
      smtwin_probe_stream_write_##n(StreamWork work) {            \
    write_body<n>(work);                                          \
  }                                                               \
  extern "C" __global__ void __launch_bounds__(kStreamThreads, 4) \
      smtwin_probe_stream_copy_##n(StreamWork work) {             \
    copy_body<n>(work);                                           \
  }                                                               \
  extern "C" __global__ void __launch_bounds__(kStreamThreads, 4) \
      smtwin_probe_stream_async_##n(StreamWork work) {            \
    async_body<n>(work);                                          \
  }
SMTWIN_STREAM_KERNELS(1)
SMTWIN_STREAM_KERNELS(2)
SMTWIN_STREAM_KERNELS(4)
SMTWIN_STREAM_KERNELS(8)
#undef SMTWIN_STREAM_KERNELS

using StreamKernel = void (*)(StreamWork);
struct StreamKernels {
  int accesses;
  StreamKernel read, write, copy, async;
};
#define SMTWIN_STREAM_ROW(n)                                                                      \
  StreamKernels {                                                                                 \
    n, smtwin_probe_stream_read_##n, smtwin_probe_stream_write_##n, smtwin_probe_stream_copy_##n, \
        smtwin_probe_stream_async_##n                                                             \
  }
constexpr std::array kStreamKernels{SMTWIN_STREAM_ROW(1), SMTWIN_STREAM_ROW(2),
                                    SMTWIN_STREAM_ROW(4), SMTWIN_STREAM_ROW(8)};
#undef SMTWIN_STREAM_ROW

const StreamKernels& kernels_for(const ProbePoint& point, std::int64_t accesses) {
  for (const StreamKernels& kernels : kStreamKernels) {
    if (kernels.accesses == accesses) return kernels;
  }
  refuse_parameter(point, "bytes_in_flight_per_sm", "1, 2, 4 or 8 accesses of 16 B a thread");
}

// First element of the quarter of the data that this repetition uses.
std::int64_t next_window(ProbeWorkspace& workspace) {
  const std::int64_t window = workspace.stream_window;
  workspace.stream_window = (window + 1) % kStreamWindows;
  return window * (kStreamBytes / kStreamAccessBytes);
}

}  // namespace

double run_memory_stream(ProbeWorkspace& workspace, const ProbePoint& point) {
  const std::int64_t ctas = whole_parameter(point, "ctas_per_sm");
  const std::int64_t in_flight = whole_parameter(point, "bytes_in_flight_per_sm");
  if (ctas < 1 || ctas > 8) refuse_parameter(point, "ctas_per_sm", "1 to 8");
  const bool async = point.probe == "dram_read_async";
  const bool copy = point.probe == "dram_copy";
  const bool write = point.probe == "dram_write" || point.probe == "l2_write";
  const bool l2 = point.probe == "l2_read" || point.probe == "l2_write";

  const std::int64_t per_access = ctas * kStreamThreads * kStreamAccessBytes;
  const StreamKernels& kernels =
      kernels_for(point, in_flight % per_access == 0 ? in_flight / per_access : 0);
  const std::int64_t grid = ctas * workspace.gpu.sm_count;
  const std::int64_t accesses = async ? 1 : kernels.accesses;
  const std::int64_t chunk_bytes = accesses * kStreamThreads * kStreamAccessBytes;
  const std::int64_t walked = copy ? kStreamBytes / 2 : kStreamBytes;

  StreamWork work;
  work.iterations = static_cast<unsigned>(walked / (grid * chunk_bytes));
  const std::int64_t bytes = work.iterations * grid * chunk_bytes;
  const std::int64_t data_bytes = l2 ? whole_parameter(point, "working_set_bytes") : bytes;
  if (data_bytes < chunk_bytes || data_bytes > kStreamBytes) {
    refuse_parameter(point, "working_set_bytes", "32 KiB to 1 GiB");
  }
  work.chunks = static_cast<unsigned>(data_bytes / chunk_bytes);
  const std::int64_t first = l2 ? 0 : next_window(workspace);
  work.from = workspace.data.data() + first;
  // A copy writes to the quarter opposite to the one it reads.
  const std::int64_t opposite = kStreamBytes / kStreamAccessBytes * (kStreamWindows / 2);
  work.to = workspace.data.data() + (copy ? (first + opposite) % workspace.data.count() : first);
  work.salt = static_cast<unsigned>(workspace.seed) | 1U;
  work.sink = workspace.sink.data();

  const StreamKernel kernel = async   ? kernels.async
                              : copy  ? kernels.copy
                              : write ? kernels.write
                                      : kernels.read;
  const std::int64_t shared = async ? kernels.accesses * kStreamThreads * kStreamAccessBytes : 0;
  const double seconds = seconds_of(workspace, [&] {
    kernel<<<static_cast<unsigned>(grid), kStreamThreads, shared, workspace.stream>>>(work);
    check_launch("probe " + point.probe);
  });
  return double(bytes) * (copy ? 2 : 1) / seconds;
}

void enqueue_stream_read(ProbeWorkspace& workspace, CtaTrace* traces) {
  constexpr int kAccesses = 4;
  constexpr int kCtasPerSm = 8;
  const int grid = kCtasPerSm * workspace.gpu.sm_count;
  StreamWork work;
  work.from = workspace.data.data() + next_window(workspace);
  work.chunks = kStreamBytes / (kAccesses * kStreamThreads * kStreamAccessBytes);
  work.iterations = work.chunks / grid;
  work.sink = workspace.sink.data();
  work.trace = traces;
  smtwin_probe_stream_read_4<<<grid, kStreamThreads, 0, workspace.stream>>>(work);
  check_launch("probe dram_read");
}

}  // namespace smtwin
