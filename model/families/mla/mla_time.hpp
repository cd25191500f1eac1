// SPDX-License-Identifier: Apache-2.0
// Time of one decode step of latent attention, kernels alone: the library's equations behind one
// door, for deployments (a shape, no rows) and for the benchmark (what a replayed graph reads).
// Left out: projections (mla_module_time.hpp), prefill, unequal contexts, context parallelism.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "model/families/mla/hopper_mla.hpp"
#include "model/families/mla/triton_mla.hpp"
#include "model/families/mla/trtllm_sm120_mla.hpp"

namespace smtwin {

// A kernel and what its library made of a shape; work and kernel are of the same alternative.
class MlaKernel {
 public:
  using Work = std::variant<HopperMla::Work, TrtllmSm120Mla::Work, TritonMla::Work>;

  // DataError when the library has no kernel for the GPU.
  MlaKernel(const TimingGpu& gpu, MlaFamily family, bool in_module, MlaConstants& constants);

  Work work(const MlaShape& shape, double other_bytes) const;
  MlaTime time(const Work& work, std::span<const double> values, CacheState cache) const;

 private:
  std::variant<HopperMla, TrtllmSm120Mla, TritonMla> kernel_;
};

std::string choice_text(const MlaKernel::Work& work);  // "8 KV splits"; empty for one

class MlaTimeModel {
 public:
  MlaTimeModel(const TimingGpu& gpu, MlaFamily family);

  const std::vector<ConstantSpec>& constants() const { return constants_.specs(); }
  const MlaKernel& kernel() const { return kernel_; }

  // Of the kernels of the step; no instrument.
  double seconds(const MlaShape& shape, std::span<const double> values, CacheState cache) const;
  TimeParts parts(const MlaShape& shape, std::span<const double> values, CacheState cache) const;
  // What a replay of the benchmark reads, from the kernels' own time.
  double reading_s(double kernel_seconds) const;

 private:
  TimingGpu gpu_;
  MlaConstants constants_;
  MlaKernel kernel_;
  double phase_ticks_ = 0;
};

}  // namespace smtwin
