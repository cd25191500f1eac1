// SPDX-License-Identifier: Apache-2.0
// Clock and power under load: see load_state.hpp.
#include "kernels/probes/load_state.hpp"

#include <chrono>
#include <string_view>
#include <thread>

#include "kernels/probes/probe_point.hpp"
#include "kernels/probes/workspace.cuh"

namespace smtwin {
namespace {

using Load = void (*)(ProbeWorkspace&, CtaTrace*);
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Load find_load(std::string_view name) {
  if (name == "fma") return enqueue_fma;
  if (name == "tensor_bf16") return enqueue_tensor_bf16;
  return enqueue_stream_read;
}

// Keeps a few kernels in the queue until `load_s` have passed.
void run_for(ProbeWorkspace& workspace, Load load, double load_s) {
  constexpr int kAhead = 4;
  const auto start = Clock::now();
  while (seconds_since(start) < load_s) {
    for (int i = 0; i < kAhead; ++i) load(workspace, nullptr);
    check_cuda(cudaEventSynchronize(workspace.stop), "probes: waiting for a load");
    check_cuda(cudaEventRecord(workspace.stop, workspace.stream), "probes: recording an event");
  }
}

}  // namespace

std::optional<double> run_load_state(ProbeWorkspace& workspace, const ProbePoint& point) {
  const double load_s = point.parameters.at("load_s");
  const bool power = point.probe.starts_with("power_");
  if (power && !workspace.nvml.available()) return std::nullopt;
  if (point.probe == "power_idle") {
    std::this_thread::sleep_for(std::chrono::duration<double>(load_s));
    return workspace.nvml.read().power_w;
  }
  const std::string_view prefix = power ? "power_" : "sm_clock_";
  const Load load = find_load(std::string_view(point.probe).substr(prefix.size()));
  run_for(workspace, load, load_s);
  const std::optional<double> power_w =
      power ? workspace.nvml.read().power_w : std::nullopt;  // the queue is not empty yet
  load(workspace, workspace.traces.data());
  const CtaTime time = mean_time(fetch_traces(workspace, workspace.gpu.sm_count));
  return power ? power_w : time.cycles / time.seconds;
}

}  // namespace smtwin
