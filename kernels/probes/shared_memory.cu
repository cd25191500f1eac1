// SPDX-License-Identifier: Apache-2.0
// Shared-memory accesses in a loop: see shared_memory.hpp. Addresses of reads move every iteration
// by whole bank lines, so that no access can be taken out of the loop and conflicts stay as they
// are. A write always goes to the thread's own 16 bytes: nothing races.
#include "kernels/probes/shared_memory.hpp"

#include <utility>

#include "kernels/probes/probe_point.hpp"
#include "kernels/probes/trace.cuh"
#include "kernels/probes/workspace.cuh"

namespace smtwin {
namespace {

constexpr int kWarp = 32;
constexpr int kMaxWarps = 16;
constexpr int kUnroll = 8;
constexpr unsigned kBankLine = 128;  // 32 banks x 4 bytes
constexpr unsigned kAccessOfCta = kMaxWarps * kWarp * 16;
constexpr unsigned kWindows = 4;
constexpr unsigned kSharedBytes = kUnroll * kAccessOfCta;
constexpr int kWavefrontsPerSm = 300'000;  // of one run, some 150 us

struct SharedWork {
  const unsigned* random = nullptr;
  int iterations = 0;  // of kUnroll accesses
  unsigned stride_bytes = 0;
  unsigned* sink = nullptr;
  CtaTrace* trace = nullptr;
};

struct Read16 {
  static constexpr unsigned kStep = kBankLine;         // between unrolled accesses
  static constexpr unsigned kWindow = 16 * kBankLine;  // between iterations
  static __device__ unsigned first(unsigned) { return threadIdx.x * 16; }
  template <int kIndex>
  static __device__ __forceinline__ void access(unsigned address, unsigned& sum) {
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4 + %5];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(address), "n"(kIndex * kStep));
    sum ^= v.x ^ v.y ^ v.z ^ v.w;
  }
};

struct Write16 {
  static constexpr unsigned kStep = kAccessOfCta;
  static constexpr unsigned kWindow = 0;
  static __device__ unsigned first(unsigned stride) { return Read16::first(stride); }
  template <int kIndex>
  static __device__ __forceinline__ void access(unsigned address, unsigned& sum) {
    asm volatile("st.shared.v4.u32 [%0 + %1], {%2, %2, %2, %2};" ::"r"(address),
                 "n"(kIndex * kStep), "r"(sum)
                 : "memory");
  }
};

struct StridedRead4 {
  static constexpr unsigned kStep = Read16::kStep;
  static constexpr unsigned kWindow = Read16::kWindow;
  static __device__ unsigned first(unsigned stride) { return threadIdx.x % kWarp * stride; }
  template <int kIndex>
  static __device__ __forceinline__ void access(unsigned address, unsigned& sum) {
    unsigned v;
    asm volatile("ld.shared.u32 %0, [%1 + %2];" : "=r"(v) : "r"(address), "n"(kIndex * kStep));
    sum ^= v;
  }
};

// Lane l gives row l % 8 of matrix l / 8: sixteen rows, two 16-byte columns.
struct LoadMatrix {
  static constexpr unsigned kStep = Read16::kStep;
  static constexpr unsigned kWindow = Read16::kWindow;
  static __device__ unsigned first(unsigned stride) {
    const unsigned lane = threadIdx.x % kWarp;
    return lane % 16 * stride + lane / 16 * 16;
  }
  template <int kIndex>
  static __device__ __forceinline__ void access(unsigned address, unsigned& sum) {
    uint4 v;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4 + %5];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(address), "n"(kIndex * kStep));
    sum ^= v.x ^ v.y ^ v.z ^ v.w;
  }
};

template <class Access, int... kIndices>
__device__ __forceinline__ void accesses(unsigned address, unsigned& sum,
                                         std::integer_sequence<int, kIndices...>) {
  (Access::template access<kIndices>(address, sum), ...);
}

