// SPDX-License-Identifier: Apache-2.0
// Two invented chips with round numbers for tests of the expert-layer model.
#pragma once

#include "tests/model/timing_chip.hpp"

namespace smtwin::test {

// 100 SMs at 1 GHz, 1 Tflop/s an SM in BF16, 1 TB/s, 100 MB of L2; latencies 100 and 200 ns.
inline TimingGpu plain_chip() {
  TimingGpu g = timing_chip("plain", 12, 100, 100e6);
  g.shared_bytes_per_sm = 102400;
  g.l2_latency_s = 100e-9;
  g.dram_latency_s = 200e-9;
  g.bf16_flops_per_s = 100e12;
  g.fp8_flops_per_s = 200e12;
  g.nvfp4_flops_per_s = 400e12;
  return g;
}

inline TimingGpu hopper_chip() {
  TimingGpu g = plain_chip();
  g.name = "plain-hopper";
  g.compute_capability = {9, 0};
  return g;
}

}  // namespace smtwin::test
