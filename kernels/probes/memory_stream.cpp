// SPDX-License-Identifier: Apache-2.0
// Which streams are measured: CTAs an SM x bytes in flight, as far as threads, registers and shared
// memory of an SM allow; L2 over working sets from an eighth of it to one and a half times.
#include "kernels/probes/memory_stream.hpp"

#include <cstdint>

#include "kernels/probes/probe_point.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::int64_t kReservedBytes = 1024;  // of shared memory, by the system, for each CTA

struct Concurrency {
  std::vector<int> ctas_per_sm;
  std::vector<int> accesses_per_thread;
};

// Batches of eight 16-byte loads take more than 32 registers a thread: fewer CTAs fit.
constexpr int kDeepAccesses = 8;
constexpr int kCtasOfDeepAccesses = 4;

void append_grid(std::vector<ProbePoint>& points, const std::string& probe,
                 const Concurrency& concurrency, const std::map<std::string, double>& fixed = {}) {
  for (const int ctas : concurrency.ctas_per_sm) {
    for (const int accesses : concurrency.accesses_per_thread) {
      if (accesses >= kDeepAccesses && ctas > kCtasOfDeepAccesses) continue;
      ProbePoint point{.probe = probe, .parameters = fixed, .unit = "B/s"};
      point.parameters["ctas_per_sm"] = ctas;
      point.parameters["bytes_in_flight_per_sm"] =
          double(ctas) * kStreamThreads * accesses * kStreamAccessBytes;
      points.push_back(point);
    }
  }
}

}  // namespace

std::vector<ProbePoint> memory_stream_points(const ProbeGpu& gpu, ProbeEffort effort) {
  const bool full = effort == ProbeEffort::full;
  const int dense = gpu.max_threads_per_sm / kStreamThreads;  // CTAs that fill an SM
  std::vector<ProbePoint> points;
  append_grid(
      points, "dram_read",
      full ? Concurrency{{1, 2, 4, dense}, {1, 2, 4, 8}} : Concurrency{{1, 2, 4, dense}, {2, 4}});

  for (const int ctas : full ? std::vector{1, 2, 4} : std::vector{2}) {
    for (const int stages : full ? std::vector{1, 2, 4, 8} : std::vector{2, 4, 8}) {
      const std::int64_t ring = std::int64_t{stages} * kStreamThreads * kStreamAccessBytes;
      const bool fits = ctas * (ring + kReservedBytes) <= gpu.shared_bytes_per_sm;
      if (fits) append_grid(points, "dram_read_async", {{ctas}, {stages}});
    }
  }
  const Concurrency few = full ? Concurrency{{1, 2, 4, dense}, {4}} : Concurrency{{dense}, {4}};
  append_grid(points, "dram_write", few);
  append_grid(points, "dram_copy", few);

  const auto fraction_of_l2 = [&](std::int64_t eighths) {
    return double(gpu.l2_bytes * eighths / 8 / kMebibyte * kMebibyte);
  };
  const Concurrency most{{dense}, {4}};
  for (const int eighths : full ? std::vector{1, 2, 4, 6, 8, 12} : std::vector{2, 4}) {
    append_grid(points, "l2_read", most, {{"working_set_bytes", fraction_of_l2(eighths)}});
  }
  if (full) {
    append_grid(points, "l2_read", {{1, 2, 4}, {4}}, {{"working_set_bytes", fraction_of_l2(2)}});
    append_grid(points, "l2_read", {{1, 2, 4}, {1}}, {{"working_set_bytes", fraction_of_l2(2)}});
  }
  append_grid(points, "l2_write", few, {{"working_set_bytes", fraction_of_l2(2)}});
  return points;
}

}  // namespace smtwin
