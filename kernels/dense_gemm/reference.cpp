// SPDX-License-Identifier: Apache-2.0
#include "kernels/dense_gemm/reference.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

namespace smtwin {

double decode_bf16(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

double decode_e4m3(std::uint8_t bits) {
  constexpr int kBias = 7, kMantissaBits = 3;
  const int exponent = bits >> kMantissaBits & 0xF, mantissa = bits & 0x7;
  if (exponent == 0xF && mantissa == 0x7) return std::numeric_limits<double>::quiet_NaN();
  const int significand = exponent == 0 ? mantissa : mantissa + (1 << kMantissaBits);
  const double value = std::ldexp(significand, std::max(exponent, 1) - kBias - kMantissaBits);
  return (bits & 0x80) != 0 ? -value : value;
}

std::vector<double> decode(const std::vector<std::uint8_t>& bytes, DenseGemmDtype dtype) {
  const auto width = static_cast<std::size_t>(element_bytes(dtype));
  std::vector<double> values(bytes.size() / width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = dtype == DenseGemmDtype::fp8
                    ? decode_e4m3(bytes[i])
                    : decode_bf16(static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8));
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
