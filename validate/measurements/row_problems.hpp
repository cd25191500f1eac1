// SPDX-License-Identifier: Apache-2.0
// From measured rows to prepared shapes of the family that models them. One function a table kind;
// all rows of a call share table, device, framework, kernel source and the dtypes, that is, they
// belong to one set of constants. Point i of the problem is row i.
// DataError for a row that no rule covers (a kernel source or dtype nobody modelled).
#pragma once

#include <memory>
#include <span>

#include "model/timing/time_problem.hpp"
#include "model/timing/timing_gpu.hpp"
#include "validate/measurements/measurement_row.hpp"

namespace smtwin {

using RowSpan = std::span<const MeasurementRow* const>;

std::unique_ptr<TimeProblem> gemm_row_problem(RowSpan rows, const TimingGpu& gpu);
std::unique_ptr<TimeProblem> mla_bmm_row_problem(RowSpan rows, const TimingGpu& gpu);
std::unique_ptr<TimeProblem> compute_scale_row_problem(RowSpan rows, const TimingGpu& gpu);
std::unique_ptr<TimeProblem> moe_row_problem(RowSpan rows, const TimingGpu& gpu);
std::unique_ptr<TimeProblem> attention_row_problem(RowSpan rows, const TimingGpu& gpu);
std::unique_ptr<TimeProblem> mla_row_problem(RowSpan rows, const TimingGpu& gpu);
std::unique_ptr<TimeProblem> mla_module_row_problem(RowSpan rows, const TimingGpu& gpu);
std::unique_ptr<TimeProblem> dsv4_row_problem(RowSpan rows, const TimingGpu& gpu);
// All NCCL and all-reduce rows of a GPU share constants: rows may mix the two tables, frameworks,
// operations and dtypes.
std::unique_ptr<TimeProblem> collective_row_problem(RowSpan rows, const TimingGpu& gpu);

}  // namespace smtwin
