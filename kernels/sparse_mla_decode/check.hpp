// SPDX-License-Identifier: Apache-2.0
// Compares outputs of sparse MLA decode with the float64 reference on a sample of heads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace smtwin {

// Requests and heads to check: everything of a small problem, otherwise at least 64 heads, the
// first requests (those with a special length) among them.
struct SparseMlaSample {
  std::vector<std::int64_t> requests;
  std::vector<std::int64_t> heads;  // of each of these requests
};
SparseMlaSample sample_sparse_mla_rows(std::int64_t batch, std::int64_t heads, std::uint64_t seed);

// ||out - reference||^2 and ||reference||^2 over some heads.
struct SquaredError {
  double difference = 0;
  double reference = 0;
};

// One request: the tokens it attends to (584 bytes each: row, then scales) and, for each sampled
// head, its Q, sink and output. Uses all threads of the host.
struct SparseMlaRequest {
  std::span<const std::uint8_t> tokens;
  std::vector<std::span<const std::uint16_t>> q;    // BF16, 512 values a head
  std::vector<std::span<const std::uint16_t>> out;  // likewise
  std::vector<float> sinks;
  double scale = 1;
};
SquaredError compare_sparse_mla(const SparseMlaRequest& request);

// sqrt of the ratio; infinite when the difference is not finite, or when outputs that must be zero
// are not.
double relative_error(const SquaredError& error);

bool all_finite_bf16(std::span<const std::uint16_t> values);

}  // namespace smtwin
