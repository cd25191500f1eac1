// SPDX-License-Identifier: Apache-2.0
// The least work that a measured row stands for, counted so low that a time below its bounds has no
// explanation: weights and KV cache alone, without activations, outputs or scales. Rows whose bytes
// or operations are not certain (shared caches, unknown routing, unknown formats) count 0.
#pragma once

#include "model/timing/timing_gpu.hpp"
#include "validate/measurements/measurement_row.hpp"

namespace smtwin {

struct RowWork {
  double bytes = 0;   // read once by the operation
  double copies = 1;  // of these bytes that the benchmark rotates over, at least
  double flops = 0;
  double link_bytes = 0;  // that one GPU sends
};
RowWork row_work(const MeasurementRow& row);

// Dense peak for the row's format; 0 = not certain.
double peak_flops_per_s(const MeasurementRow& row, const TimingGpu& gpu);

// Between two readings of the same byte all `copies` pass through the L2, so that of each reading
// at most an L2-full over the copies was still there:  (bytes - L2 / copies) / datasheet rate.
double dram_bound_s(const RowWork& work, const TimingGpu& gpu);

// Time of all work at datasheet rates with a cold L2: a measure of size.
double roofline_s(const MeasurementRow& row, const RowWork& work, const TimingGpu& gpu);

}  // namespace smtwin
