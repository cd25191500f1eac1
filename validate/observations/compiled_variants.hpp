// SPDX-License-Identifier: Apache-2.0
// The table of what a compiler made of a kernel, put together from the two sides that know: the
// launcher (threads and dynamic shared bytes of each variant) and the machine code (all else). And
// whether a committed table still says what compiles today.
#pragma once

#include <string>
#include <vector>

#include "kernels/compiled_table.hpp"
#include "validate/observations/fatbin.hpp"

namespace smtwin {

// A __global__ function as its launcher sees it.
struct LaunchedFunction {
  std::string symbol;
  std::string config;  // compact; empty for an auxiliary kernel
  std::int32_t threads_per_cta = 0;
  std::int64_t dynamic_shared_bytes = 0;
};

// One row a function and architecture that has it, in the order of `functions`, each once.
// DataError for a function without machine code that can be read.
CompiledTable table_of_code(const std::string& kernel,
                            const std::vector<LaunchedFunction>& functions,
                            const MachineCode& code);

// The first way in which `committed` is not what was built; empty when it is. Rows of
// architectures that were not built do not count.
std::string table_difference(const CompiledTable& committed, const CompiledTable& built);

// Architectures of `committed` that `built` lacks: "12.0"; empty when there are none.
std::string targets_missing(const CompiledTable& committed, const CompiledTable& built);

}  // namespace smtwin
