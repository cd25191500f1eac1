// SPDX-License-Identifier: Apache-2.0
// Buffers of the probes, timing by traces, and the kernel that keeps the GPU busy.
#include "kernels/probes/workspace.cuh"

#include <array>
#include <string>

#include "arch/error.hpp"
#include "kernels/probes/trace.cuh"

namespace smtwin {
namespace {

constexpr std::int64_t kMaxTraces = 1 << 16;
constexpr std::int64_t kSinkWords = 1 << 20;
constexpr int kFillThreads = 256;

// A well-mixed word for every index (the finalizer of splitmix64, Steele et al. 2014).
__device__ __forceinline__ unsigned long long mixed(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

extern "C" __global__ void smtwin_probe_fill(uint4* data, std::int64_t count,
                                             unsigned long long seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i < count; i += stride) {
    const unsigned long long low = mixed(seed ^ (2 * i));
    const unsigned long long high = mixed(seed ^ (2 * i + 1));
    data[i] = {static_cast<unsigned>(low), static_cast<unsigned>(low >> 32),
               static_cast<unsigned>(high), static_cast<unsigned>(high >> 32)};
  }
}

extern "C" __global__ void smtwin_probe_hold(unsigned long long ns) {
  const unsigned long long start = global_timer_ns();
  while (global_timer_ns() - start < ns) __nanosleep(100);
}

int attribute(int device, cudaDeviceAttr which) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, device), "probes: reading a device attribute");
  return value;
}

int current_device() {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "probes: current device");
  return device;
}

ProbeGpu read_gpu(int device) {
  return {.compute_capability = {attribute(device, cudaDevAttrComputeCapabilityMajor),
                                 attribute(device, cudaDevAttrComputeCapabilityMinor)},
          .sm_count = attribute(device, cudaDevAttrMultiProcessorCount),
          .l2_bytes = attribute(device, cudaDevAttrL2CacheSize),
          .shared_bytes_per_sm = attribute(device, cudaDevAttrMaxSharedMemoryPerMultiprocessor),
          .shared_bytes_per_cta_optin = attribute(device, cudaDevAttrMaxSharedMemoryPerBlockOptin),
          .max_threads_per_sm = attribute(device, cudaDevAttrMaxThreadsPerMultiProcessor)};
}

std::string pci_address(int device) {
  std::array<char, 32> text{};
  check_cuda(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device),
             "probes: PCI address");
  return text.data();
}

}  // namespace

ProbeWorkspace::ProbeWorkspace(std::uint64_t seed_value)
    : gpu(read_gpu(current_device())),
      nvml(pci_address(current_device())),
      data(kStreamBytes * kStreamWindows / static_cast<std::int64_t>(sizeof(uint4)),
           "probes: allocating 4 GiB to stream over"),
      chain(kChainBytes, "probes: allocating 2 GiB for pointer chains"),
      sink(kSinkWords, "probes: allocating results"),
      traces(kMaxTraces, "probes: allocating traces"),
      answer(4, "probes: allocating answers"),
      host_traces(kMaxTraces),
      seed(seed_value) {
  smtwin_probe_fill<<<gpu.sm_count * 8, kFillThreads, 0, stream>>>(data.data(), data.count(), seed);
  check_launch("smtwin_probe_fill");
  check_cuda(cudaMemsetAsync(answer.data(), 0, answer.count() * sizeof(answer.data()[0]), stream),
             "probes: clearing answers");
  check_cuda(cudaStreamSynchronize(stream), "probes: filling buffers");
}

void hold_gpu(ProbeWorkspace& workspace, double seconds) {
  const auto ns = static_cast<unsigned long long>(seconds * 1e9);
  smtwin_probe_hold<<<1, 1, 0, workspace.stream>>>(ns);
  check_launch("smtwin_probe_hold");
}

void clear_traces(ProbeWorkspace& workspace) {
  check_cuda(cudaMemsetAsync(workspace.traces.data(), 0,
                             workspace.traces.count() * sizeof(CtaTrace), workspace.stream),
             "probes: clearing traces");
}

std::span<const CtaTrace> fetch_traces(ProbeWorkspace& workspace, std::int64_t count) {
  check_cuda(cudaMemcpyAsync(workspace.host_traces.data(), workspace.traces.data(),
                             count * sizeof(CtaTrace), cudaMemcpyDeviceToHost, workspace.stream),
             "probes: fetching traces");
  check_cuda(cudaStreamSynchronize(workspace.stream), "probes: waiting for a kernel");
  const std::span<const CtaTrace> traces(workspace.host_traces.data(),
                                         static_cast<std::size_t>(count));
  for (const CtaTrace& trace : traces) {
    if (trace.written == 0)
      throw DeviceError("probes: a CTA left no trace; the kernel did not run");
  }
  return traces;
}

CtaTime mean_time(std::span<const CtaTrace> traces) {
  CtaTime sum;
  for (const CtaTrace& trace : traces) {
    sum.cycles += double(trace.end_clock - trace.start_clock);
    sum.seconds += double(trace.end_ns - trace.start_ns) * 1e-9;
  }
  const double count = double(traces.size());
  return {sum.cycles / count, sum.seconds / count};
}

}  // namespace smtwin
