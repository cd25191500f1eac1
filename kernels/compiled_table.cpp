// SPDX-License-Identifier: Apache-2.0
// Which row of a compiled table stands for a GPU: machine code runs on its own major version, on
// the same or a later minor one.
#include "kernels/compiled_table.hpp"

namespace smtwin {
namespace {

template <class Matches>
const CompiledVariant* nearest(const CompiledTable& table, ComputeCapability cc, Matches matches) {
  const CompiledVariant* best = nullptr;
  for (const CompiledVariant& variant : table.variants) {
    if (!matches(variant) || variant.target.major != cc.major || variant.target > cc) continue;
    if (best == nullptr || variant.target > best->target) best = &variant;
  }
  return best;
}

}  // namespace

const CompiledVariant* CompiledTable::find(const std::string& config, ComputeCapability cc) const {
  return nearest(*this, cc, [&](const CompiledVariant& v) { return v.config == config; });
}

const CompiledVariant* CompiledTable::find_symbol(const std::string& symbol,
                                                  ComputeCapability cc) const {
  return nearest(*this, cc, [&](const CompiledVariant& v) { return v.symbol == symbol; });
}

}  // namespace smtwin
