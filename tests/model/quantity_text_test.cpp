// SPDX-License-Identifier: Apache-2.0
#include "model/quantity_text.hpp"

#include "tests/catch.hpp"

using smtwin::count_text;
using smtwin::quantity_text;

TEST_CASE("quantities have three digits and the prefix that fits", "[unit]") {
  CHECK(quantity_text(1.597e12, "B/s") == "1.60 TB/s");
  CHECK(quantity_text(355.6e-9, "s") == "356 ns");
  CHECK(quantity_text(13.46e-6, "s") == "13.5 us");
  CHECK(quantity_text(1, "s") == "1.00 s");
  CHECK(quantity_text(0, "B") == "0 B");
  CHECK(quantity_text(61568, "B") == "61.6 kB");
  // Rounding that crosses a power of 1000 changes the prefix: 999.7 is not "1000 B".
  CHECK(quantity_text(999.7, "B") == "1.00 kB");
  CHECK(quantity_text(999.4, "B") == "999 B");
  CHECK(quantity_text(9.996e-6, "s") == "10.0 us");
  CHECK(quantity_text(-2e-6, "s") == "-2.00 us");
}

TEST_CASE("counts have separators and no idle zeros", "[unit]") {
  CHECK(count_text(1024) == "1,024");
  CHECK(count_text(1234567) == "1,234,567");
  CHECK(count_text(999) == "999");
  CHECK(count_text(0.25) == "0.25");
  CHECK(count_text(1000.5) == "1,000.5");
  CHECK(count_text(0) == "0");
  CHECK(count_text(-1000) == "-1,000");
}
