// SPDX-License-Identifier: Apache-2.0
// What happened on a real GPU, kept: the summary of every sample with the GPU, driver, clocks and
// versions it was taken under. A run is only added to, never edited; `smtwin validate --run FILE`
// scores predictions against it without a GPU, `smtwin calibrate --run FILE` fits constants to it.
// JSON in data/runs/ and in what validate --device writes. Base units throughout.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/descriptor.hpp"

namespace smtwin {

struct RunGpu {
  std::string name = {};      // canonical: "h200-sxm"; empty = unknown to the catalog
  std::string reported = {};  // by the driver: "NVIDIA H200"
  std::string compute_capability = {};
  std::string driver = {};
  std::string cuda_runtime = {};
  std::int32_t sm_count = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  double sm_clock_max_hz = 0;
  double memory_clock_hz = 0;
  double power_limit_w = 0;  // 0 = not readable
  friend bool operator==(const RunGpu&, const RunGpu&) = default;
};

// One probe reading: "dram_read" with {"ctas_per_sm": 4, "bytes_in_flight_per_sm": 65536}.
struct ProbeReading {
  std::string probe = {};
  std::map<std::string, double> parameters = {};
  double value = 0;
  std::string unit = {};  // base: "B/s", "s", "cycles", "flop/s", "1"
  double spread = 0;      // (p90 - p10) / median of its samples; 0 = one exact answer
  std::int32_t samples = 0;
  friend bool operator==(const ProbeReading&, const ProbeReading&) = default;
};

// One compiled function of a variant as the driver sees it, and its residency.
struct FunctionReading {
  std::string kernel = {};
  Parameters config = {};
  std::string symbol = {};
  std::int32_t registers_per_thread = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;
  std::int64_t local_bytes = 0;
  std::int32_t threads_per_cta = 0;
  std::int32_t driver_ctas_per_sm = 0;  // cudaOccupancyMaxActiveBlocksPerMultiprocessor
  std::int32_t seen_ctas_per_sm = -1;   // most at once on one SM, from its traces; -1 = not run
  friend bool operator==(const FunctionReading&, const FunctionReading&) = default;
};

enum class SampleCache { cold, warm };
enum class SampleLaunch { graph, stream };

// The median time of one (kernel, config, shape).
struct TimeReading {
  std::string kernel =
      {};  // descriptor name, or a peer's: "cublas_gemm", "triton_sparse_mla_split"
  bool peer = false;
  Parameters config = {};
  Parameters shape = {};
  SampleCache cache = SampleCache::cold;
  SampleLaunch launch = SampleLaunch::graph;
  double seconds = 0;  // median, combine kernels included
  double p10_s = 0;
  double p90_s = 0;
  std::int32_t samples = 0;    // accepted, of all medians together
  std::int32_t medians = 1;    // independent ones, of which `seconds` is the median
  std::int32_t rejected = 0;   // throttled or at another clock
  double sm_clock_hz = 0;      // while it ran
  double power_w = 0;          // 0 = not readable
  double relative_error = -1;  // against float64; -1 = not checked with this shape
  friend bool operator==(const TimeReading&, const TimeReading&) = default;
};

struct RunFile {
  RunGpu gpu;
  std::string tool_version = {};
  std::string compiler = {};  // "nvcc 13.0.88"
  std::string date = {};      // UTC, ISO 8601
  std::string method = {};    // one sentence: flush, replay, samples
  std::string note = {};      // free
  std::uint64_t seed = 1;
  std::vector<ProbeReading> probes = {};
  std::vector<FunctionReading> functions = {};
  std::vector<TimeReading> times = {};
  friend bool operator==(const RunFile&, const RunFile&) = default;
};

// DataError names file, JSON path, what was found and what is allowed.
RunFile read_run(const std::string& text, const std::string& where);
std::string write_run(const RunFile& run);  // read_run(write_run(x)) == x

}  // namespace smtwin
