// SPDX-License-Identifier: Apache-2.0
#include "model/families/own_kernels/own_constants.hpp"

#include "model/timing/constant_specs.hpp"

namespace smtwin {

ConstantSpec launch_time_spec(const ProbedGpu& probed) {
  // An empty kernel has no arguments to fetch and next to no code.
  return removable(constant_spec("launch_time", "s", "event pair and launch of one kernel",
                                 probed.launch_s.value, 0.2, 4),
                   0);
}

ConstantSpec own_dram_rate_spec(const ProbedGpu& probed) {
  return constant_spec("kernel_dram_rate", "B/s", "DRAM read rate of this kernel's access pattern",
                       probed.dram_read_bytes_per_s.value, 0.1, 2);
}

}  // namespace smtwin
