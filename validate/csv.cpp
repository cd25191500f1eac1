// SPDX-License-Identifier: Apache-2.0
// Header, cell counts and numbers of a table; csv_scanner.cpp finds the cells.
#include "validate/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include "arch/error.hpp"
#include "validate/csv_text.hpp"

namespace smtwin {
namespace {

bool is_blank(const std::vector<std::string_view>& cells) {
  return cells.size() == 1 && cells[0].empty();
}

// What people hand over instead of a table.
void refuse_other_formats(const CsvScanner& scanner) {
  if (scanner.buffered().starts_with("PAR1")) {
    throw DataError(
        scanner.file_name() +
        ": a Parquet file; expected CSV, convert it with python3 -c \"import pandas, sys; "
        "pandas.read_parquet(sys.argv[1]).to_csv(sys.argv[2], index=False)\" IN OUT");
  }
  if (scanner.buffered().starts_with("version https://git-lfs")) {
    throw DataError(scanner.file_name() +
                    ": a Git LFS pointer, not the file itself; fetch it with git lfs pull");
  }
}

template <typename T>
std::optional<T> parse_all(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
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
    refuse_cell(table, column, row[column], kind + range_text(allowed));
  }
  return *value;
}

}  // namespace

CsvReader::CsvReader(std::istream& in, std::string file_name) : scanner_(in, std::move(file_name)) {
  refuse_other_formats(scanner_);
  bool found = false;
  while (!found && scanner_.next(cells_)) found = !is_blank(cells_);
  if (!found) {
    throw DataError(this->file_name() +
                    ": no header line; expected a table with column names first");
  }
  header_.assign(cells_.begin(), cells_.end());
  std::vector<std::string_view> sorted = cells_;
  std::sort(sorted.begin(), sorted.end());
  const auto same = [](std::string_view a, std::string_view b) { return !a.empty() && a == b; };
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end(), same);
  if (twice != sorted.end()) {
    throw DataError(where() + ": column " + quoted_cell(*twice) +
                    " appears twice; rename one of them");
  }
}

bool CsvReader::next(std::vector<std::string>& row) {
  if (!next(cells_)) return false;
  row.resize(cells_.size());
  std::copy(cells_.begin(), cells_.end(), row.begin());
  return true;
}

bool CsvReader::next(std::vector<std::string_view>& row) {
  do {
    if (!scanner_.next(row)) return false;
  } while (is_blank(row));
  if (row.size() != header_.size()) {
    throw DataError(where() + ": found " + std::to_string(row.size()) + " cells, the header has " +
                    std::to_string(header_.size()) + " columns (" + shown_list(header_) + ")");
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
  throw DataError(file_name() + ": missing column" + (missing.size() > 1 ? "s " : " ") +
                  shown_list(missing) + "; the file has " + shown_list(header_));
}

std::size_t CsvReader::require_column(const std::string& name) const {
  require_columns({name});
  return *column(name);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (const auto value = parse_all<std::int64_t>(text)) return value;
  constexpr double kExact = 9007199254740992.0;  // 2^53: larger doubles are not all integers
  const auto value = parse_all<double>(text);
  if (!value || !(std::abs(*value) <= kExact) || std::trunc(*value) != *value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<double> parse_number(std::string_view text) {
  auto value = parse_all<double>(text);
  if (value && !std::isfinite(*value)) value.reset();
  return value;
}

void refuse_cell(const CsvReader& table, std::size_t column, std::string_view cell,
                 const std::string& expected) {
  throw DataError(table.where() + ": " + table.header()[column] + ": expected " + expected +
                  ", found " + (cell.empty() ? "an empty cell" : quoted_cell(cell)));
}

std::int64_t parse_int_cell(const CsvReader& table, const std::vector<std::string>& row,
                            std::size_t column, IntRange allowed) {
  return parse_cell(table, row, column, allowed, "an integer", parse_integer);
}

double parse_double_cell(const CsvReader& table, const std::vector<std::string>& row,
                         std::size_t column, DoubleRange allowed) {
  return parse_cell(table, row, column, allowed, "a number", parse_number);
}

std::optional<std::int64_t> parse_optional_int_cell(const CsvReader& table,
                                                    const std::vector<std::string>& row,
                                                    std::size_t column, IntRange allowed) {
  if (row[column].empty()) return std::nullopt;
  return parse_int_cell(table, row, column, allowed);
}

}  // namespace smtwin
