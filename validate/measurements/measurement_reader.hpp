// SPDX-License-Identifier: Apache-2.0
// Tables of measured kernel times, as AIConfigurator's collectors write them, into rows. A table is
// recognized by its columns; they may stand in any order, further ones are ignored. The streams are
// read in chunks: beyond the rows themselves memory does not grow with the input.
//
//   MeasurementSet set;
//   read_measurement_path("measurements/h200_sxm", set);
//   for (const MeasurementRow& row : set.rows) use(row.table, row.latency_s);
#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "validate/measurements/measurement_row.hpp"

namespace smtwin {

// Rows and the texts they point to. Moving keeps the views valid, copying is not possible.
class MeasurementSet {
 public:
  MeasurementSet() = default;
  MeasurementSet(MeasurementSet&&) = default;
  MeasurementSet& operator=(MeasurementSet&&) = default;
  MeasurementSet(const MeasurementSet&) = delete;
  MeasurementSet& operator=(const MeasurementSet&) = delete;

  std::vector<std::string> files;
  std::vector<MeasurementRow> rows;

  // A view with the same characters that lives as long as the set; equal texts share it.
  std::string_view intern(std::string_view text);
  std::string where(const MeasurementRow& row) const;  // "gemm.csv:12"

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_set<std::string, Hash, std::equal_to<>> texts_;
};

// Appends the rows of one table. DataError "gemm.csv:12: m: expected ..., found ..." for what
// cannot be meant; the rows before that one are then in the set.
void read_measurements(std::istream& in, const std::string& file_name, MeasurementSet& set);

// Appends a file, or all tables below a folder (*.csv and *_perf.txt) in the order of their paths.
// DataError when there is none or one cannot be opened.
void read_measurement_path(const std::string& path, MeasurementSet& set);

}  // namespace smtwin
