// SPDX-License-Identifier: Apache-2.0
// Robust nonlinear least squares in the logarithm of positive constants: Levenberg-Marquardt with
// bounds and Gaussian priors. Small and dense: a dozen constants, a few thousand rows.
//
//   cost(x) = sum_i rho((log t_i(x) - log y_i) / noise) + sum_j ((x_j - prior_j) / sigma_j)^2
//   rho(r) = 2 s^2 (sqrt(1 + (r/s)^2) - 1)     quadratic for |r| << s, linear beyond (soft L1)
//
// x_j is the logarithm of constant j. Derivatives are forward differences with the library's choice
// (tile, splits) held at the pick of the current x: the minimum over candidates has the derivative
// of the candidate that is chosen. Deterministic: no random numbers, no threads.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace smtwin {

struct LeastSquaresProblem {
  // One entry a constant, all of x:
  std::vector<double> start;
  std::vector<double> prior;        // centre
  std::vector<double> prior_sigma;  // > 0
  std::vector<double> low, high;    // bounds
  // Residuals log t_i(x) - log y_i into `r`. With `search` the library's choices are made anew and
  // stored, else those of `choices` are used; one entry a row.
  std::function<void(std::span<const double> x, bool search, std::vector<int>& choices,
                     std::span<double> r)>
      residuals;
  int rows = 0;
};

struct LeastSquaresOptions {
  double noise = 0.1;       // spread of a row that the model explains, in log time
  double loss_scale = 0.8;  // s, in units of `noise`
  int max_iterations = 40;
  double tolerance = 1e-4;  // relative decrease of the cost that counts as progress
  double step = 1e-3;       // of the differences, in log
};

struct LeastSquaresResult {
  std::vector<double> x;
  // Of x, row by row, from the weighted normal equations and the priors.
  std::vector<double> covariance;
  std::vector<bool> at_bound;
  double cost = 0;
  int iterations = 0;
  bool converged = false;
};

LeastSquaresResult solve(const LeastSquaresProblem& problem,
                         const LeastSquaresOptions& options = {});

}  // namespace smtwin
