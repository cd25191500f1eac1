// SPDX-License-Identifier: Apache-2.0
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

TimingGpu timing_gpu(const GpuSpec& gpu) {
  TimingGpu t;
  t.name = gpu.name;
  t.compute_capability = gpu.compute_capability;
  t.sm_count = require(gpu, gpu.sm_count, "sm_count");
  t.clock_hz = require(gpu, gpu.sm_clock_hz, "sm_clock_hz");
  t.l2_bytes = require(gpu, gpu.l2_bytes, "l2_bytes");
  t.shared_bytes_per_sm = static_cast<double>(gpu.sm.shared_bytes_per_sm);
  t.dram_bytes_per_s = require(gpu, gpu.dram_bytes_per_s, "dram_bytes_per_s");
  t.dram_read_bytes_per_s =
      t.dram_bytes_per_s * require(gpu, gpu.dram_read_efficiency, "dram_read_efficiency");
  t.l2_latency_s = require(gpu, gpu.l2_latency_cycles, "l2_latency_cycles") / t.clock_hz;
  t.dram_latency_s = require(gpu, gpu.dram_latency_cycles, "dram_latency_cycles") / t.clock_hz;
  const double per_cycle = t.sm_count * t.clock_hz;
  const SmRates& r = gpu.rates;
  t.bf16_flops_per_s =
      require(gpu, r.tensor_bf16_flops_per_cycle, "rates.tensor_bf16_flops_per_cycle") * per_cycle;
  t.fp8_flops_per_s =
      r.tensor_fp8_flops_per_cycle ? *r.tensor_fp8_flops_per_cycle * per_cycle : t.bf16_flops_per_s;
  t.nvfp4_flops_per_s = r.tensor_nvfp4_flops_per_cycle ? *r.tensor_nvfp4_flops_per_cycle * per_cycle
                                                       : t.fp8_flops_per_s;
  t.nvlink_bytes_per_s = gpu.nvlink_bytes_per_s.value_or(0);
  t.nvlink = t.nvlink_bytes_per_s > 0;
  t.pcie_bytes_per_s = gpu.pcie_bytes_per_s.value_or(0);
  t.board_power_w = gpu.board_power_w.value_or(0);
  return t;
}

}  // namespace smtwin
