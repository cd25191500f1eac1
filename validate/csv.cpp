// SPDX-License-Identifier: Apache-2.0
// A small RFC 4180 reader; see the header. One pass over the characters of a record, no lookahead
// beyond one character, so that a table of any length streams.
#include "validate/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include "arch/error.hpp"
#include "arch/nearest_names.hpp"

namespace smtwin {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kLongestQuote = 60;  // characters of a bad cell that a message repeats

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// One line, short: a cell may hold anything, line breaks and control characters included.
std::string quoted(std::string_view cell) {
  std::string text = "\"";
  for (const char c : cell.substr(0, kLongestQuote)) {
    text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return text + (cell.size() > kLongestQuote ? "...\"" : "\"");
}

bool is_blank(const std::vector<std::string>& cells) {
  return cells.size() == 1 && cells[0].empty();
}

template <typename T>
std::optional<T> parse_all(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (const auto value = parse_all<std::int64_t>(text)) return value;
  constexpr double kExact = 9007199254740992.0;  // 2^53: larger doubles are not all integers
  const auto value = parse_all<double>(text);
  if (!value || std::abs(*value) > kExact || std::trunc(*value) != *value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

template <typename Range>
std::string range_text(const Range& allowed) {
  using Limits = std::numeric_limits<decltype(allowed.minimum)>;
  const bool below = allowed.minimum > Limits::lowest();
  const bool above = allowed.maximum < Limits::max();
  std::ostringstream text;
  if (below && above) {
    text << " from " << allowed.minimum << " to " << allowed.maximum;
  } else if (below) {
    text << " of at least " << allowed.minimum;
  } else if (above) {
    text << " of at most " << allowed.maximum;
  }
  return text.str();
}

template <typename Range, typename Parse>
auto parse_cell(const CsvReader& table, const std::vector<std::string>& row, std::size_t column,
                const Range& allowed, const char* kind, Parse parse) {
  const auto value = parse(std::string_view(row[column]));
  if (!value || *value < allowed.minimum || *value > allowed.maximum) {
    throw DataError(table.where() + ": " + table.header()[column] + ": expected " + kind +
                    range_text(allowed) + ", found " +
                    (row[column].empty() ? "an empty cell" : quoted(row[column])));
  }
  return *value;
}

}  // namespace

CsvReader::CsvReader(std::istream& in, std::string file_name)
    : in_(in), file_name_(std::move(file_name)) {
  bool found = false;
  while (!found && read_record(header_)) found = !is_blank(header_);
  if (!found) {
    throw DataError(file_name_ + ": no header line; expected a table with column names first");
  }
  for (auto name = header_.begin(); name != header_.end(); ++name) {
    if (!name->empty() && std::find(header_.begin(), name, *name) != name) {
      throw DataError(where() + ": column " + quoted(*name) + " appears twice; rename one of them");
    }
  }
}

std::string CsvReader::where() const { return file_name_ + ":" + std::to_string(row_line_); }

bool CsvReader::next(std::vector<std::string>& row) {
  do {
    if (!read_record(row)) return false;
  } while (is_blank(row));
  if (row.size() != header_.size()) {
    throw DataError(where() + ": found " + std::to_string(row.size()) + " cells, the header has " +
                    std::to_string(header_.size()) + " columns (" + comma_list(header_) + ")");
  }
  return true;
}

std::optional<std::size_t> CsvReader::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

void CsvReader::require_columns(const std::vector<std::string>& names) const {
  std::vector<std::string> missing;
  for (const auto& name : names) {
    if (!column(name)) missing.push_back(name);
  }
  if (missing.empty()) return;
  throw DataError(file_name_ + ": missing column" + (missing.size() > 1 ? "s " : " ") +
                  comma_list(missing) + "; the file has " + comma_list(header_));
}

std::size_t CsvReader::require_column(const std::string& name) const {
  require_columns({name});
  return *column(name);
}

bool CsvReader::read_record(std::vector<std::string>& cells) {
  cells.clear();
  row_line_ = next_line_;
  std::streambuf& buffer = *in_.rdbuf();
  constexpr int kEnd = std::char_traits<char>::eof();
  std::string cell;
  enum class State { start, plain, quoted, closed } state = State::start;
  bool anything = false;

  const auto finish_cell = [&] {
    cells.emplace_back(state == State::closed ? std::string_view(cell) : trimmed(cell));
    cell.clear();
    state = State::start;
  };

  for (;;) {
    const int c = buffer.sbumpc();
    if (c == kEnd) {
      if (state == State::quoted) {
        throw DataError(where() + ": a quote that opens here is never closed");
      }
      if (!anything) return false;
      finish_cell();
      return true;
    }
    anything = true;
    if (state == State::quoted) {
      if (c == '\n') ++next_line_;
      if (c != '"') {
        cell += static_cast<char>(c);
      } else if (buffer.sgetc() == '"') {  // "" stands for one quote
        buffer.sbumpc();
        cell += '"';
      } else {
        state = State::closed;
      }
      continue;
    }
    if (c == '\n' || c == '\r') {
      if (c == '\r' && buffer.sgetc() == '\n') buffer.sbumpc();
      ++next_line_;
      finish_cell();
      return true;
    }
    if (c == ',') {
      finish_cell();
    } else if (state == State::closed) {
      if (c != ' ' && c != '\t') {
        throw DataError(where() +
                        ": text after a closing quote; write a quote inside quotes twice");
      }
    } else if (c == '"' && trimmed(cell).empty()) {
      cell.clear();
      state = State::quoted;
    } else {
      cell += static_cast<char>(c);
      state = State::plain;
      if (row_line_ == 1 && cells.empty() && cell == kByteOrderMark) cell.clear();
    }
  }
}

std::int64_t parse_int_cell(const CsvReader& table, const std::vector<std::string>& row,
                            std::size_t column, IntRange allowed) {
  return parse_cell(table, row, column, allowed, "an integer", parse_integer);
}

double parse_double_cell(const CsvReader& table, const std::vector<std::string>& row,
                         std::size_t column, DoubleRange allowed) {
  const auto finite = [](std::string_view text) {
    auto value = parse_all<double>(text);
    if (value && !std::isfinite(*value)) value.reset();
    return value;
  };
  return parse_cell(table, row, column, allowed, "a number", finite);
}

std::optional<std::int64_t> parse_optional_int_cell(const CsvReader& table,
                                                    const std::vector<std::string>& row,
                                                    std::size_t column, IntRange allowed) {
  if (row[column].empty()) return std::nullopt;
  return parse_int_cell(table, row, column, allowed);
}

}  // namespace smtwin
