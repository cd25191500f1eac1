// SPDX-License-Identifier: Apache-2.0
// Invented GPUs with round numbers, for decode-attention arithmetic that fits on paper.
#pragma once

#include "model/timing/timing_gpu.hpp"

namespace smtwin::test {

// 100 SMs at 1 GHz with 100 MB of L2: what all SMs draw from the L2 is 24 B * 100 * 1e9 = 2.4 TB/s.
inline TimingGpu attention_chip(int major) {
  TimingGpu g;
  g.name = "attention-chip";
  g.compute_capability = {major, 0};
  g.sm_count = 100;
  g.clock_hz = 1e9;
  g.l2_bytes = 100e6;
  g.dram_bytes_per_s = 1e12;
  g.dram_read_bytes_per_s = 1e12;
  return g;
}
inline TimingGpu attention_sm120_chip() { return attention_chip(12); }
inline TimingGpu attention_hopper_chip() { return attention_chip(9); }

}  // namespace smtwin::test
