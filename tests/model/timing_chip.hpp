// SPDX-License-Identifier: Apache-2.0
// An invented GPU with round numbers for hand arithmetic of kernel families; each family's tests
// add what only they use.
#pragma once

#include <string>

#include "model/timing/timing_gpu.hpp"

namespace smtwin::test {

// 1 GHz: a cycle is 1 ns. DRAM 1 TB/s, read as fast as its peak; no timer grid.
inline TimingGpu timing_chip(const std::string& name, int major, int sm_count, double l2_bytes) {
  TimingGpu g;
  g.name = name;
  g.compute_capability = {major, 0};
  g.sm_count = sm_count;
  g.clock_hz = 1e9;
  g.l2_bytes = l2_bytes;
  g.dram_bytes_per_s = g.dram_read_bytes_per_s = 1e12;
  return g;
}

}  // namespace smtwin::test
