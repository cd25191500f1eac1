// SPDX-License-Identifier: Apache-2.0
#include "model/timing/loop_time.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "model/quantity_text.hpp"

namespace smtwin {
namespace {

constexpr double kNoChange = 1e-3;  // of what decides: not worth a word

// (b - a) / log(b / a): what a logarithmic change of a quantity between a and b is worth.
double logarithmic_mean(double a, double b) {
  const double ratio = b / a;
  return std::fabs(ratio - 1) < 1e-9 ? a : (b - a) / std::log(ratio);
}

std::string signed_seconds(double seconds) {
  return (seconds < 0 ? "-" : "+") + quantity_text(std::fabs(seconds), "s");
}

}  // namespace

LoopChange loop_change(const LoopTime& first, const LoopTime& second) {
  LoopChange c;
  c.fixed_s = second.fixed_s - first.fixed_s;
  if (!(first.loop_s > 0 && second.loop_s > 0)) return c;
  const double weight = logarithmic_mean(first.loop_s, second.loop_s);
  c.work_ratio = second.work_s / first.work_s;
  c.warps_ratio = second.warps / first.warps;
  c.fill_ratio = second.fill / first.fill;
  c.work_s = weight * std::log(c.work_ratio);
  c.warps_s = -weight * std::log(c.warps_ratio);
  c.fill_s = weight * std::log(c.fill_ratio);
  return c;
}

std::string describe(const LoopChange& c) {
  struct Cause {
    double seconds;
    const char* name;
    std::string how;
  };
  const Cause causes[] = {
      {c.work_s, "the work of the warps", "warp-seconds x " + count_text(c.work_ratio)},
      {c.warps_s, "latency hiding by resident warps",
       "resident warps x " + count_text(c.warps_ratio)},
      {c.fill_s, "how the grid fills the SMs", "grid fill x " + count_text(1 / c.fill_ratio)},
      {c.fixed_s, "fixed cost", "fixed cost"}};
  // The cause that pushes hardest in the direction of the whole change.
  const double sign = c.total_s() < 0 ? -1 : 1;
  const Cause& decides = *std::max_element(
      std::begin(causes), std::end(causes),
      [&](const Cause& a, const Cause& b) { return sign * a.seconds < sign * b.seconds; });
  std::string text;
  for (const Cause& cause : causes) {
    if (std::fabs(cause.seconds) < kNoChange * std::fabs(decides.seconds)) continue;
    text += (text.empty() ? "" : ", ") + cause.how + " (" + signed_seconds(cause.seconds) + ")";
  }
  return std::string(decides.name) + " decides: " + text;
}

}  // namespace smtwin
