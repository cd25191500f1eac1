// SPDX-License-Identifier: Apache-2.0
// The constants of an expert-layer family: which ones an implementation has, and where each stands
// in the list of values.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "model/families/moe/moe_shape.hpp"
#include "model/timing/constant_spec.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

enum class MoeConstant : std::uint8_t {
  dram_rate,
  fixed,
  replay,
  math_share,
  step,
  tile,
  feed_rate,
  warm_rate,
  per_expert,
  per_pair,
  row_bytes,
  per_column,
  token_bytes,
  slow_topk,
  single_expert,
  ep_routing,
  resident,
  remote_tile,
  narrow_share,
  unaligned,
  math_share_wide,
  empty_row,
  input_weight,
  sort
};
inline constexpr std::size_t kMoeConstantCount = 24;

class MoeConstants {
 public:
  MoeConstants(const TimingGpu& gpu, const MoeImplementation& how);

  const std::vector<ConstantSpec>& specs() const { return specs_; }
  bool has(MoeConstant c) const { return at_[index(c)] >= 0; }
  // The value in `values`, or what stands for a constant that this family does not have.
  double value(MoeConstant c, std::span<const double> values) const {
    const int at = at_[index(c)];
    return at >= 0 ? values[static_cast<std::size_t>(at)] : absent_[index(c)];
  }

 private:
  static std::size_t index(MoeConstant c) { return static_cast<std::size_t>(c); }
  void add(MoeConstant c, ConstantSpec spec);

  std::vector<ConstantSpec> specs_;
  std::array<int, kMoeConstantCount> at_{};
  std::array<double, kMoeConstantCount> absent_{};
};

}  // namespace smtwin
