// SPDX-License-Identifier: Apache-2.0
// The solver against problems with a closed solution.
#include "validate/fit/least_squares.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace smtwin;

namespace {

using Matrix = std::vector<std::vector<double>>;

// t_i = exp(sum_j a_ij x_j), y_i given: linear in the logarithm, so that the least-squares answer
// is a linear system.
LeastSquaresProblem linear_problem(const Matrix& a, const std::vector<double>& log_y) {
  const std::size_t n = a[0].size();
  LeastSquaresProblem p;
  p.start.assign(n, 0);
  p.prior.assign(n, 0);
  p.prior_sigma.assign(n, 1e6);
  p.low.assign(n, -50);
  p.high.assign(n, 50);
  p.rows = static_cast<int>(a.size());
  p.residuals = [a, log_y](std::span<const double> x, bool, std::vector<int>&,
                           std::span<double> r) {
    for (std::size_t i = 0; i < r.size(); ++i) {
      r[i] = -log_y[i];
      for (std::size_t j = 0; j < x.size(); ++j) r[i] += a[i][j] * x[j];
    }
  };
  return p;
}

Matrix ones(std::size_t rows, std::size_t columns = 1) {
  return Matrix(rows, std::vector<double>(columns, 1));
}

LeastSquaresOptions quadratic() {
  LeastSquaresOptions o;
  o.loss_scale = 1e6;  // rho is the square there
  o.tolerance = 1e-12;
  return o;
}

}  // namespace

TEST_CASE("one constant without a prior is the mean of the logarithms", "[hand]") {
  const LeastSquaresResult r = solve(linear_problem(ones(4), {1, 2, 3, 6}), quadratic());
  CHECK(r.x[0] == Approx(3.0));  // (1 + 2 + 3 + 6) / 4
  // noise^2 / rows = 0.01 / 4
  CHECK(r.covariance[0] == Approx(0.0025).epsilon(1e-4));
  CHECK(r.converged);
  CHECK_FALSE(r.at_bound[0]);
}

TEST_CASE("a prior weighs as its certainty", "[hand]") {
  LeastSquaresProblem p = linear_problem(ones(1), {2});
  p.prior_sigma[0] = 0.1;  // as certain as the one row
  CHECK(solve(p, quadratic()).x[0] == Approx(1.0));
  p.prior_sigma[0] = 0.2;  // weights 1/0.01 and 1/0.04: 2 x 100 / 125
  CHECK(solve(p, quadratic()).x[0] == Approx(1.6));
}

TEST_CASE("two constants solve the normal equations", "[hand]") {
  // Line 1 + 2 t through t = 0, 1, 2, exact.
  const LeastSquaresResult r =
      solve(linear_problem({{1, 0}, {1, 1}, {1, 2}}, {1, 3, 5}), quadratic());
  CHECK(r.x[0] == Approx(1.0).margin(1e-6));
  CHECK(r.x[1] == Approx(2.0).margin(1e-6));
}

TEST_CASE("an outlier pulls less than the rows that agree", "[property]") {
  std::vector<double> y(11, 0);
  y[10] = 3;  // e^3 = 20 times slower
  const LeastSquaresProblem p = linear_problem(ones(11), y);
  const double robust = solve(p).x[0];
  CHECK(robust < 0.02);
  CHECK(solve(p, quadratic()).x[0] == Approx(3.0 / 11));
}

TEST_CASE("a constant that wants to leave its bounds stops there and says so", "[hand]") {
  // Unbounded: x0 = 4, x1 = -1.
  LeastSquaresProblem p = linear_problem({{1, 0}, {1, 1}}, {4, 3});
  p.low[1] = 0;
  const LeastSquaresResult r = solve(p, quadratic());
  CHECK(r.x[1] == 0.0);
  CHECK(r.at_bound[1]);
  CHECK_FALSE(r.at_bound[0]);
  CHECK(r.x[0] == Approx(3.5));  // the best for both rows with x1 = 0
}

TEST_CASE("the derivative of a minimum is that of the candidate chosen", "[hand]") {
  // t = min(e^x0, e^x1) with prior x0 = 1, x1 = 5, one row y = 2: x0 moves to 2, x1 stays.
  LeastSquaresProblem p = linear_problem(ones(1, 2), {0});
  p.start = {1, 5};
  p.prior = {1, 5};
  p.residuals = [](std::span<const double> x, bool search, std::vector<int>& choices,
                   std::span<double> r) {
    if (search) choices[0] = x[0] <= x[1] ? 0 : 1;
    r[0] = x[static_cast<std::size_t>(choices[0])] - 2;
  };
  const LeastSquaresResult r = solve(p, quadratic());
  CHECK(r.x[0] == Approx(2.0).margin(1e-6));
  CHECK(r.x[1] == Approx(5.0).margin(1e-9));
}
