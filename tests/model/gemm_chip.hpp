// SPDX-License-Identifier: Apache-2.0
// A GPU of 10 SMs for GEMM arithmetic on paper, and the catalogue's two measured GPUs.
#pragma once

#include <string>

#include "arch/gpu_catalog.hpp"
#include "tests/model/timing_chip.hpp"

namespace smtwin::test {

inline TimingGpu gemm_chip() {
  TimingGpu gpu = timing_chip("ten-sms", 12, 10, 1e6);
  gpu.dram_bytes_per_s = gpu.dram_read_bytes_per_s = 1e11;
  gpu.l2_latency_s = 1e-7;
  gpu.dram_latency_s = 3e-7;
  gpu.bf16_flops_per_s = gpu.fp8_flops_per_s = gpu.nvfp4_flops_per_s = 1e13;
  return gpu;
}

inline TimingGpu catalog_chip(const std::string& name) { return timing_gpu(find_gpu(name)); }

}  // namespace smtwin::test
