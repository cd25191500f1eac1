// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/mla_terms.hpp"

#include <cmath>
#include <utility>

#include "model/families/attention/replay_tick.hpp"

namespace smtwin {

namespace {

// Part of the L2 that a replay finds again. Hopper's L2 is two halves that each cache for their
// own SMs. From where the rows of all latent-attention families leave the warm line.
constexpr double kHopperL2Share = 0.65;
constexpr double kL2Share = 0.95;
constexpr int kSharpness = 8;

// Width of the smoothed step, in ticks: replays jitter by about half a microsecond.
constexpr double kTickWidth = 0.25;

// Bounds of a fitted time or rate around its prior.
constexpr double kSpan = 30;

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
  return cold_share(bytes, share * gpu.l2_bytes, kSharpness);
}

double norm2(double a, double b) { return std::sqrt(a * a + b * b); }

double norm3(double a, double b, double c) { return std::cbrt(a * a * a + b * b * b + c * c * c); }

double norm4(double a, double b) {
  const double a2 = a * a, b2 = b * b;
  return std::sqrt(std::sqrt(a2 * a2 + b2 * b2));
}

double mla_reading_s(double seconds, const TimingGpu& gpu, double phase_ticks) {
  const double tick = gpu.replay_tick_s;
  return replay_reading_s(seconds, tick, phase_ticks * tick, kTickWidth);
}

ConstantSpec time_spec(std::string name, std::string unit, std::string meaning, double prior_s,
                       double log_sigma) {
  return {.name = std::move(name),
          .unit = std::move(unit),
          .meaning = std::move(meaning),
          .prior = prior_s,
          .log_sigma = log_sigma,
          .low = prior_s / kSpan,
          .high = prior_s * kSpan,
          .off = 0};
}

ConstantSpec rate_spec(std::string name, std::string unit, std::string meaning, double prior,
                       double log_sigma) {
  return {.name = std::move(name),
          .unit = std::move(unit),
          .meaning = std::move(meaning),
          .prior = prior,
          .log_sigma = log_sigma,
          .low = prior / kSpan,
          .high = prior * kSpan,
          .off = 1e30};
}

}  // namespace smtwin
