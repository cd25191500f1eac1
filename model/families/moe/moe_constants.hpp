// SPDX-License-Identifier: Apache-2.0
// The constants of an expert-layer family: which ones an implementation has, what is known about
// them beforehand, and where each stands in the list of values. What a family does not have is
// either absent physically (a path without that kernel) or bought less than 0.3 points of median
// error and is held at the value of `absent`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/families/moe/moe_shape.hpp"
#include "model/timing/constant_spec.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

enum class MoeConstant : std::uint8_t {
  dram_rate,
  fixed_time,
  k_step_time,
  tile_time,
  feed_rate,
  row_traffic,
  warm_rate,
  expert_time,
  token_bytes,
  sort_time,
  column_time,
  pair_time,
  input_weight_bytes,
  slow_topk_time,
  slow_topk_row_time,
  remote_tile_time,
  align_time,
  narrow_share,
  unaligned_factor,
  empty_row_factor,
  switch_time,
  math_share,
  ep_routing_time
};
inline constexpr std::size_t kMoeConstantCount = 23;

class MoeConstants {
 public:
  MoeConstants(const TimingGpu& gpu, const MoeImplementation& how);

  const std::vector<ConstantSpec>& specs() const { return specs_; }
  double value(MoeConstant c, std::span<const double> values) const {
    const int at = at_[index(c)];
    return at >= 0 ? values[static_cast<std::size_t>(at)] : absent_[index(c)];
  }

 private:
  static std::size_t index(MoeConstant c) { return static_cast<std::size_t>(c); }
  void add(MoeConstant c, ConstantSpec spec);
  void add_latencies(const TimingGpu& gpu, const MoeImplementation& how);
  void add_rates(const TimingGpu& gpu, const MoeImplementation& how);
  void add_kernels_around(const TimingGpu& gpu, const MoeImplementation& how);
  void add_routing(const TimingGpu& gpu, const MoeImplementation& how);

  std::vector<ConstantSpec> specs_;
  std::array<int, kMoeConstantCount> at_{};
  std::array<double, kMoeConstantCount> absent_{};
};

// Rate at which a grid reads what lies in the L2, used where the family does not fit its own: from
// the warm rows of both GPUs, the same rate per SM and clock assumed for relatives of the chip.
double moe_l2_read_bytes_per_s(const TimingGpu& gpu);

}  // namespace smtwin
