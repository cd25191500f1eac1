// SPDX-License-Identifier: Apache-2.0
// What is multiplied: `b` independent products D[m,n] = A[m,k] x W[n,k]^T (b = heads for the
// absorbed MLA projections, else 1), and how many bytes an element takes in each format.
// Activations arrive and leave as 16-bit values; a narrower format is made inside the operation.
#pragma once

#include <cstdint>

namespace smtwin {

struct GemmShape {
  double b = 1, m = 1, n = 1, k = 1;
};

enum class GemmDtype : std::uint8_t { bf16, fp8, fp8_block, nvfp4 };

// Activations and weights have the same format. NVFP4: 4 bits and one 8-bit scale for 16 elements.
constexpr double bytes_per_element(GemmDtype dtype) {
  switch (dtype) {
    case GemmDtype::bf16:
      return 2.0;
    case GemmDtype::fp8:
    case GemmDtype::fp8_block:
      return 1.0;
    case GemmDtype::nvfp4:
      return 0.5 + 1.0 / 16;
  }
  return 2.0;
}

inline constexpr double kOutputBytesPerElement = 2;  // bf16
inline constexpr double kSourceBytesPerElement = 2;  // activations before quantization

// std::ceil is a call without SSE4.1. From 2^53 on every double is whole, and no integer may hold
// it.
constexpr double ceil_count(double x) {
  constexpr double kAllWhole = 9007199254740992.0;
  if (!(x < kAllWhole)) return x;
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  return whole + (whole < x ? 1 : 0);
}
constexpr double ceil_div(double a, double b) { return ceil_count(a / b); }

}  // namespace smtwin
