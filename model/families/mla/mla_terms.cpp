// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/mla_terms.hpp"

#include <cmath>
#include <utility>

namespace smtwin {

namespace {

// Part of the L2 that a replay finds again. Hopper's L2 is two halves that each cache for their
// own SMs. From where the rows of all latent-attention families leave the warm line.
constexpr double kHopperL2Share = 0.65;
constexpr double kL2Share = 0.95;
constexpr int kSharpness = 16;

// Width of the smoothed step, in ticks: replays jitter by about half a microsecond.
constexpr double kTickWidth = 0.25;

}  // namespace

MlaTime& MlaTime::operator+=(const MlaTime& other) {
  seconds += other.seconds;
  launch_s += other.launch_s;
  latency_s += other.latency_s;
  l2_s += other.l2_s;
  dram_s += other.dram_s;
  compute_s += other.compute_s;
  return *this;
}

TimeParts to_parts(const MlaTime& time, std::string choice) {
  TimeParts parts;
  parts.seconds = time.seconds;
  parts[Regime::launch] = time.launch_s;
  parts[Regime::latency] = time.latency_s;
  parts[Regime::l2] = time.l2_s;
  parts[Regime::dram] = time.dram_s;
  parts[Regime::compute] = time.compute_s;
  parts.choice = std::move(choice);
  return parts;
}

double replayed_cold_share(double bytes, const TimingGpu& gpu) {
  const double share = gpu.hopper() ? kHopperL2Share : kL2Share;
  double x = 1;
  for (int i = 0; i < kSharpness; ++i) x *= bytes / (share * gpu.l2_bytes);
  return std::isfinite(x) ? x / (1 + x) : 1;
}

double mla_reading_s(double seconds, const TimingGpu& gpu, double phase_ticks) {
  const double tick = gpu.replay_tick_s;
  if (tick <= 0) return seconds;
  const double ticks = seconds / tick - phase_ticks;
  const double whole = std::floor(ticks);
  const auto step = [](double x) { return 1 / (1 + std::exp(-2 * x / kTickWidth)); };
  // The rise at this cell's lower edge and the onset of the next one.
  return tick * (phase_ticks + whole + step(ticks - whole) + step(ticks - whole - 1));
}

}  // namespace smtwin
