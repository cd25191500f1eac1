// SPDX-License-Identifier: Apache-2.0
// Integer helpers and unit constants. Inside the program every quantity is in its base unit:
// bytes, seconds, hertz, flops, cycles; prefixes exist only in cli/ views and flags.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace smtwin {

inline constexpr std::int64_t kKiB = 1024;
inline constexpr std::int64_t kMiB = 1024 * kKiB;
inline constexpr std::int64_t kGiB = 1024 * kMiB;
inline constexpr double kFlopsPerFma = 2.0;

// Quotient rounded up; both arguments positive (a may be 0).
template <typename T>
constexpr T ceil_div(T a, T b) {
  static_assert(std::is_integral_v<T>);
  return static_cast<T>(a / b + (a % b != 0 ? 1 : 0));
}

// Smallest multiple of unit that is >= x.
template <typename T>
constexpr T round_up(T x, T unit) {
  return static_cast<T>(ceil_div(x, unit) * unit);
}

// Product of two non-negative counts, or INT64_MAX where it would overflow: sizes that come from
// a user's file multiply into bytes, and a saturated size never looks like one that fits.
constexpr std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (a <= 0 || b <= 0) return 0;
  return a > kMax / b ? kMax : a * b;
}

constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  return a > kMax - b ? kMax : a + b;
}

}  // namespace smtwin
