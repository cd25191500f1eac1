// SPDX-License-Identifier: Apache-2.0
#include "model/timing/transfer.hpp"

#include <algorithm>
#include <cmath>

namespace smtwin {
namespace {

double power_factor(const TimingGpu& from, const TimingGpu& to) {
  if (from.board_power_w <= 0 || to.board_power_w <= 0) return 1;
  const double cube_ratio =
      from.sm_count * std::pow(from.clock_hz, 3) / (to.sm_count * std::pow(to.clock_hz, 3));
  return std::min(1.0, std::cbrt(to.board_power_w / from.board_power_w * cube_ratio));
}

const ConstantSpec* find(std::span<const ConstantSpec> specs, const std::string& name) {
  const auto it = std::find_if(specs.begin(), specs.end(),
                               [&](const ConstantSpec& s) { return s.name == name; });
  return it == specs.end() ? nullptr : &*it;
}

}  // namespace

bool are_relatives(const TimingGpu& a, const TimingGpu& b) {
  return a.compute_capability.major == b.compute_capability.major;
}

bool same_specification(const TimingGpu& a, const TimingGpu& b) {
  const auto numbers = [](const TimingGpu& g) {
    return std::vector<double>{g.sm_count,
                               g.clock_hz,
                               g.l2_bytes,
                               g.dram_bytes_per_s,
                               g.l2_latency_s,
                               g.dram_latency_s,
                               g.bf16_flops_per_s,
                               g.fp8_flops_per_s,
                               g.nvfp4_flops_per_s,
                               g.nvlink_bytes_per_s,
                               g.pcie_bytes_per_s,
                               g.board_power_w,
                               g.dram_read_bytes_per_s};
  };
  return numbers(a) == numbers(b);
}

std::vector<double> transferred_values(const FamilyCalibration& fitted,
                                       std::span<const ConstantSpec> source, const TimingGpu& from,
                                       std::span<const ConstantSpec> target, const TimingGpu& to) {
  const bool same = same_specification(from, to);
  const double power = power_factor(from, to);
  std::vector<double> values;
  for (const ConstantSpec& spec : target) {
    double value = spec.prior;
    for (const FittedConstant& c : fitted.constants) {
      if (c.name != spec.name) continue;
      const ConstantSpec* before = find(source, c.name);
      value = same || before == nullptr ? c.value : c.value * spec.prior / before->prior;
      if (!same && spec.unit == "flop/s") value *= power;
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace smtwin
