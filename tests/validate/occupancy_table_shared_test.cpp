// SPDX-License-Identifier: Apache-2.0
// The model against a driver's own answers, and against CTAs counted on silicon, where the table
// lies beside the checkout (or in $SMTWIN_SHARED).
#include <cstdlib>
#include <fstream>

#include "arch/gpu_catalog.hpp"
#include "tests/catch.hpp"
#include "validate/occupancy_table.hpp"

TEST_CASE("every answer of an H200's driver is predicted", "[oracle]") {
  const char* folder = std::getenv("SMTWIN_SHARED");
  const std::string path =
      (folder != nullptr ? std::string(folder) : std::string(SMTWIN_TEST_SOURCE_DIR "/../shared")) +
      "/occupancy/h200-driver-580.csv";
  std::ifstream file(path);
  if (!file) {
    smtwin::test::skip("no table of driver answers at " + path);
    return;
  }
  const auto score = smtwin::score_occupancy_table(file, path, smtwin::find_gpu("h200-sxm"));
  CHECK(score.rows == 9043);
  CHECK(score.skipped == 0);
  CHECK(score.mismatches == 0);
  CHECK(score.measured_rows == 168);
  CHECK(score.measured_mismatches == 0);
}
