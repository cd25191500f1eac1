// SPDX-License-Identifier: Apache-2.0
// What the families of our own kernels start from on a GPU: a few rates and latencies that probes
// measure, each with where it comes from. Without a run they follow from the specification; with
// one, what its probes read replaces them. A profile keeps them among its gpu_constants, under
// names that start with "probe_".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "arch/provenance.hpp"
#include "model/timing/profile.hpp"

namespace smtwin {

struct ProbedValue {
  double value = 0;
  double log_sd = 0;  // spread of the readings; 0 = a specification
  Provenance provenance = Provenance::assumed;
  std::string source;
};

struct ProbedGpu {
  ProbedValue dram_read_bytes_per_s;  // of the whole chip
  ProbedValue l2_read_bytes_per_s;    // of the whole chip, working set in the L2
  ProbedValue dram_latency_s;         // pointer chase, nothing else running
  ProbedValue l2_latency_s;
  ProbedValue shared_bytes_per_cycle;    // of an SM, without conflicts
  ProbedValue mma_bf16_flops_per_cycle;  // of an SM, mma.sync with FP32 sums
  ProbedValue conversions_per_cycle;     // of an SM, FP8 values to 16 bits
  ProbedValue launch_s;                  // that an event pair around an empty kernel reads
  ProbedValue sm_clock_hz;               // while kernels run
};

// From the specification. DataError when the GPU lacks a number that all families need.
ProbedGpu assumed_probes(const GpuSpec& gpu);

// Names, units and meanings of the values above, in their order.
struct ProbedField {
  const char* name;  // "probe_dram_read_rate"
  const char* unit;
  const char* meaning;
  ProbedValue ProbedGpu::*value;
};
std::span<const ProbedField> probed_fields();

// The measured ones as constants of a profile; `prior` is what the specification says.
std::vector<FittedConstant> probe_constants(const ProbedGpu& probed, const ProbedGpu& assumed);

// The specification, replaced where `constants` hold a probe's value.
ProbedGpu with_probe_constants(ProbedGpu assumed, std::span<const FittedConstant> constants);

}  // namespace smtwin
