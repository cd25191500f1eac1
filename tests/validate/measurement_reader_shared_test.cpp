// SPDX-License-Identifier: Apache-2.0
// The measured tables of two GPUs, where they lie beside the checkout (or in $SMTWIN_SHARED): each
// row is read, the counts by table are those of the files, and every number is one.
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/catch.hpp"
#include "validate/measurements/measurement_reader.hpp"

using namespace smtwin;

TEST_CASE("all measured rows", "[oracle]") {
  const char* shared = std::getenv("SMTWIN_SHARED");
  const std::string path =
      (shared != nullptr ? std::string(shared) : std::string(SMTWIN_TEST_SOURCE_DIR "/../shared")) +
      "/measurements";
  if (!std::filesystem::is_directory(path)) {
    test::skip("no measured tables at " + path);
    return;
  }
  MeasurementSet set;
  read_measurement_path(path, set);
  CHECK(set.rows.size() == 161673);

  std::array<std::size_t, kMeasurementTableCount> rows{};
  std::size_t doubtful = 0;
  for (const MeasurementRow& row : set.rows) {
    ++rows[static_cast<std::size_t>(row.table)];
    const std::string& file = set.files[row.file];
    const std::string expected_end = "-" + std::string(to_string(row.table)) + ".csv";
    const bool plausible = std::isfinite(row.latency_s) && row.latency_s > 1e-9 &&
                           row.latency_s < 1 && file.ends_with(expected_end) && row.line >= 2 &&
                           !row.framework.empty() && !row.device.empty() && !row.op_name.empty() &&
                           !row.kernel_source.empty() && !row.dtype.empty();
    if (!plausible) ++doubtful;
  }
  CHECK(doubtful == 0);
  // In the order of MeasurementTable, as `wc -l` counts them less one header a file.
  CHECK(rows == std::array<std::size_t, kMeasurementTableCount>{39000, 39000, 39000, 8561, 17100,
                                                                4492, 5075, 3583, 520, 736, 4606});
}
