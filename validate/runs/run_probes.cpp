// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/run_probes.hpp"

#include <functional>
#include <initializer_list>
#include <sstream>
#include <string_view>

namespace smtwin {
namespace {

using Accepts = std::function<bool(const ProbeReading&)>;

double parameter(const ProbeReading& reading, const char* name) {
  const auto found = reading.parameters.find(name);
  return found == reading.parameters.end() ? 0 : found->second;
}

// The largest (or smallest) accepted reading of any of these probes; null: there is none.
const ProbeReading* best(const RunFile& run, std::initializer_list<std::string_view> probes,
                         bool largest, const Accepts& accepts) {
  const ProbeReading* found = nullptr;
  for (const ProbeReading& reading : run.probes) {
    for (const std::string_view probe : probes) {
      if (reading.probe != probe || !(reading.value > 0) || !accepts(reading)) continue;
      const bool better = found == nullptr ||
                          (largest ? reading.value > found->value : reading.value < found->value);
      if (better) found = &reading;
    }
  }
  return found;
}

std::string source_of(const ProbeReading& reading) {
  std::ostringstream text;
  text.precision(15);
  text << "probe " << reading.probe;
  for (const auto& [name, value] : reading.parameters) text << ", " << name << ' ' << value;
  return text.str();
}

void take(ProbedValue& value, const ProbeReading* reading, double factor = 1) {
  if (reading == nullptr) return;
  value = {.value = reading->value * factor,
           .log_sd = reading->spread / 2.56,  // p90 - p10 of a normal distribution
           .provenance = Provenance::measured,
           .source = source_of(*reading)};
}

bool any(const ProbeReading&) { return true; }

}  // namespace

ProbedGpu probed_gpu(const RunFile& run, const GpuSpec& gpu) {
  ProbedGpu p = assumed_probes(gpu);
  take(p.dram_read_bytes_per_s, best(run, {"dram_read", "dram_read_async"}, true, any));
  take(p.l2_read_bytes_per_s, best(run, {"l2_read"}, true, any));
  take(p.shared_bytes_per_cycle, best(run, {"shared_read"}, true, any));
  take(p.mma_bf16_flops_per_cycle, best(run, {"tensor_bf16_per_cycle"}, true, any));
  take(p.conversions_per_cycle, best(run, {"cvt_e4m3_per_cycle"}, true, any));
  // Operations are timed as they are replayed, inside a graph.
  take(p.launch_s, best(run, {"timed_empty_kernel"}, false, any));
  take(p.launch_s, best(run, {"timed_empty_kernel"}, false,
                        [](const ProbeReading& r) { return parameter(r, "in_graph") == 1; }));

  // A chase counts SM cycles at the clock of a chip with nothing else to do, the largest.
  const double cycle_s =
      1 / (run.gpu.sm_clock_max_hz > 0 ? run.gpu.sm_clock_max_hz : p.sm_clock_hz.value);
  const double in_l2 = static_cast<double>(run.gpu.l2_bytes) / 4;
  take(p.l2_latency_s,
       best(run, {"latency_global"}, false,
            [&](const ProbeReading& r) {
              return parameter(r, "cached_in_l1") == 0 && parameter(r, "l2_flushed") == 0 &&
                     parameter(r, "working_set_bytes") <= in_l2;
            }),
       cycle_s);
  take(p.dram_latency_s,
       best(run, {"latency_global"}, false,
            [](const ProbeReading& r) { return parameter(r, "l2_flushed") == 1; }),
       cycle_s);
  return p;
}

}  // namespace smtwin
