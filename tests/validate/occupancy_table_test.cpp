// SPDX-License-Identifier: Apache-2.0
#include "validate/occupancy_table.hpp"

#include <sstream>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "tests/catch.hpp"

namespace smtwin {
namespace {

constexpr const char* kHeader =
    "cc,regs,static_smem,threads,dyn_smem,carveout,api_blocks,measured_blocks\n";

OccupancyScore score(const std::string& text, const char* gpu = "sm-120") {
  std::istringstream in(text);
  return score_occupancy_table(in, "rows.csv", find_gpu(gpu));
}

std::string error_of(const std::string& text) {
  try {
    score(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

// sm_120 has 102,400 B of shared memory and 1,024 B of reserve a CTA: 50,000 B is granted as
// 51,024 -> 51,072 (units of 128), and 102,400 / 51,072 = 2. With 60,000 B it is 1.
TEST_CASE("rows that agree and rows that do not are counted apart") {
  const OccupancyScore got = score(std::string(kHeader) +
                                   "120,32,0,128,50000,-1,2,2\n"
                                   "120,32,0,128,60000,-1,2,\n"
                                   "120,32,0,128,60000,-1,1,2\n"
                                   "90,32,0,128,60000,-1,3,3\n");
  CHECK(got.rows == 4);
  CHECK(got.skipped == 1);
  CHECK(got.compared() == 3);
  CHECK(got.mismatches == 1);
  CHECK(got.measured_rows == 2);
  CHECK(got.measured_mismatches == 1);
  CHECK_FALSE(got.agrees());
  CHECK(got.skipped_reason == "1 row of compute capability 9.0; sm-120 is 12.0");
  REQUIRE(got.first_differences.size() == 2);
  CHECK(got.first_differences[0].row.line == 3);
  CHECK(got.first_differences[0].predicted.ctas_per_sm == 1);
  CHECK(got.first_differences[0].predicted.limiters == LimiterSet(Limiter::shared_memory));
  CHECK(got.first_differences[1].row.line == 4);
  CHECK(got.first_differences[1].row.measured_ctas == 2);
}

TEST_CASE("columns may come in any order, with others between, and no measured column") {
  const OccupancyScore got = score(
      "driver,threads,api_blocks,cc,carveout,dyn_smem,static_smem,regs\n"
      "580,128,2,12.0,-1,49000,1000,32\n"
      "580,128,2,sm_120,-1,49000,1000,32\n");
  CHECK(got.rows == 2);
  CHECK(got.agrees());
  CHECK(got.measured_rows == 0);
  CHECK(got.skipped_reason.empty());
}

TEST_CASE("only the first differences are kept in full, all are counted") {
  std::string text = kHeader;
  for (int i = 0; i < 50; ++i) text += "120,32,0,128,60000,-1,7,\n";
  const OccupancyScore got = score(text);
  CHECK(got.mismatches == 50);
  CHECK(got.first_differences.size() == OccupancyScore::kDifferencesKept);
}

TEST_CASE("a cell that cannot be meant is named with its line") {
  const std::string header = kHeader;
  CHECK(error_of(header + "120,32,0,0,0,-1,1,\n").find("rows.csv:2: threads: ") == 0);
  CHECK(error_of(header + "120,32,0,128,0,-1,1,\n120,32,0,128,-4,-1,1,\n")
            .find("rows.csv:3: dyn_smem: ") == 0);
  CHECK(error_of(header + "120,32,0,128,0,101,1,\n").find("rows.csv:2: carveout: ") == 0);
  CHECK(error_of(header + "120,32,0,128,0,-1,,\n").find("rows.csv:2: api_blocks: ") == 0);
  CHECK(error_of(header + "ada,32,0,128,0,-1,1,\n") ==
        "rows.csv:2: cc: expected a compute capability, found \"ada\"; write 90, 9.0 or sm_90");
  CHECK(error_of("cc,regs,threads\n120,32,128\n").find("api_blocks") != std::string::npos);
}

TEST_CASE("compute capabilities are read in every usual spelling") {
  CHECK(parse_compute_capability("90") == ComputeCapability{9, 0});
  CHECK(parse_compute_capability("9.0") == ComputeCapability{9, 0});
  CHECK(parse_compute_capability("sm_103") == ComputeCapability{10, 3});
  CHECK(parse_compute_capability("sm-121") == ComputeCapability{12, 1});
  for (const char* wrong : {"", "9", "sm_", "9.", ".0", "9.10", "-90", "90a", "0.1"}) {
    INFO(wrong);
    CHECK_FALSE(parse_compute_capability(wrong).has_value());
  }
}

}  // namespace smtwin
