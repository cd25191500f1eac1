// SPDX-License-Identifier: Apache-2.0
#include "model/timing/constant_specs.hpp"

#include <utility>

namespace smtwin {

ConstantSpec constant_spec(std::string name, std::string unit, std::string meaning, double prior,
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
