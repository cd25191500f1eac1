// SPDX-License-Identifier: Apache-2.0
#include "model/families/own_kernels/own_constants.hpp"

#include <utility>

namespace smtwin {

ConstantSpec own_constant(std::string name, std::string unit, std::string meaning, double prior,
                          double log_sigma, double range) {
  ConstantSpec s;
  s.name = std::move(name);
  s.unit = std::move(unit);
  s.meaning = std::move(meaning);
  s.prior = prior;
  s.log_sigma = log_sigma;
  s.low = prior / range;
  s.high = prior * range;
  return s;
}

ConstantSpec removable(ConstantSpec spec, double off) {
  spec.off = off;
  return spec;
}

ConstantSpec launch_time_spec(const ProbedGpu& probed) {
  // An empty kernel has no arguments to fetch and next to no code.
  return removable(own_constant("launch_time", "s", "event pair and launch of one kernel",
                                probed.launch_s.value, 0.2, 4),
                   0);
}

ConstantSpec own_dram_rate_spec(const ProbedGpu& probed) {
  return own_constant("kernel_dram_rate", "B/s", "DRAM read rate of this kernel's access pattern",
                      probed.dram_read_bytes_per_s.value, 0.1, 2);
}

}  // namespace smtwin
