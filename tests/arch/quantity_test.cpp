// SPDX-License-Identifier: Apache-2.0
// Numbers with units, as typed in --set.
#include "arch/quantity.hpp"

#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("numbers with units become base units", "[unit]") {
  CHECK(parse_quantity("228KiB", "B") == 233472);
  CHECK(parse_quantity(" 1.5 KiB ", "B") == 1536);
  CHECK(parse_quantity("16kB", "B") == 16000);
  CHECK(parse_quantity("61568", "B") == 61568);
  CHECK(parse_quantity("1.6TB/s", "B/s") == 1.6e12);
  CHECK(parse_quantity("1792GB", "B/s") == 1.792e12);
  CHECK(parse_quantity("2430MHz", "Hz") == 2.43e9);
  CHECK(*parse_quantity("0.71us", "s") == Approx(0.71e-6));
  CHECK(parse_quantity("350W", "W") == 350);
  CHECK(parse_quantity("1e3", "") == 1000);
}

TEST_CASE("what is not a number of that unit", "[unit]") {
  std::string problem;
  for (const char* bad : {"", " ", "KiB", "nan", "inf", "-inf", "1e400", "--1", "0x10"}) {
    INFO(bad);
    CHECK_FALSE(parse_quantity(bad, "B", &problem).has_value());
  }
  CHECK_FALSE(parse_quantity("228K", "B", &problem).has_value());
  CHECK(problem == "unknown unit; known are B, kB, MB, GB, TB, KiB, MiB, GiB");
  CHECK_FALSE(parse_quantity("16KiB", "", &problem).has_value());
  CHECK(problem == "takes a plain number without unit");
  CHECK_FALSE(parse_quantity("1e308GB", "B", &problem).has_value());
  CHECK(problem == "number too large");
  CHECK_FALSE(parse_quantity("5GHz", "B").has_value());
}

TEST_CASE("what somebody meant", "[unit]") {
  CHECK(probable_number("64K") == 65536);
  CHECK(probable_number("65536") == 65536);
  CHECK(probable_number("99 KiB") == 101376);
  CHECK_FALSE(probable_number("many").has_value());
}

TEST_CASE("numbers print short and exact", "[unit]") {
  CHECK(number_text(102400) == "102400");
  CHECK(number_text(100000) == "100000");
  CHECK(number_text(-3) == "-3");
  CHECK(number_text(1.792e12) == "1.792e+12");
  CHECK(number_text(0.9615) == "0.9615");
}
