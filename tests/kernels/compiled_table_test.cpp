// SPDX-License-Identifier: Apache-2.0
// Tables of compiled variants: the row that stands for a GPU, the file and back, and what a broken
// file is told.
#include "kernels/compiled_table.hpp"

#include "arch/error.hpp"
#include "tests/catch.hpp"

namespace {

using namespace smtwin;

CompiledTable table() {
  CompiledTable made{.kernel = "toy", .compiler = "ptxas 13.0.88", .variants = {}};
  for (const ComputeCapability target : {ComputeCapability{8, 0}, {9, 0}, {12, 0}, {12, 1}}) {
    made.variants.push_back({.symbol = "toy_bt16",
                             .config = "BT16/w4",
                             .target = target,
                             .threads_per_cta = 160,
                             .registers_per_thread = 10 * target.major + target.minor,
                             .static_shared_bytes = 400,
                             .dynamic_shared_bytes = 61568,
                             .stack_bytes = 8,
                             .spill_stores = 1,
                             .spill_loads = 2,
                             .barriers = 3,
                             .instructions = {{"all", 99}, {"mma", 12}}});
  }
  made.variants.push_back(
      {.symbol = "toy_combine", .config = "", .target = {9, 0}, .instructions = {}});
  return made;
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = write_compiled_table(table());
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("code runs on its major version, from its minor version on", "[unit]") {
  const CompiledTable made = table();
  const auto registers = [&](ComputeCapability cc) {
    const CompiledVariant* found = made.find("BT16/w4", cc);
    return found == nullptr ? -1 : found->registers_per_thread;
  };
  CHECK(registers({9, 0}) == 90);
  CHECK(registers({12, 0}) == 120);
  CHECK(registers({12, 1}) == 121);
  CHECK(registers({12, 9}) == 121);  // the nearest below
  CHECK(registers({8, 9}) == 80);
  CHECK(registers({10, 0}) == -1);
  CHECK(registers({7, 5}) == -1);
  CHECK(made.find("BT32/w4", {9, 0}) == nullptr);
  CHECK(made.find_symbol("toy_bt16", {12, 0})->registers_per_thread == 120);
  CHECK(made.find("", {9, 0})->symbol == "toy_combine");
  CHECK(made.find_symbol("toy_combine", {12, 0}) == nullptr);
}

TEST_CASE("a table comes back from its file as it was", "[property]") {
  const std::string text = write_compiled_table(table());
  const CompiledTable back = read_compiled_table(text, "toy.json");
  CHECK(write_compiled_table(back) == text);
  REQUIRE(back.variants.size() == 5);
  const CompiledVariant& row = back.variants[3];
  CHECK(row.target == ComputeCapability{12, 1});
  CHECK(row.dynamic_shared_bytes == 61568);
  CHECK(row.spill_stores == 1);
  CHECK(row.spill_loads == 2);
  CHECK(row.instructions.at("mma") == 12);
}

TEST_CASE("a broken table is told where and what", "[unit]") {
  const auto problem = [](const std::string& text) {
    try {
      read_compiled_table(text, "toy.json");
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  CHECK(problem("{") ==
        "toy.json: line 1, column 2 (byte 1): not valid JSON; regenerate it (target "
        "kernel_tables)");
  CHECK(problem("[]") == "toy.json: /: expected an object, found a list");
  CHECK(problem(replaced("\"schema_version\": 1", "\"schema_version\": 2")) ==
        "toy.json: /schema_version: expected 1, found 2");
  CHECK(problem(replaced("\"barriers\":3,", "")) == "toy.json: /variants/0/barriers: missing");
  CHECK(problem(replaced("\"barriers\":3", "\"barriers\":-3")) ==
        "toy.json: /variants/0/barriers: expected an integer from 0 to 2147483647, found -3");
  CHECK(problem(replaced("\"target\":\"9.0\"", "\"target\":\"sm_90\"")) ==
        "toy.json: /variants/1/target: expected a compute capability like \"9.0\", found "
        "\"sm_90\"");
  CHECK(problem(replaced("\"stack_bytes\":8", "\"stack_bytes\":8,\"more\":1"))
            .find("toy.json: /variants/0: an unknown key; allowed: symbol, config") == 0);
  CHECK(problem(replaced("\"mma\":12", "\"mma\":\"12\"")) ==
        "toy.json: /variants/0/instructions/mma: expected an integer from 0 to 2147483647, found "
        "\"12\"");
}

TEST_CASE("a kernel without a table has an empty one", "[unit]") {
  CHECK(compiled_table("no_such_kernel").variants.empty());
  CHECK(compiled_table("no_such_kernel").find("", {9, 0}) == nullptr);
}
