// SPDX-License-Identifier: Apache-2.0
// CTAs that stay and record where they ran: see residency.hpp.
#include "kernels/probes/residency.hpp"

#include <string>

#include "kernels/probes/cta_overlap.hpp"
#include "kernels/probes/probe_point.hpp"
#include "kernels/probes/trace.cuh"
#include "kernels/probes/workspace.cuh"

namespace smtwin {
namespace {

constexpr int kMaxThreads = 256;           // of the kernels with many live values
constexpr long long kStayCycles = 40'000;  // far longer than filling all SMs takes
constexpr int kCtasOffered = 34;           // per SM; no chip has more than 32 slots

// Every value takes part in every turn, so that all stay in registers until the end.
template <int kLive>
__device__ __forceinline__ void stay(const float* random, unsigned* sink, CtaTrace* trace) {
  const TraceStart start = trace_start();
  const float* mine = random + threadIdx.x;
  float value[kLive];
#pragma unroll
  for (int i = 0; i < kLive; ++i) value[i] = mine[i * 32];
  const float factor = mine[kLive * 32];
  while (clock64() - static_cast<long long>(start.clock) < kStayCycles) {
#pragma unroll
    for (int i = 0; i < kLive; ++i) value[i] = fmaf(value[(i + 1) % kLive], factor, value[i]);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kLive; ++i) sum += value[i];
  sink[threadIdx.x] = __float_as_uint(sum);
  trace_end(trace, start);
}

#define SMTWIN_RESIDENCY_KERNEL(live, threads)                                              \
  extern "C" __global__ void __launch_bounds__(threads)                                     \
      smtwin_probe_residency_##live(const float* random, unsigned* sink, CtaTrace* trace) { \
    stay<live>(random, sink, trace);                                                        \
  }
SMTWIN_RESIDENCY_KERNEL(16, 1024)
SMTWIN_RESIDENCY_KERNEL(64, kMaxThreads)
SMTWIN_RESIDENCY_KERNEL(128, kMaxThreads)
#undef SMTWIN_RESIDENCY_KERNEL

}  // namespace

double run_residency(ProbeWorkspace& workspace, const ProbePoint& point) {
  const std::int64_t live = whole_parameter(point, "live_values");
  const std::int64_t threads = whole_parameter(point, "threads_per_cta");
  const std::int64_t shared = whole_parameter(point, "dynamic_shared_bytes");
  if (live != 16 && live != 64 && live != 128)
    refuse_parameter(point, "live_values", "16, 64, 128");
  if (threads < 1 || threads > (live == 16 ? 1024 : kMaxThreads)) {
    refuse_parameter(point, "threads_per_cta", "up to 1024 with 16 live values, else up to 256");
  }
  if (shared > workspace.gpu.shared_bytes_per_cta_optin) {
    refuse_parameter(point, "dynamic_shared_bytes",
                     "up to " + std::to_string(workspace.gpu.shared_bytes_per_cta_optin));
  }
  const auto kernel = live == 16   ? smtwin_probe_residency_16
                      : live == 64 ? smtwin_probe_residency_64
                                   : smtwin_probe_residency_128;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared)),
             "probes: raising a kernel's shared memory");
  if (point.probe == "residency_driver") {
    int ctas = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel,
                                                             static_cast<int>(threads), shared),
               "probes: asking for occupancy");
    return ctas;
  }
  const int grid = workspace.gpu.sm_count * kCtasOffered;
  clear_traces(workspace);
  kernel<<<grid, static_cast<unsigned>(threads), shared, workspace.stream>>>(
      reinterpret_cast<const float*>(workspace.data.data()), workspace.sink.data(),
      workspace.traces.data());
  check_launch("probe residency");
  return most_resident(fetch_traces(workspace, grid));
}

}  // namespace smtwin
