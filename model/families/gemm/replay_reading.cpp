// SPDX-License-Identifier: Apache-2.0
#include "model/families/gemm/replay_reading.hpp"

#include <cmath>

#include "model/timing/norms.hpp"

namespace smtwin {
namespace {

constexpr double kJitter_s = 0.35e-6;  // of the start against the clock, set on SM120 rows
constexpr int kTicksEachSide = 2;      // beyond them the normal distribution is 0 or 1

double normal_cdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }

}  // namespace

double ticked_seconds(double seconds, double tick_s) {
  if (tick_s <= 0) return seconds;
  const double below = std::floor(seconds / tick_s);
  double ticks = below - kTicksEachSide;
  for (int j = -kTicksEachSide; j <= kTicksEachSide; ++j) {
    ticks += normal_cdf((seconds - (below + j) * tick_s) / kJitter_s);
  }
  return tick_s * ticks;
}

double replayed_reading_s(double op_s, const ReplayLoop& loop) {
  const double replay = ticked_seconds(loop.ops_per_replay * op_s, loop.tick_s);
  return (replay + 2 * loop.tick_s / loop.replays) / loop.ops_per_replay;
}

double host_timed_reading_s(double op_s, double host_s) { return norm4(op_s, host_s); }

}  // namespace smtwin
