// SPDX-License-Identifier: Apache-2.0
// Where the cells of a table begin and end: RFC 4180 quoting, LF, CRLF or CR, a byte order mark,
// any stream. The stream is read in chunks into one buffer and cells are views into it, so a row
// costs no allocation. A row may have kMaxRecordBytes, which bounds the memory whatever the input.
// What a header or a number is, csv.hpp knows.
#pragma once

#include <cstddef>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace smtwin {

class CsvScanner {
 public:
  static constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20;

  // Reads the first chunk. The stream must outlive the scanner.
  CsvScanner(std::istream& in, std::string file_name);

  // The cells of the next line, blank ones included: unquoted, without the blanks around an
  // unquoted cell, valid until the next call. False at the end. DataError for a quote that never
  // closes, text after a closing quote, a row that is too long, or a stream that fails.
  bool next(std::vector<std::string_view>& cells);

  // What is buffered and not yet scanned: before the first next(), how the stream begins.
  std::string_view buffered() const { return {buffer_.get() + begin_, end_ - begin_}; }

  const std::string& file_name() const { return file_name_; }
  long line() const { return line_; }  // on which the row last read begins; the first is 1
  std::string where() const;           // "rows.csv:12"

 private:
  enum class Outcome { row, end, more };  // more: the row goes on beyond the buffer
  Outcome scan(std::vector<std::string_view>& cells);
  void fill();
  [[noreturn]] void refuse(const std::string& what) const;

  std::istream* in_;
  std::string file_name_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;  // of the row to be scanned
  std::size_t end_ = 0;    // of what was read; a line break stands here as a sentinel
  bool exhausted_ = false;
  std::vector<std::size_t> escaped_;  // cells of the row in which "" stands for a quote
  long line_ = 0;
  long next_line_ = 1;
};

}  // namespace smtwin
