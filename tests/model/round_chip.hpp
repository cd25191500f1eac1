// SPDX-License-Identifier: Apache-2.0
// An invented GPU whose numbers make hand arithmetic easy, and a kernel to run on it.
#pragma once

#include "arch/gpu_spec.hpp"
#include "kernels/descriptor.hpp"

namespace smtwin::test {

// 10 SMs of 4 partitions at 1 GHz: a cycle is 1 ns. DRAM 1 TB/s x 0.8 after 500 ns, so its peak
// needs 400 kB in flight, 40 kB an SM. L2 1 MB, 2 TB/s after 200 ns: also 400 kB.
inline GpuSpec round_chip() {
  GpuSpec g;
  g.name = "round-chip";
  g.compute_capability = {9, 0};
  g.sm = {.max_threads_per_cta = 1024,
          .max_warps_per_sm = 64,
          .max_ctas_per_sm = 16,
          .registers_per_sm = 65536,
          .registers_per_cta = 65536,
          .max_registers_per_thread = 255,
          .register_allocation_unit = 256,
          .partitions_per_sm = 4,
          .register_check_partitions = 4,
          .shared_bytes_per_sm = 102400,
          .shared_bytes_per_cta_default = 49152,
          .shared_bytes_per_cta_optin = 101376,
          .shared_bytes_reserved_per_cta = 1024,
          .shared_allocation_unit_bytes = 128,
          .shared_carveouts_bytes = {102400},
          .shared_carveout_count = 1,
          .max_cluster_ctas_portable = 8,
          .max_cluster_ctas_nonportable = {}};
  g.rates.warp_instructions_per_cycle = 4;
  g.rates.fp32_flops_per_cycle = 200;
  g.rates.sfu_ops_per_cycle = 10;
  g.rates.shared_bytes_per_cycle = 100;
  g.rates.tensor_bf16_flops_per_cycle = 1000;
  g.sm_count = 10;
  g.sm_clock_hz = 1e9;
  g.l2_bytes = 1e6;
  g.l2_latency_cycles = 200;
  g.l2_bytes_per_s = 2e12;
  g.dram_bytes_per_s = 1e12;
  g.dram_read_efficiency = 0.8;
  g.dram_latency_cycles = 500;
  g.graph_node_gap_s = 1e-6;
  g.stream_launch_gap_s = 4e-6;
  return g;
}

// 25 CTAs of 4 warps, one per SM (60,000 B of shared memory): waves of 10, 10 and 5. Each CTA
// reads 80,000 B of its own in 10 steps of 8,000 B.
inline KernelInstance round_kernel() {
  KernelInstance k;
  k.kernel = "round";
  k.resources = {.threads_per_cta = 128, .registers_per_thread = 32, .dynamic_shared_bytes = 60000};
  k.grid = {.x = 25, .y = 1, .z = 1, .formula = "25"};
  k.work.global_read_bytes = 80000;
  k.work.steps = 10;
  k.work.step_read_bytes = 8000;
  k.work.loads_in_flight = 1;
  k.unique_read_bytes = 2e6;
  k.pipe = MathPipe::bf16;
  return k;
}

}  // namespace smtwin::test
