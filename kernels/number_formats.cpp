// SPDX-License-Identifier: Apache-2.0
#include "kernels/number_formats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace smtwin {

double bf16_value(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

double e4m3_value(std::uint8_t bits) {
  constexpr int kBias = 7, kMantissaBits = 3;
  const int exponent = bits >> kMantissaBits & 0xF, mantissa = bits & 0x7;
  if (exponent == 0xF && mantissa == 0x7) return std::numeric_limits<double>::quiet_NaN();
  const int significand = exponent == 0 ? mantissa : mantissa + (1 << kMantissaBits);
  const double value = std::ldexp(significand, std::max(exponent, 1) - kBias - kMantissaBits);
  return (bits & 0x80) != 0 ? -value : value;
}

double ue8m0_value(std::uint8_t bits) {
  if (bits == 0xff) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(1.0, int{bits} - 127);
}

}  // namespace smtwin
