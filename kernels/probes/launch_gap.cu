// SPDX-License-Identifier: Apache-2.0
// Empty kernels, launched in different ways: see launch_gap.hpp.
#include "kernels/probes/launch_gap.hpp"

#include "kernels/probes/probe_point.hpp"
#include "kernels/probes/workspace.cuh"

namespace smtwin {
namespace {

constexpr int kWarp = 32;
constexpr double kHostLaunch = 10e-6;  // generous: what the host needs to enqueue one kernel

extern "C" __global__ void smtwin_probe_empty() {}

void launch_empty(cudaStream_t stream, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    smtwin_probe_empty<<<1, kWarp, 0, stream>>>();
    check_launch("smtwin_probe_empty");
  }
}

// What `enqueue()` puts on the stream, as a graph ready to be replayed.
class ReplayedGraph {
 public:
  template <class Enqueue>
  ReplayedGraph(cudaStream_t stream, Enqueue enqueue) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
               "probes: starting a capture");
    enqueue();
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(stream, &graph), "probes: ending a capture");
    const cudaError_t made = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(made, "probes: instantiating a graph");
  }
  ~ReplayedGraph() { cudaGraphExecDestroy(executable_); }
  ReplayedGraph(const ReplayedGraph&) = delete;
  ReplayedGraph& operator=(const ReplayedGraph&) = delete;

  void launch(cudaStream_t stream) const {
    check_cuda(cudaGraphLaunch(executable_, stream), "probes: launching a graph");
  }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

// The first launch of a graph uploads it.
void warm(const ReplayedGraph& graph, cudaStream_t stream) {
  graph.launch(stream);
  check_cuda(cudaStreamSynchronize(stream), "probes: replaying a graph");
}

double timed_empty_kernel_in_graph(ProbeWorkspace& workspace) {
  const ReplayedGraph graph(workspace.stream, [&] {
    check_cuda(cudaEventRecordWithFlags(workspace.start, workspace.stream, cudaEventRecordExternal),
               "probes: capturing an event");
    launch_empty(workspace.stream, 1);
    check_cuda(cudaEventRecordWithFlags(workspace.stop, workspace.stream, cudaEventRecordExternal),
               "probes: capturing an event");
  });
  warm(graph, workspace.stream);
  warm(graph, workspace.stream);
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, workspace.start, workspace.stop),
             "probes: reading two events");
  return double(milliseconds) * 1e-3;
}

}  // namespace

double run_launch_gap(ProbeWorkspace& workspace, const ProbePoint& point) {
  cudaStream_t stream = workspace.stream;
  if (point.probe == "timed_nothing") return seconds_of(workspace, [] {});
  if (point.probe == "timed_empty_kernel") {
    if (whole_parameter(point, "in_graph") != 0) return timed_empty_kernel_in_graph(workspace);
    return seconds_of(workspace, [&] { launch_empty(stream, 1); });
  }
  const std::int64_t kernels = whole_parameter(point, "kernels");
  // Beyond it the host would wait for room in the queue.
  if (kernels < 2 || kernels > 1000) refuse_parameter(point, "kernels", "2 to 1000");
  if (point.probe == "launch_gap_graph") {
    const ReplayedGraph graph(stream, [&] { launch_empty(stream, kernels); });
    warm(graph, stream);
    return seconds_of(workspace, [&] { graph.launch(stream); }) / double(kernels);
  }
  launch_empty(stream, kernels / 8);  // so that the first timed launch is one of many
  const double hold = point.probe == "launch_gap_queued" ? double(kernels) * kHostLaunch : 0;
  return seconds_of(
             workspace, [&] { launch_empty(stream, kernels); }, hold) /
         double(kernels);
}

}  // namespace smtwin
