// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse_mla_decode/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/sparse_mla_decode/config.hpp"

namespace smtwin {

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
