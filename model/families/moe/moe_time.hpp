// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "model/families/moe/moe_constants.hpp"
#include "model/families/moe/moe_library.hpp"
#include "model/families/moe/moe_shape.hpp"
#include "model/families/moe/routing.hpp"
#include "model/timing/time_problem.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

inline constexpr std::size_t kMoeMaxTiles = 8;

struct MoeTileWork {
  double math_s = 0, feed_bytes = 0, empty_bytes = 0, steps = 0, rounds = 0, remote_ctas = 0;
  double ctas = 0, occ = 1;
  bool narrow = false, wide = false;
};
struct MoeGemmWork {
  double weight_bytes = 0;
  bool unaligned = false;
  std::array<MoeTileWork, kMoeMaxTiles> tiles{};
};
struct MoePoint {
  MoeShape shape;
  std::array<MoeGemmWork, 2> gemm;
  int tile_count = 0;
  std::array<MoeTile, kMoeMaxTiles> tile{};
  double working_weights_bytes = 0;
  double token_bytes_unit = 0, row_bytes_unit = 0, pairs = 0;
  bool balanced = false;
  double tuner_weights_bytes = 0, tuner_row_bytes = 0;
  std::array<MoeGemmWork, 2> tuner;
};

class MoeTimeModel {
 public:
  MoeTimeModel(const TimingGpu& gpu, const MoeImplementation& how);
  const std::vector<ConstantSpec>& constants() const { return constants_.specs(); }
  MoePoint prepare(const MoeShape& shape, const MoeRouting& routing) const;
  MoePoint prepare_work(const MoeShape& shape, const MoeRouting& routing) const;
  double seconds(const MoePoint& p, std::span<const double> values, CacheState cache, int& choice, bool search) const;
  double replay_s(std::span<const double> values) const { return constants_.value(MoeConstant::replay, values); }

 private:
  TimingGpu gpu_;
  MoeImplementation how_;
  MoeFormat format_;
  MoeConstants constants_;
};

}  // namespace smtwin
