// SPDX-License-Identifier: Apache-2.0
// What the compiler made of our own kernels: registers, stack, spills, shared bytes and counted
// instructions of each variant and architecture, read from the machine code and kept in
// data/kernels/<kernel>.json. Descriptors take registers from here, so that they are known without
// a GPU, a compiler or the card.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"

namespace smtwin {

struct CompiledVariant {
  std::string symbol;  // of the __global__ function
  std::string config;  // compact: "BH16/BT32/w8/s3"; empty for auxiliary kernels
  ComputeCapability target;
  std::int32_t threads_per_cta = 0;
  std::int32_t registers_per_thread = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t dynamic_shared_bytes = 0;  // sizeof the storage the kernel lays over it
  std::int64_t stack_bytes = 0;           // local memory of a thread
  std::int32_t spill_stores = 0;          // local-memory store instructions in the code
  std::int32_t spill_loads = 0;           // an array that is indexed at run time counts as well
  std::int32_t barriers = 0;
  std::map<std::string, std::int32_t> instructions;  // static counts by group: "mma", "ldmatrix"
};

struct CompiledTable {
  std::string kernel;
  std::string compiler;  // "ptxas 13.0.88"
  std::vector<CompiledVariant> variants;
  // The main kernel of a config, or one function by its symbol (where configs of two data types
  // read alike). Null: not compiled for that architecture (equal major; the largest minor not
  // above it).
  const CompiledVariant* find(const std::string& config, ComputeCapability cc) const;
  const CompiledVariant* find_symbol(const std::string& symbol, ComputeCapability cc) const;
};

// From the data folder, read once. A table that is not there is empty; DataError for a broken one.
const CompiledTable& compiled_table(const std::string& kernel);

CompiledTable read_compiled_table(const std::string& text, const std::string& where);
std::string write_compiled_table(const CompiledTable& table);

}  // namespace smtwin
