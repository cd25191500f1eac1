// SPDX-License-Identifier: Apache-2.0
// Residency tables that users bring: kernels in rows, with what the driver's occupancy call said
// and, where somebody counted, how many CTAs were seen on an SM at once. Columns
//   cc,regs,static_smem,threads,dyn_smem,carveout,api_blocks[,measured_blocks]
// in any order, further ones ignored; cc is 90, 9.0 or sm_90; carveout -1 means no preference; an
// empty measured_blocks means nobody counted. Rows are read one at a time, so a table may be larger
// than memory. Kernels are taken to opt in to large shared memory, as the driver's call does.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kernel_resources.hpp"
#include "model/residency.hpp"
#include "validate/csv.hpp"

namespace smtwin {

// "90", "9.0", "sm_90", "sm-90", "120", "12.0"; nothing when it is none of these.
std::optional<ComputeCapability> parse_compute_capability(std::string_view text);

struct OccupancyRow {
  long line = 0;
  ComputeCapability compute_capability;
  KernelResources kernel;
  std::int32_t api_ctas = 0;
  std::optional<std::int32_t> measured_ctas;
};

class OccupancyTable {
 public:
  // DataError when a column other than measured_blocks is missing. The stream must outlive this.
  OccupancyTable(std::istream& in, const std::string& file_name);

  // False at the end. DataError "rows.csv:12: ..." for a cell that cannot be meant.
  bool next(OccupancyRow& row);

 private:
  CsvReader csv_;
  std::vector<std::string> cells_;
  std::size_t cc_, regs_, static_smem_, threads_, dyn_smem_, carveout_, api_blocks_;
  std::optional<std::size_t> measured_blocks_;
};

struct OccupancyDifference {
  OccupancyRow row;
  ResidentCtas predicted;
};

struct OccupancyScore {
  static constexpr std::size_t kDifferencesKept = 20;

  std::int64_t rows = 0;        // in the table
  std::int64_t skipped = 0;     // of another compute capability than the GPU's: not compared
  std::int64_t mismatches = 0;  // predicted CTAs differ from api_blocks
  std::int64_t measured_rows = 0;
  std::int64_t measured_mismatches = 0;                // predicted CTAs differ from measured_blocks
  std::vector<OccupancyDifference> first_differences;  // of either kind, in file order
  std::string skipped_reason;  // which compute capabilities were left out; empty when none

  std::int64_t compared() const { return rows - skipped; }
  bool agrees() const { return mismatches == 0 && measured_mismatches == 0; }
};

OccupancyScore score_occupancy_table(std::istream& in, const std::string& file_name,
                                     const GpuSpec& gpu);

}  // namespace smtwin
