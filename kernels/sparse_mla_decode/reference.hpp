// SPDX-License-Identifier: Apache-2.0
// Sparse MLA decode in float64 on the CPU, for one head at a time: the oracle of the kernel. Reads
// the same quantized inputs as the kernel and rounds nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernels/number_formats.hpp"

namespace smtwin {

// Where the parts of a cached token lie, in bytes from the start of the cache.
struct MlaTokenOffsets {
  std::int64_t row = 0;
  std::int64_t scales = 0;
};
MlaTokenOffsets mla_token_offsets(std::int64_t slot, std::int64_t page_size);

// The 512 values of a cached token: 448 E4M3 times the scale of their group of 64, then 64 BF16.
std::vector<double> mla_token_values(std::span<const std::uint8_t> row,
                                     std::span<const std::uint8_t> scales);

// out = sum_t exp(s_t) v_t / (sum_t exp(s_t) + exp(sink)), s_t = scale x (q . v_t). Zeros without
// tokens. `tokens`: the values of the tokens that are present.
std::vector<double> sparse_mla_reference(std::span<const double> q,
                                         std::span<const std::vector<double>> tokens, double scale,
                                         double sink = -std::numeric_limits<double>::infinity());

}  // namespace smtwin
