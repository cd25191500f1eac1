// SPDX-License-Identifier: Apache-2.0
// Invented GPUs with round numbers, for decode-attention arithmetic that fits on paper.
#pragma once

#include "tests/model/timing_chip.hpp"

namespace smtwin::test {

// 100 SMs at 1 GHz with 100 MB of L2: what all SMs draw from the L2 is 24 B * 100 * 1e9 = 2.4 TB/s.
inline TimingGpu attention_chip(int major) {
  return timing_chip("attention-chip", major, 100, 100e6);
}
inline TimingGpu attention_sm120_chip() { return attention_chip(12); }
inline TimingGpu attention_hopper_chip() { return attention_chip(9); }

}  // namespace smtwin::test
