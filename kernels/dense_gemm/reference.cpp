// SPDX-License-Identifier: Apache-2.0
#include "kernels/dense_gemm/reference.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#include "kernels/number_formats.hpp"

namespace smtwin {

std::vector<double> decode(const std::vector<std::uint8_t>& bytes, DenseGemmDtype dtype) {
  const auto width = static_cast<std::size_t>(element_bytes(dtype));
  std::vector<double> values(bytes.size() / width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = dtype == DenseGemmDtype::fp8
                    ? e4m3_value(bytes[i])
                    : bf16_value(static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8));
  }
  return values;
}

std::vector<double> gemm_reference(const GemmOperands& in) {
  std::vector<double> out(static_cast<std::size_t>(in.m * in.rows));
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t row = next++; row < in.rows; row = next++) {
      const auto w = in.w.begin() + row * in.k;
      for (std::int64_t i = 0; i < in.m; ++i) {
        out[static_cast<std::size_t>(i * in.rows + row)] =
            in.scale * std::inner_product(w, w + in.k, in.a.begin() + i * in.k, 0.0);
      }
    }
  };
  std::vector<std::jthread> threads;
  const auto count = std::min<std::int64_t>(std::thread::hardware_concurrency(), in.rows);
  for (std::int64_t i = 0; i < std::max<std::int64_t>(count, 1); ++i) threads.emplace_back(work);
  threads.clear();
  return out;
}

double relative_error(const std::vector<double>& out, const std::vector<double>& reference) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double d = out[i] - reference[i];
    difference += d * d;
    norm += reference[i] * reference[i];
  }
  const double error = std::sqrt(difference / norm);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

std::vector<std::int64_t> sample_rows(std::int64_t n, std::int64_t count, std::uint64_t seed) {
  if (n <= count) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    return all;
  }
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> rows;
  while (static_cast<std::int64_t>(rows.size()) < count) {
    const auto row = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    const auto at = std::lower_bound(rows.begin(), rows.end(), row);
    if (at == rows.end() || *at != row) rows.insert(at, row);
  }
  return rows;
}

}  // namespace smtwin
