// SPDX-License-Identifier: Apache-2.0
// Measured rows sorted into families. Rows of one *fitted* family share constants; rows of one
// *scored* family are reported together; rows of one *shape* are near copies and must not be split
// between fitting and checking.
//   fitted  table, framework, kernel source, dtypes; all collectives of a GPU are one
//   scored  gpu/table/kernel_source/dtype[/kv_dtype][/op_name]; for modules dtype is gemm_type
//   shape   gemm (n,k); moe (hidden, inter, topk, experts); attention (heads, KV heads, head_dim,
//           window); MLA, modules, DSV4 (model, heads, batch); collectives (GPUs, size);
//           mla_bmm (tokens); computescale (m,k)
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "model/timing/profile.hpp"
#include "model/timing/timing_gpu.hpp"
#include "validate/fit/family_fit.hpp"
#include "validate/measurements/measurement_row.hpp"

namespace smtwin {

struct FamilyRows {
  FamilyIdentity identity;
  std::string gpu;  // canonical name
  TimingGpu timing_gpu;
  std::vector<const MeasurementRow*> rows;  // empty for readings of a run (runs/run_rows.hpp)
  std::unique_ptr<TimeProblem> problem;     // null: not modelled, `why` says so
  std::string why;
  std::size_t shapes = 0;           // different ones
  std::vector<FittedRange> ranges;  // of its columns
  MeasuredFamily measured;          // its problem points at the one above
};

// Families of every row, in order of GPU and key. Rows of a device nobody knows or of a kernel
// source nobody modelled form families without a problem. `only_gpu`: canonical name, or empty.
std::vector<FamilyRows> group_families(const std::vector<MeasurementRow>& rows,
                                       const std::string& only_gpu = "");

// The same family on another GPU, with one of its rows: for its constants.
std::unique_ptr<TimeProblem> problem_on(const FamilyRows& family, const TimingGpu& gpu);

FamilyIdentity fitted_family(const MeasurementRow& row);
// "rtx_pro_6000_server/gemm_perf/torch_flow/bfloat16"
std::string scored_family(const std::string& gpu, const MeasurementRow& row);

// The GPU of a row as the families see it, instrument included.
TimingGpu timing_gpu_of_rows(const GpuSpec& gpu);

}  // namespace smtwin
