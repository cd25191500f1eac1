// SPDX-License-Identifier: Apache-2.0
#include "kernels/text.hpp"

#include <limits>

#include "tests/catch.hpp"

using smtwin::lower_case;
using smtwin::short_number;
using smtwin::with_separators;

TEST_CASE("thousands are separated", "[unit]") {
  CHECK(with_separators(0) == "0");
  CHECK(with_separators(999) == "999");
  CHECK(with_separators(1000) == "1,000");
  CHECK(with_separators(61568) == "61,568");
  CHECK(with_separators(1234567) == "1,234,567");
  CHECK(with_separators(-101376) == "-101,376");
  CHECK(with_separators(-999) == "-999");
  CHECK(with_separators(std::numeric_limits<std::int64_t>::max()) == "9,223,372,036,854,775,807");
}

TEST_CASE("short numbers keep three digits and no exponent", "[unit]") {
  CHECK(short_number(0.125) == "0.125");
  CHECK(short_number(2) == "2");
  CHECK(short_number(92.44) == "92.4");
  CHECK(short_number(12345.4) == "12,345");
}

TEST_CASE("names are compared in lower case", "[unit]") {
  CHECK(lower_case("BLOCK_M") == "block_m");
  CHECK(lower_case("") == "");
}
