// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse_mla_decode/reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#include "kernels/sparse_mla_decode/config.hpp"

namespace smtwin {

double bf16_value(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

double e4m3_value(std::uint8_t bits) {
  const int exponent = bits >> 3 & 15;
  const int mantissa = bits & 7;
  if (exponent == 15 && mantissa == 7) return std::numeric_limits<double>::quiet_NaN();
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return bits & 0x80 ? -magnitude : magnitude;
}

double ue8m0_value(std::uint8_t bits) {
  if (bits == 0xff) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(1.0, int{bits} - 127);
}

MlaTokenOffsets mla_token_offsets(std::int64_t slot, std::int64_t page_size) {
  const std::int64_t page = slot / page_size * mla_page_bytes(page_size);
  const std::int64_t in_page = slot % page_size;
  return {page + in_page * kMlaRowBytes,
          page + page_size * kMlaRowBytes + in_page * kMlaScaleBytes};
}

std::vector<double> mla_token_values(std::span<const std::uint8_t> row,
                                     std::span<const std::uint8_t> scales) {
  std::vector<double> values(kMlaHeadDim);
  for (std::size_t i = 0; i < kMlaQuantizedDims; ++i) {
    values[i] = e4m3_value(row[i]) * ue8m0_value(scales[i / kMlaGroupDims]);
  }
  for (std::size_t i = 0; i < kMlaRopeDims; ++i) {
    const std::size_t at = kMlaQuantizedDims + 2 * i;
    values[kMlaQuantizedDims + i] =
        bf16_value(static_cast<std::uint16_t>(row[at] | row[at + 1] << 8));
  }
  return values;
}

std::vector<double> sparse_mla_reference(std::span<const double> q,
                                         std::span<const std::vector<double>> tokens, double scale,
                                         double sink) {
  std::vector<double> scores;
  scores.reserve(tokens.size());
  double largest = sink;
  for (const auto& token : tokens) {
    double score = 0;
    for (std::size_t i = 0; i < q.size(); ++i) score += q[i] * token[i];
    scores.push_back(score * scale);
    largest = std::max(largest, scores.back());
  }
  std::vector<double> out(q.size(), 0.0);
  if (tokens.empty()) return out;
  double denominator = std::exp(sink - largest);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const double weight = std::exp(scores[t] - largest);
    denominator += weight;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += weight * tokens[t][i];
  }
  for (double& value : out) value /= denominator;
  return out;
}

}  // namespace smtwin
