// SPDX-License-Identifier: Apache-2.0
// The probes: small kernels that measure a GPU itself (bandwidths, latencies, rates, launch costs,
// residency, clock and power). A ProbePoint is one thing that can be measured; ProbeBench runs it
// once and says the value. Whoever calls repeats, takes median and spread and keeps a ProbeReading.
// What each probe measures and how it can mislead is in its own header:
//   memory_stream   dram_read, dram_read_async, dram_write, dram_copy, l2_read, l2_write
//   pointer_chase   latency_global, latency_shared, l1_carveout
//   tensor_rate     tensor_{bf16,f16,tf32,fp8,int8}, ..._per_cycle, ..._latency
//   alu_rate        fma, ex2, cvt_e4m3, ..._per_cycle
//   shared_memory   shared_read, shared_write, shared_stride, ldmatrix_stride
//   launch_gap      launch_gap_{stream,queued,graph}, timed_nothing, timed_empty_kernel
//   residency       residency_seen, residency_driver
//   load_state      sm_clock_*, power_*
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"

namespace smtwin {

// What the lists of points depend on.
struct ProbeGpu {
  ComputeCapability compute_capability;
  std::int32_t sm_count = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t shared_bytes_per_cta_optin = 0;
  std::int32_t max_threads_per_sm = 0;
};

struct ProbePoint {
  std::string probe;  // "dram_read"
  // {"ctas_per_sm": 4, "bytes_in_flight_per_sm": 65536}
  std::map<std::string, double> parameters = {};
  std::string unit;     // base: "B/s", "s", "cycles", "flop/s", "op/s", "B/cycle", "Hz", "W", "1"
  int repetitions = 9;  // a good number; few where one run takes long or the answer is exact
};

enum class ProbeEffort { quick, full };  // under 6 s and under 20 s on an H200

// Every probe, in the order above. Pure.
std::vector<ProbePoint> probe_points(const ProbeGpu& gpu, ProbeEffort effort);

// All buffers of the probes on the current device (6 GiB of its memory), allocated once.
// Exists only in builds with SMTWIN_CUDA. DeviceError where CUDA refuses.
struct ProbeWorkspace;
class ProbeBench {
 public:
  explicit ProbeBench(std::uint64_t seed = 1);
  ~ProbeBench();
  ProbeBench(const ProbeBench&) = delete;
  ProbeBench& operator=(const ProbeBench&) = delete;

  const ProbeGpu& gpu() const;

  // One repetition, in base units. Waits for the device. Empty: this machine cannot say (power
  // without NVML). The first run of a point also loads code and warms caches: discard it.
  // UsageError for an unknown probe or parameters that its kernels were not compiled for.
  std::optional<double> run(const ProbePoint& point);

 private:
  std::unique_ptr<ProbeWorkspace> workspace_;
};

}  // namespace smtwin
