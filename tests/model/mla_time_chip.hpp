// SPDX-License-Identifier: Apache-2.0
// Invented GPUs and values for hand arithmetic of latent attention.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "model/timing/constant_spec.hpp"
#include "tests/model/timing_chip.hpp"

namespace smtwin::test {

// 10 SMs, 1 TB/s of DRAM, 1 MB of L2, no timer grid.
inline TimingGpu mla_chip(int major) {
  TimingGpu g = timing_chip("mla-chip", major, 10, 1e6);
  g.dram_read_bytes_per_s = 0.9e12;
  g.bf16_flops_per_s = 100e12;
  g.fp8_flops_per_s = 200e12;
  g.nvfp4_flops_per_s = 400e12;
  return g;
}

struct NamedValue {
  std::string_view name;
  double value;
};

// The given values in the order of `specs`; what is not named is free: 0 s, rates beyond reach.
inline std::vector<double> mla_values(const std::vector<ConstantSpec>& specs,
                                      const std::vector<NamedValue>& named) {
  std::vector<double> values;
  for (const ConstantSpec& spec : specs) {
    const auto given = std::find_if(named.begin(), named.end(),
                                    [&](const NamedValue& n) { return n.name == spec.name; });
    values.push_back(given != named.end() ? given->value : spec.unit == "s" ? 0 : 1e30);
  }
  return values;
}

inline std::vector<double> mla_priors(const std::vector<ConstantSpec>& specs) {
  std::vector<double> values;
  for (const ConstantSpec& spec : specs) values.push_back(spec.prior);
  return values;
}

}  // namespace smtwin::test