template <class Access>
__device__ __forceinline__ void shared_body(const SharedWork& work) {
  extern __shared__ uint4 storage[];
  auto* words = reinterpret_cast<unsigned*>(storage);
  for (unsigned i = threadIdx.x; i < kSharedBytes / 4; i += blockDim.x) words[i] = work.random[i];
  const unsigned base =
      static_cast<unsigned>(__cvta_generic_to_shared(storage)) + Access::first(work.stride_bytes);
  unsigned sum = work.random[threadIdx.x] | 1U;
  const TraceStart start = trace_start_together();
  unsigned window = 0;
#pragma unroll 1
  for (int i = 0; i < work.iterations; ++i) {
    accesses<Access>(base + window * Access::kWindow, sum,
                     std::make_integer_sequence<int, kUnroll>{});
    window = (window + 1) % kWindows;
  }
  __syncthreads();
  work.sink[blockIdx.x * blockDim.x + threadIdx.x] = sum ^ words[threadIdx.x];
  trace_end(work.trace, start);
}

#define SMTWIN_SHARED_KERNEL(name, access)                          \
  extern "C" __global__ void __launch_bounds__(kMaxWarps* kWarp, 1) \
      smtwin_probe_##name(SharedWork work) {                        \
    shared_body<access>(work);                                      \
  }
SMTWIN_SHARED_KERNEL(shared_read, Read16)
SMTWIN_SHARED_KERNEL(shared_write, Write16)
SMTWIN_SHARED_KERNEL(shared_stride, StridedRead4)
SMTWIN_SHARED_KERNEL(ldmatrix_stride, LoadMatrix)
#undef SMTWIN_SHARED_KERNEL

}  // namespace

double run_shared_memory(ProbeWorkspace& workspace, const ProbePoint& point) {
  const std::int64_t warps = whole_parameter(point, "warps_per_sm");
  if (warps < 1 || warps > kMaxWarps) refuse_parameter(point, "warps_per_sm", "1 to 16");

  SharedWork work;
  work.random = reinterpret_cast<const unsigned*>(workspace.data.data());
  work.sink = workspace.sink.data();
  work.trace = workspace.traces.data();
  double wavefronts_per_access = 4;  // 16 bytes x 32 lanes over 128 bytes
  auto kernel = point.probe == "shared_read" ? smtwin_probe_shared_read : smtwin_probe_shared_write;
  if (point.probe == "shared_stride") {
    const std::int64_t stride = whole_parameter(point, "stride_words");
    if (stride < 1 || stride > 32) refuse_parameter(point, "stride_words", "1 to 32");
    work.stride_bytes = static_cast<unsigned>(stride * 4);
    wavefronts_per_access = double(stride);
    kernel = smtwin_probe_shared_stride;
  } else if (point.probe == "ldmatrix_stride") {
    const std::int64_t row = whole_parameter(point, "row_bytes");
    if (row < 16 || row > 1024 || row % 16 != 0) {
      refuse_parameter(point, "row_bytes", "a multiple of 16 up to 1024");
    }
    work.stride_bytes = static_cast<unsigned>(row);
    wavefronts_per_access = 16;  // between 4 and 32
    kernel = smtwin_probe_ldmatrix_stride;
  }
  const double accesses_per_warp = kWavefrontsPerSm / wavefronts_per_access / double(warps);
  work.iterations = static_cast<int>(accesses_per_warp / kUnroll);
  check_cuda(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
      "probes: raising a kernel's shared memory");
  kernel<<<workspace.gpu.sm_count, static_cast<unsigned>(warps * kWarp), kSharedBytes,
           workspace.stream>>>(work);
  check_launch("probe " + point.probe);
  const CtaTime time = mean_time(fetch_traces(workspace, workspace.gpu.sm_count));
  const double accesses_of_sm = double(work.iterations) * kUnroll * double(warps);
  if (point.unit == "cycles") return time.cycles / accesses_of_sm;
  return accesses_of_sm * kWarp * 16 / time.cycles;
}

}  // namespace smtwin
