// SPDX-License-Identifier: Apache-2.0
// `occupancy --from rows.csv`: many kernels at once. Columns threads, regs, dyn_smem and, where
// there, static_smem, carveout, barriers, cluster, and gpu or cc; further columns are passed
// through. Every row comes back with ctas_per_sm, limiters, theoretical_occupancy and verdict
// appended. Rows are read one at a time; a bad one is a DataError "rows.csv:12: ...".
#pragma once

#include <istream>
#include <optional>
#include <string>

#include "cli/verb.hpp"

namespace smtwin {

// `choice` is --gpu when given; without it each row needs a gpu or cc column.
std::string occupancy_rows_csv(std::istream& rows, const std::string& file_name,
                               const std::optional<GpuChoice>& choice,
                               const std::vector<std::string>& gpu_settings);
// The same rows as a JSON array of objects.
std::string occupancy_rows_json(std::istream& rows, const std::string& file_name,
                                const std::optional<GpuChoice>& choice,
                                const std::vector<std::string>& gpu_settings);

}  // namespace smtwin
