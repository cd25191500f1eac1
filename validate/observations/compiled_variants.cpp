// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/compiled_variants.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "arch/error.hpp"

namespace smtwin {
namespace {

std::string target_text(ComputeCapability cc) {
  return std::to_string(cc.major) + "." + std::to_string(cc.minor);
}

std::set<ComputeCapability> targets_of(const CompiledTable& table) {
  std::set<ComputeCapability> targets;
  for (const CompiledVariant& variant : table.variants) targets.insert(variant.target);
  return targets;
}

CompiledVariant variant_of(const LaunchedFunction& launched, ComputeCapability target,
                           const CubinKernel& kernel) {
  return {.symbol = launched.symbol,
          .config = launched.config,
          .target = target,
          .threads_per_cta = launched.threads_per_cta,
          .registers_per_thread = kernel.registers_per_thread,
          .static_shared_bytes = kernel.static_shared_bytes,
          .dynamic_shared_bytes = launched.dynamic_shared_bytes,
          .stack_bytes = kernel.stack_bytes,
          .spill_stores = kernel.spill_stores(),
          .spill_loads = kernel.spill_loads(),
          .barriers = kernel.barriers,
          .instructions = kernel.instructions};
}

// A row as its line in the file.
std::string line_of(const CompiledVariant& variant) {
  const std::string text =
      write_compiled_table({.kernel = "", .compiler = "", .variants = {variant}});
  const std::size_t start = text.find("{\"symbol\"");
  return text.substr(start, text.find('\n', start) - start);
}

}  // namespace

CompiledTable table_of_code(const std::string& kernel,
                            const std::vector<LaunchedFunction>& functions,
                            const MachineCode& code) {
  std::map<std::string, std::map<ComputeCapability, CubinKernel>> built;
  CompiledTable table{.kernel = kernel, .compiler = "", .variants = {}};
  for (const Cubin& cubin : code.cubins) {
    if (table.compiler.empty()) table.compiler = cubin.compiler;
    for (const CubinKernel& found : cubin.kernels) built[found.symbol][cubin.target] = found;
  }
  std::set<std::string> done;
  for (const LaunchedFunction& launched : functions) {
    if (!done.insert(launched.symbol).second) continue;
    const auto found = built.find(launched.symbol);
    if (found == built.end()) {
      throw DataError(kernel + ": the program launches " + launched.symbol +
                      ", but has no machine code of that name that can be read; " +
                      std::to_string(code.compressed_cubins) +
                      " of its cubins are compressed (compile with --compress-mode=none)");
    }
    for (const auto& [target, compiled] : found->second) {
      table.variants.push_back(variant_of(launched, target, compiled));
    }
  }
  return table;
}

std::string table_difference(const CompiledTable& committed, const CompiledTable& built) {
  const auto built_for = targets_of(built);
  using Key = std::pair<std::string, ComputeCapability>;
  std::map<Key, std::string> wanted;
  for (const CompiledVariant& v : committed.variants) {
    if (built_for.contains(v.target)) wanted[{v.symbol, v.target}] = line_of(v);
  }
  for (const CompiledVariant& v : built.variants) {
    const auto found = wanted.find({v.symbol, v.target});
    const std::string line = line_of(v);
    if (found == wanted.end()) return "not in the table: " + line;
    if (found->second != line) return "table: " + found->second + " compiled: " + line;
    wanted.erase(found);
  }
  return wanted.empty() ? "" : "no longer compiled: " + wanted.begin()->second;
}

std::string targets_missing(const CompiledTable& committed, const CompiledTable& built) {
  const auto built_for = targets_of(built);
  std::string missing;
  for (const ComputeCapability target : targets_of(committed)) {
    if (!built_for.contains(target)) missing += (missing.empty() ? "" : ", ") + target_text(target);
  }
  return missing;
}

}  // namespace smtwin
