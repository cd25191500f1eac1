// SPDX-License-Identifier: Apache-2.0
// Time of finding FP8 scales from the activations while serving: what dynamic quantization costs
// beyond static quantization of the same m x k matrix of 16-bit values.
//
// Per row (vLLM dynamic_per_token_scaled_fp8_quant): a CTA of up to 256 threads a row reads it
// twice, 16 elements a thread and step; static quantization reads it once.
//   waves  = ceil(m / CTAs that are resident on the GPU)     steps = ceil(k / (16 threads))
//   pass   = | first + (waves - 1) wave threads/256 + (steps - 1) step ,  2 m k / l2_rate |
//   stream = share of both kernels' 3 m k bytes that miss the L2
//   again  = share of the rows in flight (2 bytes an element) that left the L2 before the second
//   pass time   = | pass (1 - overlap stream) ,  again 2 m k / dram_rate |          |...| = 2-norm
// Per tensor (TensorRT-LLM quantize_e4m3_per_tensor): a memset, then 1024 CTAs of 1024 threads read
// the matrix and one atomic maximum a CTA meets at one address.
//   x    = m k / 2^20, matrices per grid
//   time = launch + | contention x/(1+x) ,  2 m k (hit / l2_rate + (1-hit) / stream_rate) |_3
//
// Units: s, B/s. Source: the two kernels as published (grid, block, vector width, number of
// passes); that the norms meet where they do is inferred. Left out: rows of 64 elements, whose
// barrier costs several times more; that static quantization starts to miss the L2 before dynamic
// does.
#pragma once

#include <span>
#include <vector>

#include "model/families/gemm/gemm_implementation.hpp"
#include "model/timing/time_problem.hpp"

namespace smtwin {

class QuantScaleTimeModel {
 public:
  enum class Granularity { row, tensor };

  QuantScaleTimeModel(Granularity granularity, const TimingGpu& gpu);
  // By the framework: TensorRT-LLM scales whole tensors, vLLM and SGLang rows.
  QuantScaleTimeModel(ServingFramework framework, const TimingGpu& gpu);

  const std::vector<ConstantSpec>& constants() const { return specs_; }
  double seconds(double rows, double columns, std::span<const double> values) const;
  TimeParts parts(double rows, double columns, std::span<const double> values) const;

 private:
  TimeParts row_time(double rows, double columns, std::span<const double> values) const;
  TimeParts tensor_time(double rows, double columns, std::span<const double> values) const;

  Granularity granularity_;
  TimingGpu gpu_;
  std::vector<ConstantSpec> specs_;
};

}  // namespace smtwin
