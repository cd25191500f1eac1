// SPDX-License-Identifier: Apache-2.0
// Tables as users bring them: quoting, line ends, byte order mark, gaps, and exact complaints.
#include "validate/csv.hpp"

#include <sstream>

#include "arch/error.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

namespace {
using Row = std::vector<std::string>;

std::vector<Row> rows_of(const std::string& text) {
  std::istringstream in(text);
  CsvReader table(in, "rows.csv");
  std::vector<Row> rows = {table.header()};
  for (Row row; table.next(row);) rows.push_back(row);
  return rows;
}

std::string complaint(const std::string& text) {
  try {
    rows_of(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}
}  // namespace

TEST_CASE("line ends, byte order mark and blank lines do not matter", "[unit]") {
  const std::vector<Row> wanted = {{"a", "b"}, {"1", "2"}, {"3", "4"}};
  CHECK(rows_of("a,b\n1,2\n3,4\n") == wanted);
  CHECK(rows_of("a,b\r\n1,2\r\n3,4") == wanted);
  CHECK(rows_of("\xEF\xBB\xBF"
                "a,b\n\n1,2\n  \n3,4\n\n") == wanted);
  CHECK(rows_of("\xEF\xBB\xBF\"a\",b\n1 , 2\n\t3,4 \n") == wanted);
  CHECK(rows_of("\n\na,b\r1,2\r3,4") == wanted);
}

TEST_CASE("quoted cells keep commas, quotes, blanks and line breaks", "[unit]") {
  const auto rows = rows_of("name,size\n\"(256, 1, 1)\",\" 1 \"\n\"say \"\"x\"\"\",\"a\nb\"\n");
  CHECK(rows[1] == Row{"(256, 1, 1)", " 1 "});
  CHECK(rows[2] == Row{"say \"x\"", "a\nb"});
  CHECK(rows_of("a,b\n,\n")[1] == Row{"", ""});
}

TEST_CASE("the line of a row is where it begins", "[unit]") {
  std::istringstream in("a,b\n\"x\ny\",1\n2,3\n");
  CsvReader table(in, "rows.csv");
  Row row;
  REQUIRE(table.next(row));
  CHECK(table.line() == 2);
  REQUIRE(table.next(row));
  CHECK(table.line() == 4);
  CHECK(table.where() == "rows.csv:4");
  CHECK_FALSE(table.next(row));
}

TEST_CASE("malformed tables are refused with file and line", "[unit]") {
  CHECK(complaint("") == "rows.csv: no header line; expected a table with column names first");
  CHECK(complaint("\n  \n") ==
        "rows.csv: no header line; expected a table with column names first");
  CHECK(complaint("a,b\n1,2\n3\n") == "rows.csv:3: found 1 cells, the header has 2 columns (a, b)");
  CHECK(complaint("a,b\n1,2,3\n") == "rows.csv:2: found 3 cells, the header has 2 columns (a, b)");
  CHECK(complaint("a,b\n1,\"2\n3,4\n") == "rows.csv:2: a quote that opens here is never closed");
  CHECK(complaint("a,b\n\"1\"x,2\n") ==
        "rows.csv:2: text after a closing quote; write a quote inside quotes twice");
  CHECK(complaint("a,b,a\n1,2,3\n") ==
        "rows.csv:1: column \"a\" appears twice; rename one of them");
}

TEST_CASE("missing columns are all named", "[unit]") {
  std::istringstream in("a,b\n");
  const CsvReader table(in, "rows.csv");
  CHECK(table.require_column("b") == 1);
  CHECK_FALSE(table.column("c").has_value());
  CHECK_THROWS_WITH(table.require_columns({"a", "c", "d"}),
                    "rows.csv: missing columns c, d; the file has a, b");
  CHECK_THROWS_WITH(table.require_column("c"), "rows.csv: missing column c; the file has a, b");
}

TEST_CASE("numbers in cells", "[unit]") {
  std::istringstream in(
      "n,x\n 16 ,2.5e3\n16.0,-1\n,\n+7,nan\n1.5,0x10\n99999999999999999999,1e999\n");
  CsvReader table(in, "rows.csv");
  Row row;
  REQUIRE(table.next(row));
  CHECK(parse_int_cell(table, row, 0) == 16);
  CHECK(parse_double_cell(table, row, 1) == 2500);
  CHECK_THROWS_WITH(parse_int_cell(table, row, 0, {.minimum = 1, .maximum = 8}),
                    "rows.csv:2: n: expected an integer from 1 to 8, found \"16\"");
  CHECK_THROWS_WITH(parse_int_cell(table, row, 0, {.minimum = 32}),
                    "rows.csv:2: n: expected an integer of at least 32, found \"16\"");
  REQUIRE(table.next(row));
  CHECK(parse_int_cell(table, row, 0) == 16);  // tables with gaps write integers this way
  CHECK_THROWS_WITH(parse_double_cell(table, row, 1, {.minimum = 0}),
                    "rows.csv:3: x: expected a number of at least 0, found \"-1\"");
  REQUIRE(table.next(row));
  CHECK_FALSE(parse_optional_int_cell(table, row, 0).has_value());
  CHECK_THROWS_WITH(parse_int_cell(table, row, 0),
                    "rows.csv:4: n: expected an integer, found an empty cell");
  REQUIRE(table.next(row));
  CHECK(parse_int_cell(table, row, 0) == 7);
  CHECK_THROWS_WITH(parse_double_cell(table, row, 1),
                    "rows.csv:5: x: expected a number, found \"nan\"");
  REQUIRE(table.next(row));
  CHECK_THROWS_WITH(parse_int_cell(table, row, 0),
                    "rows.csv:6: n: expected an integer, found \"1.5\"");
  CHECK_THROWS_WITH(parse_double_cell(table, row, 1),
                    "rows.csv:6: x: expected a number, found \"0x10\"");
  REQUIRE(table.next(row));
  CHECK_THROWS_WITH(parse_int_cell(table, row, 0),
                    "rows.csv:7: n: expected an integer, found \"99999999999999999999\"");
  CHECK_THROWS_WITH(parse_double_cell(table, row, 1),
                    "rows.csv:7: x: expected a number, found \"1e999\"");
}

TEST_CASE("a hostile cell makes one short line", "[unit]") {
  std::istringstream in("n\n\"" + std::string(5000, 'z') + "\n\"\n");
  CsvReader table(in, "rows.csv");
  Row row;
  REQUIRE(table.next(row));
  CHECK_THROWS_WITH(parse_int_cell(table, row, 0), "rows.csv:2: n: expected an integer, found \"" +
                                                       std::string(60, 'z') + "...\"");
}
