// SPDX-License-Identifier: Apache-2.0
// What the probes' launchers share: the stream, the buffers, timing by events and by the traces of
// CTAs. Owned by ProbeBench, allocated once.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cta_trace.hpp"
#include "kernels/device_check.hpp"
#include "kernels/probes/nvml.hpp"
#include "kernels/probes/probes.hpp"

namespace smtwin {

template <class T>
class DeviceArray {
 public:
  DeviceArray(std::int64_t count, const char* what) : count_(count) {
    check_cuda(cudaMalloc(&data_, sizeof(T) * count), what);
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  std::int64_t count() const { return count_; }

 private:
  T* data_ = nullptr;
  std::int64_t count_ = 0;
};

class Event {
 public:
  Event() { check_cuda(cudaEventCreate(&event_), "probes: creating an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class Stream {
 public:
  Stream() {
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
               "probes: creating a stream");
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// The chain that pointer_chase last laid, so that repetitions need not lay it again.
struct LaidChain {
  std::int64_t nodes = 0;
  std::int64_t stride_bytes = 0;
};

struct ProbeWorkspace {
  explicit ProbeWorkspace(std::uint64_t seed);

  ProbeGpu gpu;
  Nvml nvml;
  Stream stream;
  Event start;
  Event stop;
  DeviceArray<uint4> data;           // random
  DeviceArray<unsigned char> chain;  // pointer_chase's nodes
  DeviceArray<unsigned> sink;        // where results go, so that no work is dead
  DeviceArray<CtaTrace> traces;
  DeviceArray<unsigned long long> answer;  // few words a kernel reports
  std::vector<CtaTrace> host_traces;
  LaidChain laid;
  std::int64_t stream_window = 0;  // quarter of `data` that the next DRAM repetition walks
  std::uint64_t seed = 1;
};

inline constexpr std::int64_t kStreamBytes = std::int64_t{1} << 30;  // of one repetition
inline constexpr std::int64_t kStreamWindows = 4;
inline constexpr std::int64_t kChainBytes = std::int64_t{2} << 30;

// Keeps the GPU busy for about `seconds`, so that what is enqueued next waits in the queue, and
// the host's launch cost is not in the time between two events.
void hold_gpu(ProbeWorkspace& workspace, double seconds = 50e-6);

// Seconds between two events around what `enqueue()` puts on the workspace's stream.
template <class Enqueue>
double seconds_of(ProbeWorkspace& workspace, Enqueue enqueue, double hold_seconds = 50e-6) {
  if (hold_seconds > 0) hold_gpu(workspace, hold_seconds);
  check_cuda(cudaEventRecord(workspace.start, workspace.stream), "probes: recording an event");
  enqueue();
  check_cuda(cudaEventRecord(workspace.stop, workspace.stream), "probes: recording an event");
  check_cuda(cudaEventSynchronize(workspace.stop), "probes: waiting for a kernel");
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, workspace.start, workspace.stop),
             "probes: reading two events");
  return double(milliseconds) * 1e-3;
}

// The first `count` entries of workspace.traces after waiting for the stream. DeviceError when a
// CTA did not write its own.
std::span<const CtaTrace> fetch_traces(ProbeWorkspace& workspace, std::int64_t count);
void clear_traces(ProbeWorkspace& workspace);

// Means over the CTAs of a grid with one CTA an SM.
struct CtaTime {
  double cycles = 0;
  double seconds = 0;
};
CtaTime mean_time(std::span<const CtaTrace> traces);

// Launches that other probes use as a load.
void enqueue_stream_read(ProbeWorkspace& workspace, CtaTrace* traces);  // 1 GiB of DRAM
void enqueue_tensor_bf16(ProbeWorkspace& workspace, CtaTrace* traces);  // 16 warps an SM
void enqueue_fma(ProbeWorkspace& workspace, CtaTrace* traces);          // 16 warps an SM

}  // namespace smtwin
