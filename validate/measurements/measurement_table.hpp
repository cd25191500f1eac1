// SPDX-License-Identifier: Apache-2.0
// Which table a file is, and where its columns go in a MeasurementRow. A table is recognized by its
// columns, never by the name of its file. The tables of latent attention share their columns: there
// op_name and compress_ratio of each row decide. Tables that look alike and time something else
// (prefill attention, sparse attention, scale matrices) are told apart by op_name and refused.
#pragma once

#include <string_view>
#include <vector>

#include "validate/csv.hpp"
#include "validate/measurements/measurement_row.hpp"

namespace smtwin {

inline constexpr std::string_view kLatencyColumn = "latency";  // milliseconds, in every table

struct TableColumn {
  std::string_view name;
  // Where the cell goes: exactly one of the two is set.
  std::string_view MeasurementRow::*text = nullptr;
  double MeasurementRow::*count = nullptr;
  bool needed = true;  // otherwise the column may be missing and its cells blank: empty or 0
  double minimum = 1;  // of a count
};

struct TableColumns {
  MeasurementTable table = MeasurementTable::gemm;
  std::vector<std::string_view> keys;      // any of these columns tells that it is this table
  std::vector<std::string_view> op_names;  // that rows may carry besides none; empty: any
  std::vector<TableColumn> columns;        // all but latency
};

// The table that the header belongs to. DataError when it is none or could be two, or when columns
// are missing: it names them all.
const TableColumns& recognize_table(const CsvReader& file);

// Sets row.table, for the row just read. DataError for an op_name that does not belong to the
// table, and for a compress_ratio that does not go with it.
void set_row_table(MeasurementRow& row, const TableColumns& columns, const CsvReader& file);

}  // namespace smtwin
