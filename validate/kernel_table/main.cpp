// SPDX-License-Identifier: Apache-2.0
// smtwin_kernel_table: reads the machine code of our kernels out of this very program and writes
// data/kernels/<kernel>.json. Needs neither a GPU nor a program of the toolkit.
//
//   smtwin_kernel_table FOLDER                      writes the tables
//   smtwin_kernel_table FOLDER --compare COMMITTED  also holds them against the committed ones:
//                                                   exit 1 when one differs. Another compiler makes
//                                                   other code; then the comparison is skipped.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "arch/error.hpp"
#include "kernels/live_kernel.hpp"
#include "validate/observations/compiled_variants.hpp"

namespace smtwin {
namespace {

namespace fs = std::filesystem;

std::vector<LaunchedFunction> functions_of(const LiveKernel& kernel) {
  const KernelDescriptor& descriptor = find_kernel(kernel.name());
  std::vector<LaunchedFunction> main_kernels;
  std::vector<LaunchedFunction> auxiliary;
  for (const Parameters& variant : kernel.variants()) {
    const std::string config = descriptor.compact_config(complete_parameters(descriptor, variant));
    for (const CompiledFunction& function : kernel.functions(variant)) {
      (function.auxiliary ? auxiliary : main_kernels)
          .push_back({.symbol = function.symbol,
                      .config = function.auxiliary ? "" : config,
                      .threads_per_cta = function.threads_per_cta,
                      .dynamic_shared_bytes = function.dynamic_shared_bytes});
    }
  }
  main_kernels.insert(main_kernels.end(), auxiliary.begin(), auxiliary.end());
  return main_kernels;
}

std::string file_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A table is made whole or not at all: it must not lose an architecture.
void refuse_to_lose_rows(const fs::path& file, const CompiledTable& table) {
  if (!fs::exists(file)) return;
  const auto old = read_compiled_table(file_text(file), file.string());
  const std::string missing = targets_missing(old, table);
  if (missing.empty()) return;
  throw UsageError(file.string() + ": has rows for " + missing +
                   ", which this build was not compiled for; add it to CMAKE_CUDA_ARCHITECTURES");
}

void write_table(const fs::path& file, const CompiledTable& table) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << write_compiled_table(table);
  if (!out.flush()) throw DataError(file.string() + ": cannot be written");
}

// What to tell of one kernel; `differs` when the committed table is not what compiles.
std::string compare(const fs::path& file, const CompiledTable& built, bool& differs) {
  if (!fs::exists(file)) {
    differs = true;
    return file.string() + ": missing; make it with the target kernel_tables";
  }
  const auto committed = read_compiled_table(file_text(file), file.string());
  if (committed.compiler != built.compiler) {
    return "smtwin-test-skipped: " + file.string() + " was made with " + committed.compiler +
           ", this build with " + built.compiler;
  }
  const std::string difference = table_difference(committed, built);
  differs = !difference.empty();
  return file.string() + (differs ? ": regenerate it with the target kernel_tables: " + difference
                                  : ": is what compiles");
}

int run(const std::vector<std::string>& arguments) {
  const bool comparing = arguments.size() == 3 && arguments[1] == "--compare";
  if (arguments.size() != 1 && !comparing) {
    throw UsageError("expected FOLDER, or FOLDER --compare COMMITTED");
  }
  const auto program = read_binary_file("/proc/self/exe");
  const MachineCode code = read_machine_code(program, "this program");
  bool any_differs = false;
  for (const auto& kernel : live_kernels()) {
    if (kernel->is_peer()) continue;
    const std::string name = kernel->name() + ".json";
    const CompiledTable table = table_of_code(kernel->name(), functions_of(*kernel), code);
    const fs::path file = fs::path(arguments[0]) / name;
    if (!comparing) refuse_to_lose_rows(file, table);
    write_table(file, table);
    std::cout << kernel->name() << ": " << table.variants.size() << " rows, " << table.compiler
              << '\n';
    if (!comparing) continue;
    bool differs = false;
    std::cout << compare(fs::path(arguments[2]) / name, table, differs) << '\n';
    any_differs = any_differs || differs;
  }
  return any_differs ? 1 : 0;
}

}  // namespace
}  // namespace smtwin

int main(int argc, char** argv) {
  try {
    return smtwin::run({argv + 1, argv + argc});
  } catch (const smtwin::Error& error) {
    std::cerr << "error: smtwin_kernel_table: " << error.what() << '\n';
    return error.exit_code();
  }
}
