// SPDX-License-Identifier: Apache-2.0
// D = scale x A x W^T in float64 on the CPU, from the same rounded inputs the GPU reads. Plain dot
// products, rows of W spread over threads. Free of CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/dense_gemm/config.hpp"

namespace smtwin {

// Elements of `bytes`, as values.
std::vector<double> decode(const std::vector<std::uint8_t>& bytes, DenseGemmDtype dtype);

struct GemmOperands {
  std::vector<double> a;  // m x k
  std::vector<double> w;  // rows x k
  std::int64_t m = 0;
  std::int64_t rows = 0;
  std::int64_t k = 0;
  double scale = 1;
};
std::vector<double> gemm_reference(const GemmOperands& in);  // m x rows

// ||out - reference|| / ||reference||; infinite when an element of out is not finite.
double relative_error(const std::vector<double>& out, const std::vector<double>& reference);

// `count` different numbers below n in ascending order, or all of them when n is not larger.
std::vector<std::int64_t> sample_rows(std::int64_t n, std::int64_t count, std::uint64_t seed);

}  // namespace smtwin
