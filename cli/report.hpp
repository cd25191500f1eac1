// SPDX-License-Identifier: Apache-2.0
// What the three report formats are made of: numbers as people read them (with prefixes,
// thousands separators and percent), aligned tables and wrapped notes within 100 columns, CSV with
// proper quoting, and the JSON envelope. A verb computes one struct; its view (cli/view_<name>.cpp)
// turns that struct into any of the three.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu_spec_io.hpp"

namespace smtwin {

inline constexpr std::size_t kReportColumns = 100;

// Numbers
std::string format_count(std::int64_t n);                 // 61,568
std::string format_bytes(std::int64_t bytes);             // 61,568 B
std::string format_size(double bytes);                    // 152 GB (powers of 1000, 3 digits)
std::string format_time(double seconds);                  // 31.2 us, 9.13 ms
std::string format_percent(double fraction);              // 8.3 %
std::string format_bandwidth(double bytes_per_s);         // 1,597 GB/s
std::string format_number(double value, int digits = 3);  // significant digits: 1.36, 2,130, 0.073
std::string format_ratio(double changed, double base);    // +20 %, -8.3 %, 2.1x, same
// "in_flight_bytes", 8650752 -> "8.65 MB": a base-unit quantity with the prefix people use.
std::string format_quantity(double value, const std::string& unit);

// Text
// Terminal columns of UTF-8 text (one per code point: nothing wider is ever printed).
std::size_t display_width(std::string_view text);
std::string join(const std::vector<std::string>& words, const std::string& separator);

enum class Align { left, right };
struct Column {
  std::string title;
  Align align = Align::right;
};

// Columns as wide as their widest cell, two blanks apart. Missing cells are blank. The text of the
// last column, when left-aligned, wraps inside the 100 columns.
class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns);
  void add_row(std::vector<std::string> cells);
  void print(std::ostream& out) const;
  std::size_t width() const;  // of its widest line, without wrapping

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// A table whose rows have names too long for a column: the name on a line of its own, the cells of
// `table`, one row a name, below it.
void print_named_rows(std::ostream& out, const std::vector<std::string>& names,
                      const TextTable& table);

// "label      text text text", continued under the text where it exceeds 100 columns.
void print_wrapped(std::ostream& out, const std::string& label, const std::string& text,
                   std::size_t label_width = 16);

// CSV
struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};
std::string csv_field(const std::string& text);  // quoted only where it must be
void write_csv_row(std::ostream& out, const std::vector<std::string>& cells);
void write_csv(std::ostream& out, const CsvTable& table);
// A double with enough digits to read back the same value; "" for NaN.
std::string csv_number(double value);

// JSON
// The profile that times were predicted with; all empty = none.
struct CalibrationContext {
  std::string fitted_on = {};    // GPU
  std::string fingerprint = {};  // of the rows it was fitted to
  std::string provenance = {};   // "fitted" or "transferred"
};

// What an answer rests on; the `context` of every JSON report.
struct ReportContext {
  std::string gpu;       // canonical name; "" for verbs without a GPU
  std::string gpu_file;  // relative to the data folder where it lies in there
  CalibrationContext calibration = {};
  std::vector<AppliedOverride> overrides;  // of GPU, kernel (kernel.NAME.x) and model (model.x)
};
std::string tool_version();
// {schema_version, context, result}; `result_json` is the text of a JSON value.
std::string render_json(const ReportContext& context, const std::string& result_json);
// "override      sm.shared_bytes_per_sm 102,400 -> 233,472" lines under a table; nothing if none.
void print_overrides(std::ostream& out, const std::vector<AppliedOverride>& overrides);

}  // namespace smtwin
