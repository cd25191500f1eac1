// SPDX-License-Identifier: Apache-2.0
// Cells to rows without an allocation a row. A text is looked up among the last few that its column
// had, which is nearly always enough: a column has few distinct texts.
#include "validate/measurements/measurement_reader.hpp"

#include <array>
#include <optional>

#include "validate/csv.hpp"
#include "validate/csv_text.hpp"
#include "validate/measurements/measurement_table.hpp"

namespace smtwin {
namespace {

constexpr double kLargestCount = 2147483648.0;  // 2^31: products of three still fit a double
constexpr double kMillisecondsPerSecond = 1e3;

class RecentTexts {
 public:
  std::optional<std::string_view> find(std::string_view text) const {
    for (const std::string_view known : texts_) {
      if (known == text) return known;
    }
    return std::nullopt;
  }
  void remember(std::string_view text) { texts_[oldest_++ % texts_.size()] = text; }

 private:
  std::array<std::string_view, 4> texts_;
  std::size_t oldest_ = 0;
};

struct BoundColumn {
  const TableColumn* column = nullptr;
  std::size_t cell = 0;
  RecentTexts recent;
};

class RowReader {
 public:
  RowReader(std::istream& in, const std::string& file_name, MeasurementSet& set)
      : file_(in, file_name),
        table_(recognize_table(file_)),
        latency_cell_(file_.require_column(std::string(kLatencyColumn))),
        set_(set) {
    for (const TableColumn& column : table_.columns) {
      if (const auto cell = file_.column(column.name)) columns_.push_back({&column, *cell, {}});
    }
  }

  bool next(MeasurementRow& row) {
    if (!file_.next(cells_)) return false;
    row = {};
    row.line = static_cast<std::uint32_t>(file_.line());
    for (BoundColumn& bound : columns_) {
      const std::string_view cell = cells_[bound.cell];
      if (cell.empty() && !bound.column->needed) continue;
      if (bound.column->text != nullptr) {
        row.*bound.column->text = text(bound, cell);
      } else {
        row.*bound.column->count = count(bound, cell);
      }
    }
    row.latency_s = latency_s(cells_[latency_cell_]);
    set_row_table(row, table_, file_);
    return true;
  }

 private:
  std::string_view text(BoundColumn& bound, std::string_view cell) {
    if (cell.empty()) refuse_cell(file_, bound.cell, cell, "a name");
    if (const auto known = bound.recent.find(cell)) return *known;
    if (!is_plain_text(cell)) {
      refuse_cell(file_, bound.cell, cell, "UTF-8 text without control characters");
    }
    const std::string_view kept = set_.intern(cell);
    bound.recent.remember(kept);
    return kept;
  }

  double count(const BoundColumn& bound, std::string_view cell) const {
    const double minimum = bound.column->minimum;
    const auto value = parse_integer(cell);
    if (!value || static_cast<double>(*value) < minimum ||
        static_cast<double>(*value) > kLargestCount) {
      refuse_cell(
          file_, bound.cell, cell,
          "an integer from " + std::to_string(static_cast<int>(minimum)) + " to 2147483648");
    }
    return static_cast<double>(*value);
  }

  double latency_s(std::string_view cell) const {
    const double seconds = parse_number(cell).value_or(0) / kMillisecondsPerSecond;
    if (!(seconds > 0)) refuse_cell(file_, latency_cell_, cell, "milliseconds above 0");
    return seconds;
  }

  CsvReader file_;
  const TableColumns& table_;
  std::size_t latency_cell_;
  MeasurementSet& set_;
  std::vector<BoundColumn> columns_;
  std::vector<std::string_view> cells_;
};

}  // namespace

std::string_view MeasurementSet::intern(std::string_view text) {
  const auto found = texts_.find(text);
  return found != texts_.end() ? *found : *texts_.emplace(text).first;
}

std::string MeasurementSet::where(const MeasurementRow& row) const {
  return files[row.file] + ":" + std::to_string(row.line);
}

void read_measurements(std::istream& in, const std::string& file_name, MeasurementSet& set) {
  RowReader reader(in, file_name, set);
  const auto file = static_cast<std::uint32_t>(set.files.size());
  set.files.push_back(file_name);
  for (MeasurementRow row; reader.next(row);) {
    row.file = file;
    set.rows.push_back(row);
  }
}

}  // namespace smtwin
