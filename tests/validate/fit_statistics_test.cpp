// SPDX-License-Identifier: Apache-2.0
#include "validate/fit/statistics.hpp"

#include <atomic>
#include <cmath>
#include <stdexcept>

#include "tests/catch.hpp"
#include "validate/fit/parallel.hpp"

using namespace smtwin;

TEST_CASE("quantiles lie between their neighbours", "[hand]") {
  CHECK(quantile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(quantile({4, 1, 3, 2}, 0.0) == 1);
  CHECK(quantile({4, 1, 3, 2}, 1.0) == 4);
  CHECK(quantile({0, 10}, 0.9) == Approx(9.0));
  CHECK(quantile({7}, 0.3) == 7);
  CHECK(std::isnan(quantile({}, 0.5)));
}

TEST_CASE("rank correlation looks at order alone and shares ranks of ties", "[hand]") {
  const std::vector<double> x{1, 2, 3, 4}, up{1, 10, 100, 1000}, down{4, 3, 2, 1};
  CHECK(spearman(x, up) == Approx(1));
  CHECK(spearman(x, down) == Approx(-1));
  // ranks 0 1 2 3 against 0.5 0.5 2 3: 4.5 / sqrt(5 x 4.5)
  CHECK(spearman(x, std::vector<double>{1, 1, 5, 9}) == Approx(4.5 / std::sqrt(22.5)));
  CHECK(std::isnan(spearman(x, std::vector<double>{1, 1, 1, 1})));
}

TEST_CASE("errors are relative to what was measured", "[hand]") {
  // 1.1/1, 1.6/2, 4/4: +10 %, -20 %, 0
  const ErrorStatistics e =
      error_statistics(std::vector<double>{1.1, 1.6, 4}, std::vector<double>{1, 2, 4});
  CHECK(e.rows == 3);
  CHECK(e.median_error == Approx(0.1));
  CHECK(e.mean_error == Approx(0.1));
  CHECK(e.p90_error == Approx(0.18));  // between 10 % and 20 %, at 1.8 of 0..2
  CHECK(e.bias == Approx(-0.1 / 3));
  CHECK(error_statistics({}, {}).rows == 0);
}

TEST_CASE("an outlier does not move the robust spread", "[property]") {
  std::vector<double> values;
  for (int i = -50; i <= 50; ++i) values.push_back(i);
  const double before = robust_spread(values);
  values.push_back(1e9);
  CHECK(robust_spread(values) == Approx(before).epsilon(0.05));
  CHECK(robust_spread({3.0}) == 0);
}

TEST_CASE("pieces of work run once each, on any number of threads", "[property]") {
  for (const int threads : {1, 2, 7}) {
    std::vector<int> done(100, 0);
    parallel_for(done.size(), threads, [&](std::size_t i) { done[i] += static_cast<int>(i) + 1; });
    for (std::size_t i = 0; i < done.size(); ++i) CHECK(done[i] == static_cast<int>(i) + 1);
  }
  std::atomic<int> ran{0};
  CHECK_THROWS_AS(parallel_for(20, 3,
                               [&](std::size_t i) {
                                 ++ran;
                                 if (i == 5) throw std::runtime_error("piece 5");
                               }),
                  std::runtime_error);
  CHECK(ran == 20);  // the others still ran
  parallel_for(0, 4, [](std::size_t) { FAIL("nothing to do"); });
}
