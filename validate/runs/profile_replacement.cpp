// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/profile_replacement.hpp"

#include <cmath>
#include <sstream>

namespace smtwin {
namespace {

// Two runs of one GPU differ by about this much; beyond it the older constants are better.
constexpr double kSlackRatio = 1.1;
constexpr double kMedianSlack = 0.003;
constexpr double kP90Slack = 0.01;
constexpr double kLeastShareOfShapes = 0.5;

std::string percent(double fraction) {
  std::ostringstream text;
  text.precision(3);
  text << fraction * 100 << " %";
  return text.str();
}

bool worse(double fresh, double old, double slack) { return fresh > old * kSlackRatio + slack; }

}  // namespace

std::vector<std::string> losses(const CalibrationProfile& fresh, const CalibrationProfile& old) {
  std::vector<std::string> found;
  if (fresh.gpu != old.gpu) {
    found.push_back("it is of " + old.gpu + ", the new one of " + fresh.gpu);
    return found;
  }
  for (const FamilyCalibration& family : fresh.families) {
    const FamilyCalibration* before = old.find(family.identity);
    if (before == nullptr) continue;
    const UnseenShapes& now = family.unseen;
    const UnseenShapes& then = before->unseen;
    const std::string name = family.identity.key();
    if (worse(now.median_error, then.median_error, kMedianSlack)) {
      found.push_back(name + " has a median error of " + percent(then.median_error) +
                      " on unseen shapes, the new one " + percent(now.median_error));
    } else if (worse(now.p90_error, then.p90_error, kP90Slack)) {
      found.push_back(name + " has a p90 error of " + percent(then.p90_error) +
                      " on unseen shapes, the new one " + percent(now.p90_error));
    } else if (static_cast<double>(now.shapes) <
               kLeastShareOfShapes * static_cast<double>(then.shapes)) {
      found.push_back(name + " was fitted on " + std::to_string(then.shapes) +
                      " shapes, the new one on " + std::to_string(now.shapes));
    }
  }
  return found;
}

}  // namespace smtwin
