// SPDX-License-Identifier: Apache-2.0
// Tables of kernel times that are damaged: each is read or refused in one line with file, line and
// column, whatever the bytes and wherever a chunk of the stream ends. All rows here are invented.
#include <random>
#include <sstream>

#include "arch/error.hpp"
#include "tests/catch.hpp"
#include "tests/validate/read_text_rows.hpp"
#include "validate/measurements/measurement_reader.hpp"

using namespace smtwin;
using test::complaint;
using test::read;

namespace {

const std::string kGemmHeader =
    "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n";

}  // namespace

TEST_CASE("cells that cannot be meant are refused with file, line and column", "[unit]") {
  const auto of_m = [](const std::string& cell) {
    return complaint("gemm_dtype,m,n,k,latency\nfp8,1,1,1,1\nfp8," + cell + ",1,1,1\n");
  };
  const std::string integer = "t.csv:3: m: expected an integer from 1 to 2147483648, found ";
  CHECK(of_m("") == integer + "an empty cell");
  for (const std::string cell : {"nan", "inf", "-inf", "-1", "0", "1.5", "2147483649", "0x10",
                                 "1 2", "99999999999999999999", "1e400", "+-1", "m"}) {
    CHECK(of_m(cell) == integer + '"' + cell + '"');
  }
  CHECK(of_m(std::string("1\0", 2)) == integer + "\"1 \"");
  CHECK(of_m("2147483648").empty());

  const auto of_latency = [](const std::string& cell) {
    return complaint("gemm_dtype,m,n,k,latency\nfp8,1,1,1," + cell + "\n");
  };
  const std::string above_zero = "t.csv:2: latency: expected milliseconds above 0, found ";
  CHECK(of_latency("") == above_zero + "an empty cell");
  for (const std::string cell :
       {"nan", "inf", "0", "-0.5", "1e400", "1e-400", "4.9e-324", "fast"}) {
    CHECK(of_latency(cell) == above_zero + '"' + cell + '"');
  }
  CHECK(of_latency("1e-300").empty());

  CHECK(complaint("gemm_dtype,m,n,k,latency\n,1,1,1,1\n") ==
        "t.csv:2: gemm_dtype: expected a name, found an empty cell");
  CHECK(complaint("gemm_dtype,m,n,k,latency\nf\xFFp8,1,1,1,1\n") ==
        "t.csv:2: gemm_dtype: expected UTF-8 text without control characters, found \"f?p8\"");
  CHECK(complaint(std::string("gemm_dtype,m,n,k,latency\nf\0,1,1,1,1\n", 37)) ==
        "t.csv:2: gemm_dtype: expected UTF-8 text without control characters, found \"f \"");
  CHECK(read("gemm_dtype,m,n,k,latency\nf\xC3\xBC,1,1,1,1\n").rows.at(0).dtype == "f\xC3\xBC");
}

TEST_CASE("a truncated last row is refused, a complete one is not", "[unit]") {
  const std::string start = "gemm_dtype,m,n,k,latency\nfp8,1,1,1,1\n";
  CHECK(read(start + "fp8,1,1,1,1").rows.size() == 2);
  CHECK(complaint(start + "fp8,1,1,1") ==
        "t.csv:3: found 4 cells, the header has 5 columns (gemm_dtype, m, n, k, latency)");
  CHECK(complaint(start + "\"fp8,1,1,1") == "t.csv:3: a quote that opens here is never closed");
}

TEST_CASE("rows before the one at fault are kept", "[unit]") {
  std::istringstream in("gemm_dtype,m,n,k,latency\nfp8,1,1,1,1\nfp8,1,1,1,-1\n");
  MeasurementSet set;
  CHECK_THROWS_AS(read_measurements(in, "t.csv", set), DataError);
  CHECK(set.rows.size() == 1);
}

TEST_CASE("a row of any length ends in one short complaint", "[unit]") {
  const std::string header = "gemm_dtype,m,n,k,latency\n";
  const std::string too_long =
      "t.csv:2: a row of more than 1048576 bytes; expected lines of cells, every quote closed";
  CHECK(complaint(header + std::string(5 << 20, 'x')) == too_long);
  CHECK(complaint(header + '"' + std::string(5 << 20, '\n')) == too_long);
  CHECK(complaint(header + std::string(5 << 20, ',')) == too_long);
  CHECK(complaint(header + std::string(5 << 20, ' ')) == too_long);
  const std::string wide = complaint(std::string(1 << 20, ','));
  CHECK(wide.size() < 1000);
  CHECK(complaint(header + "fp8," + std::string(1 << 20, '\xFF') + ",1,1,1\n") == too_long);
  const std::string shown = complaint(header + "fp8," + std::string(9000, '\xFF') + ",1,1,1\n");
  CHECK(shown == "t.csv:2: m: expected an integer from 1 to 2147483648, found \"" +
                     std::string(60, '?') + "...\"");
}

TEST_CASE("rows do not depend on where a chunk ends", "[unit]") {
  // Rows of varying length, quotes and CRLF over several chunks; each row says which one it is.
  std::string text = "gemm_dtype,m,n,k,latency,note\r\n";
  constexpr int kRows = 40000;
  for (int i = 1; i <= kRows; ++i) {
    text += "\"fp8\"," + std::to_string(i) + ",2,3,1,\"" + std::string(i % 61, 'x') + "\"\"\"\r\n";
  }
  const MeasurementSet set = read(text);
  REQUIRE(set.rows.size() == kRows);
  std::size_t wrong = 0;
  for (int i = 0; i < kRows; ++i) {
    const MeasurementRow& row = set.rows[static_cast<std::size_t>(i)];
    const auto line = static_cast<std::uint32_t>(i + 2);
    if (row.m != i + 1 || row.line != line || row.dtype != "fp8") ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("damaged tables are read or refused, never anything else", "[unit]") {
  const std::string good = kGemmHeader +
                           "VLLM,0.1,NVIDIA H200,gemm,\"a \"\"b\"\"\",fp8,16,8,4,0.25\r\n" +
                           "VLLM,0.1,NVIDIA H200,gemm,c,fp8,16,8,4,0.25\n";
  const std::string alphabet(
      "\0\r\n\",\t \xFF\xC3"
      "09.-+enaif",
      20);
  std::mt19937 random(1);
  int read_well = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (unsigned change = 0; change < 1 + random() % 3; ++change) {
      text[random() % text.size()] = alphabet[random() % alphabet.size()];
    }
    text.resize(text.size() - random() % 3 * (random() % text.size()) / 3);
    const std::string said = complaint(text);
    if (said.empty()) {
      for (const MeasurementRow& row : read(text).rows) {
        if (!(row.latency_s > 0) || row.m < 1) FAIL("row with latency " << row.latency_s);
      }
      ++read_well;
    } else {
      if (said.find('\n') != std::string::npos || !said.starts_with("t.csv:")) FAIL(said);
      ++refused;
    }
  }
  CHECK(read_well > 100);
  CHECK(refused > 100);
}
