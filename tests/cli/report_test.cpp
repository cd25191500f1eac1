// SPDX-License-Identifier: Apache-2.0
#include "cli/report.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("counts and bytes have thousands separators", "[unit]") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1,000");
  CHECK(format_count(-1234567) == "-1,234,567");
  CHECK(format_count(std::numeric_limits<std::int64_t>::min()) == "-9,223,372,036,854,775,808");
  CHECK(format_bytes(61568) == "61,568 B");
}

TEST_CASE("times take the prefix of the rounded value", "[unit]") {
  CHECK(format_time(31.24e-6) == "31.2 us");
  CHECK(format_time(17e-6) == "17.0 us");
  CHECK(format_time(999.96e-6) == "1.00 ms");  // not "1000 us"
  CHECK(format_time(0) == "0 us");
  CHECK(format_time(2.5) == "2.50 s");
  CHECK(format_time(580e-9) == "580 ns");
}

TEST_CASE("sizes count in powers of 1000, rates in GB/s", "[unit]") {
  CHECK(format_size(151.9e9) == "152 GB");
  CHECK(format_size(1.36e6) == "1.36 MB");
  CHECK(format_size(512) == "512 B");
  CHECK(format_size(0) == "0 B");
  CHECK(format_bandwidth(1.597e12) == "1,597 GB/s");
  CHECK(format_bandwidth(3.5e9) == "3.5 GB/s");
}

TEST_CASE("percentages keep one decimal unless they are whole", "[unit]") {
  CHECK(format_percent(4.0 / 48) == "8.3 %");
  CHECK(format_percent(8.0 / 48) == "16.7 %");
  CHECK(format_percent(0.25) == "25 %");
  CHECK(format_percent(1) == "100 %");
  CHECK(format_percent(std::nan("")) == "-");
}

TEST_CASE("changes are percent below a doubling and factors above", "[unit]") {
  CHECK(format_ratio(94, 78) == "+21 %");
  CHECK(format_ratio(1.05, 1) == "+5.0 %");
  CHECK(format_ratio(4, 2) == "2x");
  CHECK(format_ratio(1, 2) == "-50 %");
  CHECK(format_ratio(3, 3) == "same");
  CHECK(format_ratio(3, 0) == "-");
}

TEST_CASE("significant digits, without exponents where people count", "[unit]") {
  CHECK(format_number(1.3617) == "1.36");
  CHECK(format_number(2130.4) == "2,130");
  CHECK(format_number(0.0731) == "0.0731");
  CHECK(format_number(1e-7) == "1.00e-07");
  CHECK(format_quantity(8650752, "B") == "8.65 MB");
  CHECK(format_quantity(65536, "") == "65,536");
}

TEST_CASE("a table aligns its columns and ends lines without blanks", "[unit]") {
  TextTable table({{"name", Align::left}, {"n"}, {"note", Align::left}});
  table.add_row({"a", "1,000", ""});
  table.add_row({"long name", "7", "x"});
  std::ostringstream out;
  table.print(out);
  CHECK(out.str() ==
        "name           n  note\n"
        "a          1,000\n"
        "long name      7  x\n");
}

TEST_CASE("the last column wraps inside 100 columns under itself", "[unit]") {
  TextTable table({{"field", Align::left}, {"source", Align::left}});
  std::string words;
  for (int i = 0; i < 40; ++i) words += "word ";
  table.add_row({"sm.registers_per_sm", words});
  std::ostringstream out;
  table.print(out);
  std::istringstream lines(out.str());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CHECK(line.size() <= kReportColumns);
    if (count > 1) CHECK(line.find_first_not_of(' ') == 21);
  }
  CHECK(count == 4);  // title; 40 words of 5 columns in 79 columns: 16 a line, 3 lines
}

TEST_CASE("a label longer than its column pushes the text, and the text hangs under it", "[unit]") {
  std::ostringstream out;
  print_wrapped(out, "note", "short");
  print_wrapped(out, "a very long label indeed",
                "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 tail ends");
  CHECK(out.str() ==
        "note            short\n"
        "a very long label indeed  0123456789 0123456789 0123456789 0123456789 0123456789 "
        "0123456789 tail\n"
        "                          ends\n");
}

TEST_CASE("a word wider than a line is cut, preferably after a slash", "[unit]") {
  const std::string a(60, 'a');
  const std::string b(60, 'b');
  std::ostringstream word, out, expected;
  word << "in " << a << '/' << b << " end";
  print_wrapped(out, "file", word.str());
  const char* indent = "                ";
  expected << "file            in\n" << indent << a << "/\n" << indent << b << " end\n";
  CHECK(out.str() == expected.str());
}

TEST_CASE("width counts characters, not bytes", "[unit]") {
  CHECK(display_width("\u2588\u2588") == 2);
  CHECK(display_width("abc") == 3);
}

TEST_CASE("CSV quotes only what it must", "[unit]") {
  CHECK(csv_field("plain") == "plain");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"hi\"") == "\"say \"\"hi\"\"\"");
  CHECK(csv_field("two\nlines") == "\"two\nlines\"");
  CHECK(csv_field(" blank") == "\" blank\"");
  CHECK(csv_number(0.1) == "0.1");
  CHECK(csv_number(std::nan("")).empty());
  std::ostringstream out;
  write_csv(out, {.header = {"a", "b"}, .rows = {{"1", "x,y"}}});
  CHECK(out.str() == "a,b\n1,\"x,y\"\n");
}

TEST_CASE("the JSON envelope says what an answer rests on", "[unit]") {
  const ReportContext context{.gpu = "rtx-pro-6000-server",
                              .gpu_file = "gpus/rtx-pro-6000-server.json",
                              .overrides = {{"sm.a", "1", "2", ""}, {"sm.b", "3", "4", "follows"}}};
  const auto report = nlohmann::json::parse(render_json(context, R"({"x": 1})"));
  CHECK(report["schema_version"] == 1);
  CHECK(report["context"]["version"] == tool_version());
  CHECK(report["context"]["gpu"] == "rtx-pro-6000-server");
  CHECK(report["context"]["calibration"].is_null());
  CHECK(report["context"]["overrides"][0] ==
        nlohmann::json({{"path", "sm.a"}, {"before", "1"}, {"after", "2"}}));
  CHECK(report["context"]["overrides"][1]["reason"] == "follows");
  CHECK(report["result"]["x"] == 1);
  CHECK(nlohmann::json::parse(render_json({}, "[]"))["context"]["gpu"].is_null());
}
