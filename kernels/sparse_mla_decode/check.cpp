// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse_mla_decode/check.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#include "arch/units.hpp"
#include "kernels/sparse_mla_decode/config.hpp"
#include "kernels/sparse_mla_decode/reference.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kHeadsOfRequest = 16;
constexpr std::int64_t kSampledHeads = 64;
constexpr std::int64_t kSampledRequests = 8;

// Calls work(0) ... work(count - 1) on all threads of the host.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> threads;
  const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < std::min(most, count); ++i) threads.emplace_back(loop);
  loop();
  for (auto& thread : threads) thread.join();
}

// `count` of 0 ... end - 1, ascending; the first `always` of them in any case.
std::vector<std::int64_t> choose(std::int64_t end, std::int64_t count, std::int64_t always,
                                 std::mt19937_64& random) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(end));
  std::iota(all.begin(), all.end(), 0);
  if (count >= end) return all;
  const auto fixed = std::min(always, count);
  std::shuffle(all.begin() + fixed, all.end(), random);
  all.resize(static_cast<std::size_t>(count));
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<double> bf16_values(std::span<const std::uint16_t> bits) {
  std::vector<double> values(bits.size());
  std::transform(bits.begin(), bits.end(), values.begin(), bf16_value);
  return values;
}

}  // namespace

SparseMlaSample sample_sparse_mla_rows(std::int64_t batch, std::int64_t heads, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::int64_t of_request = std::min(heads, kHeadsOfRequest);
  const std::int64_t requests = std::max(kSampledRequests, ceil_div(kSampledHeads, of_request));
  constexpr std::int64_t kSpecialRequests = 3;
  SparseMlaSample sample;
  sample.requests = choose(batch, requests, kSpecialRequests, random);
  sample.heads = choose(heads, of_request, 0, random);
  return sample;
}

SquaredError compare_sparse_mla(const SparseMlaRequest& request) {
  const std::size_t count = request.tokens.size() / kMlaTokenBytes;
  std::vector<std::vector<double>> tokens(count);
  parallel_for(count, [&](std::size_t i) {
    const auto token = request.tokens.subspan(i * kMlaTokenBytes, kMlaTokenBytes);
    tokens[i] = mla_token_values(token.first(kMlaRowBytes), token.subspan(kMlaRowBytes));
  });
  std::vector<SquaredError> errors(request.q.size());
  parallel_for(errors.size(), [&](std::size_t head) {
    const auto expected = sparse_mla_reference(bf16_values(request.q[head]), tokens, request.scale,
                                               request.sinks[head]);
    const auto found = bf16_values(request.out[head]);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      errors[head].difference += (found[i] - expected[i]) * (found[i] - expected[i]);
      errors[head].reference += expected[i] * expected[i];
    }
  });
  SquaredError sum;
  for (const auto& error : errors) {
    sum.difference += error.difference;
    sum.reference += error.reference;
  }
  return sum;
}

double relative_error(const SquaredError& error) {
  if (error.difference == 0) return 0;
  const double ratio = std::sqrt(error.difference / error.reference);
  return std::isfinite(ratio) ? ratio : std::numeric_limits<double>::infinity();
}

bool all_finite_bf16(std::span<const std::uint16_t> values) {
  constexpr std::uint16_t kExponent = 0x7f80;
  return std::all_of(values.begin(), values.end(),
                     [](std::uint16_t bits) { return (bits & kExponent) != kExponent; });
}

}  // namespace smtwin
