// SPDX-License-Identifier: Apache-2.0
// Every configuration that compilers really built, where the tables lie beside the checkout (or in
// $SMTWIN_SHARED): bytes, stages and threads exactly; register estimates within what the
// descriptors claim.
#include <cstdlib>
#include <fstream>

#include "tests/catch.hpp"
#include "validate/compiled_table.hpp"

namespace {

std::string shared_file(const std::string& name) {
  const char* folder = std::getenv("SMTWIN_SHARED");
  return (folder != nullptr ? std::string(folder)
                            : std::string(SMTWIN_TEST_SOURCE_DIR "/../shared")) +
         "/compiled/" + name;
}

}  // namespace

TEST_CASE("every Triton GEMM row to the byte", "[oracle]") {
  const std::string path = shared_file("triton-3.6.0.csv");
  std::ifstream file(path);
  if (!file) {
    smtwin::test::skip("no compiled Triton table at " + path);
    return;
  }
  const auto score = smtwin::score_compiled_table(file, path);
  CHECK(score.rows == 864);
  CHECK(score.skipped == 54);
  CHECK(score.skipped_kernels.size() == 1);
  CHECK(score.skipped_kernels.at("sparse_mla_decode_split_kernel") == 54);
  CHECK(score.compared_kernels.at("triton_gemm") == 458);
  CHECK(score.compared_kernels.at("triton_moe_gemm") == 352);
  CHECK(score.mismatches == 0);
  for (const auto& mismatch : score.first_mismatches) {
    INFO(mismatch.line << " " << mismatch.config << " " << mismatch.architecture << ": "
                       << mismatch.shared_formula);
    CHECK(mismatch.quantities[0].computed == mismatch.quantities[0].expected);
  }
  CHECK(score.register_rows > 600);
  CHECK(score.register_error_median.value() < 0.07);
  CHECK(score.register_error_p90.value() < 0.17);
}

TEST_CASE("every CUTLASS row to the byte", "[oracle]") {
  const std::string path = shared_file("cutlass-nvfp4-sm120.csv");
  std::ifstream file(path);
  if (!file) {
    smtwin::test::skip("no compiled CUTLASS table at " + path);
    return;
  }
  const auto score = smtwin::score_compiled_table(file, path);
  CHECK(score.rows == 10);
  CHECK(score.skipped == 0);
  CHECK(score.mismatches == 0);
}
