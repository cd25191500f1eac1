// SPDX-License-Identifier: Apache-2.0
// Fitting a family: known constants come back, shapes stay together, draws are the same everywhere.
#include "validate/fit/family_fit.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "model/timing/uncertainty.hpp"
#include "tests/catch.hpp"
#include "tests/validate/toy_family.hpp"

using namespace smtwin;
using smtwin::test::ToyProblem;
using smtwin::test::ToyRows;

TEST_CASE("constants that made the rows are found again", "[property]") {
  ToyRows rows(40, 5, 0.02);
  const ToyProblem problem(rows.bytes);
  rows.family.problem = &problem;
  const FamilyFit fit = fit_family(rows.family, {}, {});
  CHECK(fit.values[0] == Approx(3e-6).epsilon(0.01));
  CHECK(fit.values[1] == Approx(1.5e12).epsilon(0.01));
  CHECK(fit.rows_used == 200);
  // Errors of -2, -1, 0, 1, 2 %: half the distance of the 16th and 84th percentile is 1.6 %.
  CHECK(fit.spread == Approx(0.016).epsilon(0.3));
}

TEST_CASE("a held constant stays and has no uncertainty", "[property]") {
  ToyRows rows(20, 2, 0.0);
  const ToyProblem problem(rows.bytes);
  rows.family.problem = &problem;
  FamilyFitOptions options;
  options.fixed = {{"dram_rate", 1e12}};
  const FamilyFit fit = fit_family(rows.family, {}, options);
  CHECK(fit.values[1] == 1e12);
  CHECK(fit.covariance[3] == 0.0);
  CHECK(fit.covariance[0] > 0.0);
}

TEST_CASE("a draw is the same every time, takes every shape in turn, and changes with the seed",
          "[property]") {
  ToyRows rows(10, 30, 0.0);
  std::vector<std::size_t> all(300);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const std::vector<std::size_t> drawn = draw_rows(rows.family, all, 20, 7);
  CHECK(drawn == draw_rows(rows.family, all, 20, 7));
  CHECK(drawn != draw_rows(rows.family, all, 20, 8));
  CHECK(std::set<std::size_t>(drawn.begin(), drawn.end()).size() == 20);
  std::vector<int> of_shape(10, 0);
  for (const std::size_t i : drawn) ++of_shape[rows.family.shape[i]];
  CHECK(of_shape == std::vector<int>(10, 2));  // 20 rows over 10 shapes
  std::reverse(all.begin(), all.end());
  CHECK(drawn == draw_rows(rows.family, all, 20, 7));  // whatever order they came in
  CHECK(draw_rows(rows.family, all, 1000, 7).size() == 300);
}

TEST_CASE("cross-validation predicts a shape from the others alone", "[property]") {
  // Shape 7 is slower by a factor of 3 in all its rows. A fit that sees it would bend towards it;
  // one that does not is off by exactly the factor.
  ToyRows rows(20, 3, 0.0);
  for (std::size_t i = 0; i < rows.bytes.size(); ++i) {
    if (rows.family.shape[i] == 7) rows.family.measured_s[i] *= 3;
  }
  const ToyProblem problem(rows.bytes);
  rows.family.problem = &problem;
  const CrossValidation check = cross_validate(rows.family, {}, {}, 4);
  REQUIRE(check.log_error.size() == 60);
  CHECK(check.folds == 4);
  for (std::size_t i = 0; i < 60; ++i) {
    const double wanted = rows.family.shape[i] == 7 ? -std::log(3.0) : 0.0;
    INFO("row " << i);
    CHECK(check.log_error[i] == Approx(wanted).margin(0.02));
  }
}

TEST_CASE("one shape cannot be cross-validated", "[property]") {
  ToyRows rows(1, 10, 0.01);
  const ToyProblem problem(rows.bytes);
  rows.family.problem = &problem;
  CHECK(cross_validate(rows.family, {}, {}, 4).log_error.empty());
}

TEST_CASE("sensitivities are the shares of the time that each constant makes", "[hand]") {
  // 3 us gap + 3 us of bytes: half the time follows the gap, half goes against the rate.
  const ToyProblem problem({4.5e6});
  const std::vector<double> g = sensitivities(problem, 0, std::vector<double>{3e-6, 1.5e12});
  CHECK(g[0] == Approx(0.5).epsilon(1e-3));
  CHECK(g[1] == Approx(-0.5).epsilon(2e-3));
  // 0.25 x 0.01 + 0.25 x 0.04, no correlation
  CHECK(variance_from_constants(std::vector<double>{0.5, -0.5},
                                std::vector<double>{0.01, 0, 0, 0.04}) == Approx(0.0125));
}
