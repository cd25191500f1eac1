// SPDX-License-Identifier: Apache-2.0
// Tables that users bring, read a row at a time: RFC 4180 quoting (commas and line breaks inside
// quotes), a byte order mark, CRLF or LF, blank lines, columns in any order. Every complaint is a
// DataError that starts with "file:line". What a column means is the caller's business.
//
//   CsvReader table(stream, "rows.csv");
//   const std::size_t threads = table.require_column("threads");
//   for (std::vector<std::string> row; table.next(row);)
//     use(parse_int_cell(table, row, threads, {.minimum = 1, .maximum = 1024}));
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validate/csv_scanner.hpp"

namespace smtwin {

class CsvReader {
 public:
  // Reads the header line. DataError when the stream is unreadable or empty, or a column name
  // appears twice. The stream must outlive the reader.
  CsvReader(std::istream& in, std::string file_name);

  const std::vector<std::string>& header() const { return header_; }
  const std::string& file_name() const { return scanner_.file_name(); }

  // The next row that is not blank, one cell a header column, unquoted and without the blanks
  // around an unquoted cell. False at the end. DataError for a row that is shorter or longer than
  // the header, a quote that never closes, text after a closing quote, or a row of over a MiB.
  bool next(std::vector<std::string>& row);
  // The same without copies: the views are valid until the next call.
  bool next(std::vector<std::string_view>& row);

  // Line on which the row last read begins; the header is line 1.
  long line() const { return scanner_.line(); }
  std::string where() const { return scanner_.where(); }  // "rows.csv:12"

  std::optional<std::size_t> column(std::string_view name) const;
  // DataError that names every missing column and lists those that are there.
  void require_columns(const std::vector<std::string>& names) const;
  std::size_t require_column(const std::string& name) const;

 private:
  CsvScanner scanner_;
  std::vector<std::string> header_;
  std::vector<std::string_view> cells_;  // of the row that next() copies
};

// All of the text as a number: a sign, decimals and an exponent may be there, nothing else. An
// integer may be written 16.0 or 1e3. A number is finite.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);

// DataError "rows.csv:12: threads: expected EXPECTED, found "0"", for the row just read.
[[noreturn]] void refuse_cell(const CsvReader& table, std::size_t column, std::string_view cell,
                              const std::string& expected);

struct IntRange {
  std::int64_t minimum = std::numeric_limits<std::int64_t>::min();
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
};
struct DoubleRange {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
};

// The number in a cell of the row just read: DataError "rows.csv:12: threads: expected an integer
// from 1 to 1024, found "0"".
std::int64_t parse_int_cell(const CsvReader& table, const std::vector<std::string>& row,
                            std::size_t column, IntRange allowed = {});
double parse_double_cell(const CsvReader& table, const std::vector<std::string>& row,
                         std::size_t column, DoubleRange allowed = {});

// The same, and nothing for an empty cell.
std::optional<std::int64_t> parse_optional_int_cell(const CsvReader& table,
                                                    const std::vector<std::string>& row,
                                                    std::size_t column, IntRange allowed = {});

}  // namespace smtwin
