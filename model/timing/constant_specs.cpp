// SPDX-License-Identifier: Apache-2.0
#include "model/timing/constant_specs.hpp"

namespace smtwin {

ConstantSpec dram_rate_spec(const TimingGpu& gpu) {
  // Between streams that use the memory badly and what the interface cannot exceed; 5 % beyond it
  // for rows whose bytes were partly in the L2.
  return {.name = "dram_rate",
          .unit = "B/s",
          .meaning = "DRAM read rate of a full grid",
          .prior = gpu.dram_read_bytes_per_s,
          .log_sigma = 0.05,
          .low = 0.7 * gpu.dram_bytes_per_s,
          .high = 1.05 * gpu.dram_bytes_per_s,
          .of_gpu = true};
}

}  // namespace smtwin
