// SPDX-License-Identifier: Apache-2.0
// Which bytes are text (RFC 3629 at its edges), and how messages show the rest.
#include "validate/csv_text.hpp"

#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("valid UTF-8 is text", "[unit]") {
  for (const std::string text :
       {"", "gemm", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    CHECK(is_plain_text(text));
    CHECK(quoted_cell(text) == '"' + text + '"');
  }
}

TEST_CASE("anything else is not", "[unit]") {
  const auto shown_as = [](const std::string& text) {
    CHECK_FALSE(is_plain_text(text));
    return quoted_cell(text);
  };
  CHECK(shown_as("a\nb") == "\"a b\"");
  CHECK(shown_as("\x7F") == "\" \"");
  CHECK(shown_as(std::string(1, '\0')) == "\" \"");
  CHECK(shown_as("\x80") == "\"?\"");            // a second byte alone
  CHECK(shown_as("\xC1\xBF") == "\"??\"");       // overlong
  CHECK(shown_as("\xE0\x9F\xBF") == "\"???\"");  // overlong
  CHECK(shown_as("\xED\xA0\x80") == "\"???\"");  // surrogate
  CHECK(shown_as("\xF0\x8F\xBF\xBF") == "\"????\"");
  CHECK(shown_as("\xF4\x90\x80\x80") == "\"????\"");  // beyond U+10FFFF
  CHECK(shown_as("\xF5\x80\x80\x80") == "\"????\"");
  CHECK(shown_as("x\xE2\x82") == "\"x??\"");  // cut off
  CHECK(shown_as("\xC3"
                 "a") == "\"?a\"");
}

TEST_CASE("long lists are cut", "[unit]") {
  CHECK(shown_list({}) == "");
  CHECK(shown_list({"a", "b\n"}) == "a, b ");
  const std::string list = shown_list(std::vector<std::string>(45, "x"));
  CHECK(list.ends_with("x, x and 5 more"));
}
