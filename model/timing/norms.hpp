// SPDX-License-Identifier: Apache-2.0
// How bounds of a kernel that overlap add: (sum of t^p)^(1/p). p = 1 is one after the other,
// infinity the largest alone. For the small whole p of the families, without pow().
#pragma once

#include <cmath>

namespace smtwin {

inline double norm2(double a, double b) { return std::sqrt(a * a + b * b); }

inline double norm3(double a, double b) { return std::cbrt(a * a * a + b * b * b); }

inline double norm4(double a, double b) {
  const double a2 = a * a, b2 = b * b;
  return std::sqrt(std::sqrt(a2 * a2 + b2 * b2));
}

inline double norm6(double a, double b) {
  const double a3 = a * a * a, b3 = b * b * b;
  return std::cbrt(std::sqrt(a3 * a3 + b3 * b3));
}

inline double norm8(double a, double b) {
  const double a2 = a * a, b2 = b * b;
  return std::sqrt(norm4(a2, b2));
}

}  // namespace smtwin
