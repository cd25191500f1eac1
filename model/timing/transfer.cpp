// SPDX-License-Identifier: Apache-2.0
#include "model/timing/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "arch/error.hpp"

namespace smtwin {
namespace {

double power_factor(const TimingGpu& from, const TimingGpu& to) {
  if (from.board_power_w <= 0 || to.board_power_w <= 0) return 1;
  const double cube_ratio =
      from.sm_count * std::pow(from.clock_hz, 3) / (to.sm_count * std::pow(to.clock_hz, 3));
  return std::min(1.0, std::cbrt(to.board_power_w / from.board_power_w * cube_ratio));
}

void check_constants(const FamilyCalibration& fitted, std::span<const ConstantSpec> specs) {
  const bool same =
      std::equal(fitted.constants.begin(), fitted.constants.end(), specs.begin(), specs.end(),
                 [](const FittedConstant& c, const ConstantSpec& s) { return c.name == s.name; });
  if (same && fitted.covariance.size() == specs.size() * specs.size()) return;
  std::string expected, found;
  for (const ConstantSpec& s : specs) expected += (expected.empty() ? "" : ", ") + s.name;
  for (const FittedConstant& c : fitted.constants) found += (found.empty() ? "" : ", ") + c.name;
  throw DataError("profile: family " + fitted.identity.key() + ": this version has the constants " +
                  expected + "; found " + (found.empty() ? "none" : found) +
                  "; fit it again with smtwin calibrate");
}

}  // namespace

bool are_relatives(ComputeCapability a, ComputeCapability b) { return a.major == b.major; }

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
                               g.dram_read_bytes_per_s,
                               g.shared_bytes_per_sm};
  };
  return numbers(a) == numbers(b);
}

std::vector<double> transferred_values(const FamilyCalibration& fitted,
                                       std::span<const ConstantSpec> source, const TimingGpu& from,
                                       std::span<const ConstantSpec> target, const TimingGpu& to) {
  check_constants(fitted, target);
  const bool same = same_specification(from, to);
  const double power = power_factor(from, to);
  std::vector<double> values;
  for (std::size_t j = 0; j < target.size(); ++j) {
    double value = fitted.constants[j].value;
    if (!same) value *= target[j].prior / source[j].prior;
    if (!same && target[j].unit == "flop/s") value *= power;
    values.push_back(value);
  }
  return values;
}

}  // namespace smtwin
