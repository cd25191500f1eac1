// SPDX-License-Identifier: Apache-2.0
// What compilers really used, in rows, against what the descriptors compute. Two layouts, columns
// in any order, further ones ignored:
//   Triton   kernel,cc,BLOCK_M,BLOCK_N,BLOCK_K,num_warps,num_stages,shared[,regs][,dtype]
//            kernel is a name of ours ("triton_gemm") or of a known corpus ("dense_gemm_kernel",
//            bf16; "moe_grouped_gemm_kernel", fp8 with block scales); cc is 90, 9.0 or sm_90
//   CUTLASS  tile_m,tile_n,tile_k,kernel_shared_bytes[,grouped][,mainloop_shared_bytes]
//            [,epilogue_shared_bytes][,stages][,threads][,cc]; cc 12.0 where there is none
// Bytes, stages and threads must agree exactly. Registers are an estimate in this project, so they
// are scored by their relative error and never count as a mismatch.
// Rows are read one at a time, so a table may be larger than memory.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "kernels/descriptor.hpp"

namespace smtwin {

// The GPU a row's compute capability stands for; by default find_gpu("sm_120") and so on.
using GpuOfArchitecture = std::function<GpuSpec(ComputeCapability)>;

// One quantity of a row that the table gives.
struct CompiledQuantity {
  std::string name;  // "shared_bytes", "stages"
  std::int64_t expected = 0;
  std::int64_t computed = 0;
  bool agrees() const { return expected == computed; }
};

struct CompiledMismatch {
  long line = 0;
  std::string kernel;        // as the table names it
  std::string architecture;  // "sm_120"
  std::string config;
  std::vector<CompiledQuantity> quantities;  // of the row, those that agree too
  std::string shared_formula;                // how our number came about
  std::map<std::string, std::string> cells;  // the row in full, by column
};

struct CompiledScore {
  static constexpr std::size_t kMismatchesKept = 20;

  std::int64_t rows = 0;                                 // in the table
  std::int64_t skipped = 0;                              // of them not compared
  std::int64_t mismatches = 0;                           // rows in which any quantity differs
  std::map<std::string, std::int64_t> skipped_kernels;   // name or reason -> rows
  std::map<std::string, std::int64_t> compared_kernels;  // descriptor -> rows
  std::vector<CompiledMismatch> first_mismatches;        // in file order

  // Registers: |estimate / compiled - 1| over rows that give them and do not spill.
  std::int64_t register_rows = 0;
  std::optional<double> register_error_median;
  std::optional<double> register_error_p90;

  std::int64_t compared() const { return rows - skipped; }
  bool agrees() const { return mismatches == 0; }
};

// DataError for a table without the columns of either layout (the missing ones are named) and for
// a cell that cannot be meant ("rows.csv:12: num_warps: expected an integer ...").
CompiledScore score_compiled_table(std::istream& in, const std::string& file_name,
                                   const GpuOfArchitecture& gpu_of_architecture = {});

}  // namespace smtwin
