// SPDX-License-Identifier: Apache-2.0
#include "validate/device/replay_timer.hpp"

#include <cuda_runtime_api.h>

#include <chrono>
#include <thread>

#include "arch/error.hpp"
#include "kernels/device_check.hpp"

namespace smtwin {
namespace {

constexpr std::chrono::seconds kTimeout{10};  // the slowest operation takes milliseconds
constexpr std::chrono::milliseconds kBusyWait{2};
constexpr std::chrono::microseconds kNap{50};
constexpr int kSpinUs = 20;        // to measure the clock
constexpr int kQueueSpinUs = 150;  // while the host enqueues a whole operation
constexpr int kWarmUps = 2;        // of the same operation right before a warm sample

cudaStream_t stream_of(DeviceStream stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t event_of(void* event) { return static_cast<cudaEvent_t>(event); }

// Ends a capture that an exception left open, so that the stream can be used again.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "graph capture");
  }
  ~Capture() {
    if (!open_) return;
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  cudaGraphExec_t finish() {
    open_ = false;
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(stream_, &graph), "graph capture");
    cudaGraphExec_t executable = nullptr;
    const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(status, "making a graph executable");
    return executable;
  }

 private:
  cudaStream_t stream_;
  bool open_ = true;
};

struct Graph {
  explicit Graph(cudaGraphExec_t graph) : executable(graph) {}
  ~Graph() {
    if (executable != nullptr) cudaGraphExecDestroy(executable);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  cudaGraphExec_t executable;
};

}  // namespace

ReplayTimer::ReplayTimer(const CacheFlush& flush) : flush_(flush) {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  stream_ = stream;
  for (void** event : {&begin_, &end_}) {
    cudaEvent_t made = nullptr;
    check_cuda(cudaEventCreate(&made), "an event");
    *event = made;
  }
}

ReplayTimer::~ReplayTimer() {
  if (stuck_) return;
  cudaEventDestroy(event_of(begin_));
  cudaEventDestroy(event_of(end_));
  cudaStreamDestroy(stream_of(stream_));
}

void ReplayTimer::wait(const std::string& what) {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const cudaError_t status = cudaStreamQuery(stream_of(stream_));
    if (status != cudaErrorNotReady) return check_cuda(status, what);
    const auto waited = std::chrono::steady_clock::now() - start;
    if (waited > kTimeout) {
      stuck_ = true;
      throw DeviceError(what + ": not finished after " + std::to_string(kTimeout.count()) +
                        " s; the GPU is stuck in it until this process ends");
    }
    if (waited > kBusyWait) std::this_thread::sleep_for(kNap);
  }
}

void ReplayTimer::enqueue_sample(const Enqueue& operation, SampleCache cache, SampleLaunch launch) {
  const bool graph = launch == SampleLaunch::graph;
  if (cache == SampleCache::cold) {
    flush_.enqueue_read(stream_);
    // Reading takes 60 us or more: long enough for the host to enqueue what follows.
  } else {
    for (int i = 0; i < kWarmUps; ++i) operation(stream_);
    flush_.enqueue_spin(stream_, graph ? kSpinUs : kQueueSpinUs);
  }
  const unsigned flags = graph ? cudaEventRecordExternal : cudaEventRecordDefault;
  check_cuda(cudaEventRecordWithFlags(event_of(begin_), stream_of(stream_), flags), "an event");
  operation(stream_);
  check_cuda(cudaEventRecordWithFlags(event_of(end_), stream_of(stream_), flags), "an event");
}

Sample ReplayTimer::finish_sample(const std::string& what) {
  wait(what);
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, event_of(begin_), event_of(end_)),
             "time of " + what);
  return {.seconds = static_cast<double>(milliseconds) * 1e-3, .sm_clock_hz = flush_.sm_clock_hz()};
}

std::vector<Sample> ReplayTimer::time(const Enqueue& operation, SampleCache cache,
                                      SampleLaunch launch, int count, const std::string& what) {
  std::vector<Sample> samples;
  if (launch == SampleLaunch::stream) {
    for (int i = -1; i < count; ++i) {  // the first loads code
      enqueue_sample(operation, cache, launch);
      const Sample sample = finish_sample(what);
      if (i >= 0) samples.push_back(sample);
    }
    return samples;
  }
  Capture capture(stream_of(stream_));
  enqueue_sample(operation, cache, launch);
  const Graph graph(capture.finish());
  for (int i = -1; i < count; ++i) {
    check_cuda(cudaGraphLaunch(graph.executable, stream_of(stream_)), "replay of " + what);
    const Sample sample = finish_sample(what);
    if (i >= 0) samples.push_back(sample);
  }
  return samples;
}

}  // namespace smtwin
