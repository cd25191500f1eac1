// SPDX-License-Identifier: Apache-2.0
#include "model/spread_contexts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/catch.hpp"

using namespace smtwin;

namespace {
double mean_of(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}
double cv_of(const std::vector<double>& v) {
  const double mean = mean_of(v);
  double sum = 0;
  for (const double x : v) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(v.size())) / mean;
}
}  // namespace

TEST_CASE("contexts without spread are equal", "[hand]") {
  CHECK(spread_contexts(3, 1000, 0) == std::vector<double>{1000, 1000, 1000});
  CHECK(spread_contexts(1, 1000, 0.8) == std::vector<double>{1000});
  CHECK(spread_contexts(0, 1000, 0.8).empty());
}

TEST_CASE("two contexts are the quartiles of a log-normal distribution", "[hand]") {
  // cv 1: sigma = sqrt(ln 2) = 0.8326, quartiles at exp(-+0.6745 sigma) = 0.5703, 1.7535;
  // scaled to a mean of 1000: 490.8 and 1509.2.
  std::vector<double> v = spread_contexts(2, 1000, 1);
  std::sort(v.begin(), v.end());
  CHECK(v[0] == Approx(490.8).epsilon(1e-3));
  CHECK(v[1] == Approx(1509.2).epsilon(1e-3));
}

TEST_CASE("mean and spread are those asked for, and the order mixes", "[property]") {
  for (const double cv : {0.2, 0.5, 0.8}) {
    const std::vector<double> v = spread_contexts(512, 2000, cv);
    CHECK(mean_of(v) == Approx(2000));
    CHECK(cv_of(v) == Approx(cv).epsilon(0.06));  // the far tail lies beyond the last quantile
    CHECK_FALSE(std::is_sorted(v.begin(), v.end()));
    const std::vector<double> first(v.begin(), v.begin() + 64);
    CHECK(mean_of(first) == Approx(2000).epsilon(0.1));
  }
}
