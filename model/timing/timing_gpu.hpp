// SPDX-License-Identifier: Apache-2.0
// What the kernel-time families know about a GPU, as plain numbers: taken from a GpuSpec once, so
// that millions of predictions a second look nothing up. Nothing here was fitted.
#pragma once

#include <string>

#include "arch/gpu_spec.hpp"

namespace smtwin {

struct TimingGpu {
  std::string name;  // canonical: "rtx-pro-6000-server"
  ComputeCapability compute_capability;
  double sm_count = 0;
  double clock_hz = 0;
  double l2_bytes = 0;
  double shared_bytes_per_sm = 0;
  double dram_bytes_per_s = 0;       // datasheet
  double dram_read_bytes_per_s = 0;  // datasheet x best measured share of it
  double l2_latency_s = 0;           // unloaded pointer chase
  double dram_latency_s = 0;
  // Dense peak of the whole chip with FP32 accumulation at the boost clock. A format that the
  // tensor cores do not have takes the rate of the next wider one: NVFP4 on Hopper multiplies as
  // FP8.
  double bf16_flops_per_s = 0;
  double fp8_flops_per_s = 0;
  double nvfp4_flops_per_s = 0;
  bool nvlink = false;
  double nvlink_bytes_per_s = 0;  // per direction; 0 = none
  double pcie_bytes_per_s = 0;    // per direction; 0 = unknown
  double board_power_w = 0;       // 0 = unknown
  // Grid on which a replayed CUDA graph's time lies on the machine the rows were measured on:
  // 2.048 us with the RTX PRO 6000, none seen with the H200. A property of the instrument; never
  // part of a deployment's time.
  double replay_tick_s = 0;

  bool hopper() const { return compute_capability.major == 9; }
  bool sm120() const { return compute_capability.major == 12; }
};

// DataError (through require) when the GPU lacks a number that all families need.
TimingGpu timing_gpu(const GpuSpec& gpu);

}  // namespace smtwin
