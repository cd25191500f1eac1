// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/replay_tick.hpp"

#include <cmath>

namespace smtwin {

namespace {

// Where readings cluster, in ticks: each framework's collector adds its own constant. Circular
// mean of rows below 60 us; equal within 0.05 for all kernels of a framework.
constexpr double kVllmPhase = 0.32, kSglangPhase = 0.10, kTrtllmPhase = 0.38;

// Width of a step, in ticks: as the rows spread, and for slopes.
constexpr double kJitter = 0.1, kSlopeWidth = 0.3;

double reading(double seconds, double tick_s, double phase_s, double width) {
  if (tick_s <= 0) return seconds;
  const double x = (seconds - phase_s) / tick_s;
  const double whole = std::floor(x);
  const auto step = [width](double s) { return 1 / (1 + std::exp(-2 * s / width)); };
  // The rise at this cell's lower edge and the onset of the next one.
  return phase_s + tick_s * (whole + step(x - whole) + step(x - whole - 1));
}

}  // namespace

double replay_phase_s(AttentionFramework framework, double tick_s) {
  switch (framework) {
    case AttentionFramework::vllm:
      return kVllmPhase * tick_s;
    case AttentionFramework::sglang:
      return kSglangPhase * tick_s;
    case AttentionFramework::trtllm:
      break;
  }
  return kTrtllmPhase * tick_s;
}

double replay_reading_s(double seconds, double tick_s, double phase_s) {
  return reading(seconds, tick_s, phase_s, kJitter);
}

double smooth_replay_reading_s(double seconds, double tick_s, double phase_s) {
  return reading(seconds, tick_s, phase_s, kSlopeWidth);
}

}  // namespace smtwin
