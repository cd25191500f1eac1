// SPDX-License-Identifier: Apache-2.0
// Tables made of invented machine code: who gives which number, and what counts as a difference.
#include "validate/observations/compiled_variants.hpp"

#include "arch/error.hpp"
#include "tests/catch.hpp"

namespace {

using namespace smtwin;

CubinKernel kernel(const std::string& symbol, int registers) {
  CubinKernel made;
  made.symbol = symbol;
  made.registers_per_thread = registers;
  made.static_shared_bytes = 16;
  made.stack_bytes = 8;
  made.barriers = 2;
  made.instructions = {{"all", 100}, {"local_load", 3}, {"local_store", 2}};
  return made;
}

// "main" for both architectures, "hopper_only" for one.
MachineCode code() {
  MachineCode made;
  made.cubins = {{.target = {9, 0},
                  .compiler = "ptxas 1.2.3",
                  .options = "",
                  .kernels = {kernel("main", 40), kernel("hopper_only", 50)}},
                 {.target = {12, 0},
                  .compiler = "ptxas 1.2.3",
                  .options = "",
                  .kernels = {kernel("main", 41)}}};
  return made;
}

const std::vector<LaunchedFunction> kFunctions = {
    {.symbol = "hopper_only", .config = "BT32", .threads_per_cta = 128, .dynamic_shared_bytes = 7},
    {.symbol = "main", .config = "BT16", .threads_per_cta = 64, .dynamic_shared_bytes = 5},
    {.symbol = "main", .config = "BT16", .threads_per_cta = 64, .dynamic_shared_bytes = 5}};

}  // namespace

TEST_CASE("a row a function and architecture, each side's numbers", "[unit]") {
  const CompiledTable table = table_of_code("toy", kFunctions, code());
  CHECK(table.kernel == "toy");
  CHECK(table.compiler == "ptxas 1.2.3");
  REQUIRE(table.variants.size() == 3);
  CHECK(table.variants[0].symbol == "hopper_only");
  const CompiledVariant& row = table.variants[2];
  CHECK(row.symbol == "main");
  CHECK(row.target == ComputeCapability{12, 0});
  CHECK(row.registers_per_thread == 41);
  CHECK(row.threads_per_cta == 64);
  CHECK(row.dynamic_shared_bytes == 5);
  CHECK(row.static_shared_bytes == 16);
  CHECK(row.stack_bytes == 8);
  CHECK(row.barriers == 2);
  CHECK(row.spill_stores == 2);
  CHECK(row.spill_loads == 3);
  CHECK(row.instructions.at("all") == 100);
}

TEST_CASE("a function without readable code is an error that says why it may be", "[unit]") {
  MachineCode compressed;
  compressed.compressed_cubins = 4;
  CHECK_THROWS_AS(table_of_code("toy", kFunctions, compressed), DataError);
  CHECK_THROWS_WITH(table_of_code("toy", kFunctions, compressed),
                    Catch::Contains("launches hopper_only") && Catch::Contains("4 of its cubins"));
}

TEST_CASE("a table differs by a number, a row too few and a row too many", "[unit]") {
  const CompiledTable built = table_of_code("toy", kFunctions, code());
  CHECK(table_difference(built, built).empty());

  CompiledTable other = built;
  other.variants[1].spill_loads = 4;
  CHECK(table_difference(other, built).find("\"spill_loads\":4") != std::string::npos);

  CompiledTable fewer = built;
  fewer.variants.pop_back();
  // All rows of sm_120 are gone, but they were built: the new one is missing from the table.
  CHECK(table_difference(fewer, built).find("not in the table: {\"symbol\":\"main\"") == 0);

  CompiledTable more = built;
  more.variants.push_back(built.variants[1]);
  more.variants.back().symbol = "gone";
  CHECK(table_difference(more, built).find("no longer compiled: {\"symbol\":\"gone\"") == 0);
}

TEST_CASE("architectures that were not built are not compared, but missed", "[unit]") {
  const CompiledTable both = table_of_code("toy", kFunctions, code());
  MachineCode one = code();
  one.cubins.pop_back();
  const CompiledTable hopper = table_of_code("toy", kFunctions, one);
  CHECK(table_difference(both, hopper).empty());
  CHECK(targets_missing(both, hopper) == "12.0");
  CHECK(targets_missing(hopper, both).empty());
}
