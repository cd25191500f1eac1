// SPDX-License-Identifier: Apache-2.0
// One GEMM problem in device memory: random A, W and FP8 scales, a poisoned D, and the check of D
// against float64. Shared by our kernel and the library beside it. Exists only in builds with
// SMTWIN_CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/dense_gemm/config.hpp"
#include "kernels/live_kernel.hpp"

namespace smtwin {

// Device memory that frees itself. DeviceError when there is not enough.
class DeviceMemory {
 public:
  DeviceMemory(std::int64_t bytes, const std::string& what);
  void* get() const { return memory_.get(); }
  std::int64_t bytes() const { return bytes_; }
  void fill(int byte, DeviceStream stream);  // as memset

 private:
  std::unique_ptr<void, void (*)(void*)> memory_;
  std::int64_t bytes_;
};

class GemmBuffers {
 public:
  GemmBuffers(const DenseGemmShape& shape, std::uint64_t seed);

  const DenseGemmShape& shape() const { return shape_; }
  void* a() const { return a_.get(); }
  void* w() const { return w_.get(); }
  void* d() const { return d_.get(); }
  const float* scale_a() const { return static_cast<const float*>(scales_.get()); }
  const float* scale_w() const { return scale_a() + kScaleDistance; }

  void poison(DeviceStream stream) { d_.fill(0xFF, stream); }
  // Every element must be finite; values are compared for all rows of A and a sample of W's, whose
  // reference is computed once.
  double relative_error();

 private:
  void compute_expected();

  static constexpr std::int64_t kScaleDistance = 64;  // cuBLASLt wants each one aligned

  DenseGemmShape shape_;
  std::uint64_t seed_;
  DeviceMemory a_, w_, d_, scales_;
  double scale_ = 1;
  std::vector<std::int64_t> checked_rows_;  // of W
  std::vector<double> expected_;            // m x checked rows
};

}  // namespace smtwin
