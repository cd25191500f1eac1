// SPDX-License-Identifier: Apache-2.0
#include "model/timing/probed_gpu.hpp"

namespace smtwin {
namespace {

// mma.sync against the datasheet's tensor rate. On Hopper that rate needs wgmma: 2661 of 4096 flops
// a clock and SM on an H200. Elsewhere mma.sync is how the tensor cores are reached.
constexpr double kHopperMmaSyncShare = 0.65;
// FP8 pairs to 16-bit pairs: 124 values a clock and SM on an H200, the half-rate lanes' 64 x 2.
constexpr double kConversionsPerCycle = 128;
// An event pair around an empty kernel reads this much more than a graph node's gap: 3.2 us on an
// H200.
constexpr double kEventPair_s = 2.5e-6;

constexpr ProbedField kFields[] = {
    {"probe_dram_read_rate", "B/s", "DRAM read rate of a stream",
     &ProbedGpu::dram_read_bytes_per_s},
    {"probe_l2_read_rate", "B/s", "L2 read rate of all SMs", &ProbedGpu::l2_read_bytes_per_s},
    {"probe_dram_latency", "s", "dependent load from DRAM", &ProbedGpu::dram_latency_s},
    {"probe_l2_latency", "s", "dependent load from the L2", &ProbedGpu::l2_latency_s},
    {"probe_shared_rate", "B/cycle", "shared memory of an SM", &ProbedGpu::shared_bytes_per_cycle},
    {"probe_mma_bf16_rate", "flop/cycle", "mma.sync bf16 of an SM",
     &ProbedGpu::mma_bf16_flops_per_cycle},
    {"probe_conversion_rate", "1/cycle", "FP8 values to 16 bits of an SM",
     &ProbedGpu::conversions_per_cycle},
    {"probe_launch_time", "s", "event pair around an empty kernel", &ProbedGpu::launch_s},
    {"probe_sm_clock", "Hz", "SM clock under load", &ProbedGpu::sm_clock_hz},
};

ProbedValue of_spec(double value, Provenance provenance, std::string source) {
  return {.value = value, .provenance = provenance, .source = std::move(source)};
}

}  // namespace

std::span<const ProbedField> probed_fields() { return kFields; }

ProbedGpu assumed_probes(const GpuSpec& gpu) {
  const double clock = require(gpu, gpu.sm_clock_hz, "sm_clock_hz");
  const double tensor =
      require(gpu, gpu.rates.tensor_bf16_flops_per_cycle, "rates.tensor_bf16_flops_per_cycle");
  const double mma = gpu.compute_capability.major == 9 ? kHopperMmaSyncShare * tensor : tensor;
  const Provenance assumed = Provenance::assumed;
  ProbedGpu p;
  p.dram_read_bytes_per_s =
      of_spec(require(gpu, gpu.dram_bytes_per_s, "dram_bytes_per_s") *
                  require(gpu, gpu.dram_read_efficiency, "dram_read_efficiency"),
              assumed, "specification: dram_bytes_per_s x dram_read_efficiency");
  p.l2_read_bytes_per_s = of_spec(require(gpu, gpu.l2_bytes_per_s, "l2_bytes_per_s"), assumed,
                                  "specification: l2_bytes_per_s");
  p.dram_latency_s = of_spec(require(gpu, gpu.dram_latency_cycles, "dram_latency_cycles") / clock,
                             assumed, "specification: dram_latency_cycles");
  p.l2_latency_s = of_spec(require(gpu, gpu.l2_latency_cycles, "l2_latency_cycles") / clock,
                           assumed, "specification: l2_latency_cycles");
  p.shared_bytes_per_cycle =
      of_spec(require(gpu, gpu.rates.shared_bytes_per_cycle, "rates.shared_bytes_per_cycle"),
              assumed, "specification: rates.shared_bytes_per_cycle");
  p.mma_bf16_flops_per_cycle =
      of_spec(mma, assumed, "specification: tensor rate, 0.65 of it for mma.sync on Hopper");
  p.conversions_per_cycle = of_spec(kConversionsPerCycle, assumed, "64 half-rate lanes x 2 values");
  p.launch_s = of_spec(require(gpu, gpu.graph_node_gap_s, "graph_node_gap_s") + kEventPair_s,
                       assumed, "graph_node_gap_s + 2.5 us of an event pair on an H200");
  p.sm_clock_hz = of_spec(clock, assumed, "specification: sm_clock_hz");
  return p;
}

std::vector<FittedConstant> probe_constants(const ProbedGpu& probed, const ProbedGpu& assumed) {
  std::vector<FittedConstant> constants;
  for (const ProbedField& f : kFields) {
    const ProbedValue& v = probed.*f.value;
    if (v.provenance != Provenance::measured) continue;
    constants.push_back({.name = f.name,
                         .unit = f.unit,
                         .meaning = f.meaning,
                         .value = v.value,
                         .log_sd = v.log_sd,
                         .prior = (assumed.*f.value).value,
                         .at_bound = false,
                         .of_gpu = true});
  }
  return constants;
}

ProbedGpu with_probe_constants(ProbedGpu assumed, std::span<const FittedConstant> constants) {
  for (const ProbedField& f : kFields) {
    for (const FittedConstant& c : constants) {
      if (c.name != f.name) continue;
      assumed.*f.value = {.value = c.value,
                          .log_sd = c.log_sd,
                          .provenance = Provenance::measured,
                          .source = "probe, kept in the calibration profile"};
    }
  }
  return assumed;
}

}  // namespace smtwin
