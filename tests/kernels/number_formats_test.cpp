// SPDX-License-Identifier: Apache-2.0
// Bit patterns of the small number formats against their values.
#include "kernels/number_formats.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("E4M3, BF16 and UE8M0 as values", "[unit]") {
  CHECK(e4m3_value(0x00) == 0);
  CHECK(e4m3_value(0x01) == std::ldexp(1.0, -9));  // least subnormal: 1/8 x 2^-6
  CHECK(e4m3_value(0x08) == std::ldexp(1.0, -6));  // least normal
  CHECK(e4m3_value(0x38) == 1);                    // exponent 7 is the bias
  CHECK(e4m3_value(0xBC) == -1.5);                 // 1 100: 1 + 4/8
  CHECK(e4m3_value(0x7E) == 448);                  // largest: 1.75 x 2^8
  CHECK(std::isnan(e4m3_value(0x7F)));
  CHECK(std::isnan(e4m3_value(0xFF)));
  CHECK(bf16_value(0x3FC0) == 1.5);
  CHECK(std::isnan(bf16_value(0xFFFF)));  // what poisoning leaves
  CHECK(ue8m0_value(127) == 1);
  CHECK(ue8m0_value(120) == std::ldexp(1.0, -7));
  CHECK(std::isnan(ue8m0_value(0xFF)));
}
