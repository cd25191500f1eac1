// SPDX-License-Identifier: Apache-2.0
#include "validate/fit/least_squares.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <utility>

namespace smtwin {
namespace {

class Solver {
 public:
  Solver(const LeastSquaresProblem& p, const LeastSquaresOptions& o) : p_(p), o_(o) {}

  LeastSquaresResult run() {
    LeastSquaresResult result;
    x_ = p_.start.cwiseMax(p_.low).cwiseMin(p_.high);
    r_.resize(p_.rows);
    choices_.assign(static_cast<std::size_t>(p_.rows), 0);
    p_.residuals(x_, true, choices_, r_);
    cost_ = cost(x_, r_);
    double damping = 1e-2;
    int stalled = 0;
    for (; result.iterations < o_.max_iterations && stalled < 2; ++result.iterations) {
      linearize();
      const double before = cost_;
      bool moved = false;
      for (int attempt = 0; attempt < 8 && !moved; ++attempt) {
        moved = try_step(damping);
        damping = moved ? std::max(damping / 5, 1e-9) : damping * 4;
      }
      if (!moved) break;
      stalled = before - cost_ < o_.tolerance * before ? stalled + 1 : 0;
    }
    result.converged = result.iterations < o_.max_iterations;
    linearize();
    const Eigen::Index n = x_.size();
    result.covariance = normal_.ldlt().solve(Eigen::MatrixXd::Identity(n, n));
    result.at_bound.resize(static_cast<std::size_t>(n));
    for (Eigen::Index j = 0; j < n; ++j)
      result.at_bound[static_cast<std::size_t>(j)] = near_bound(j);
    result.x = x_;
    result.cost = cost_;
    return result;
  }

 private:
  double cost(const Eigen::VectorXd& x, const Eigen::VectorXd& r) const {
    const double s = o_.loss_scale;
    double sum = 0;
    for (Eigen::Index i = 0; i < r.size(); ++i) {
      const double z = r[i] / (o_.noise * s);
      sum += 2 * s * s * (std::sqrt(1 + z * z) - 1);
    }
    return sum + ((x - p_.prior).array() / p_.prior_sigma.array()).square().sum();
  }

  // Within a thousandth of the log range: a value that the rows did not decide.
  bool near_bound(Eigen::Index j) const {
    const double edge = 1e-3 * (p_.high[j] - p_.low[j]);
    return p_.high[j] > p_.low[j] && (x_[j] - p_.low[j] < edge || p_.high[j] - x_[j] < edge);
  }

  // Normal equations at x_, rows weighted as the loss weighs them there.
  void linearize() {
    const Eigen::Index n = x_.size();
    Eigen::MatrixXd jacobian(r_.size(), n);
    // At the pick of x_ itself, so that differences see no change of choice.
    Eigen::VectorXd base(r_.size()), bumped(r_.size());
    p_.residuals(x_, false, choices_, base);
    for (Eigen::Index j = 0; j < n; ++j) {
      Eigen::VectorXd y = x_;
      const double step = x_[j] + o_.step > p_.high[j] ? -o_.step : o_.step;
      y[j] += step;
      p_.residuals(y, false, choices_, bumped);
      jacobian.col(j) = (bumped - base) / step;
    }
    const double s = o_.loss_scale * o_.noise;
    const Eigen::ArrayXd weight = (1 + (r_.array() / s).square()).rsqrt() / (o_.noise * o_.noise);
    const Eigen::ArrayXd inverse_variance = p_.prior_sigma.array().square().inverse();
    normal_ = jacobian.transpose() * weight.matrix().asDiagonal() * jacobian;
    normal_.diagonal() += inverse_variance.matrix();
    gradient_ = jacobian.transpose() * (weight * r_.array()).matrix() +
                (inverse_variance * (x_ - p_.prior).array()).matrix();
  }

  bool try_step(double damping) {
    // A constant at its bound that wants to leave through it takes no part in the step.
    Eigen::MatrixXd a = normal_;
    Eigen::VectorXd g = gradient_;
    for (Eigen::Index j = 0; j < x_.size(); ++j) {
      const bool stuck = (x_[j] <= p_.low[j] && g[j] > 0) || (x_[j] >= p_.high[j] && g[j] < 0);
      if (stuck) {
        a.row(j).setZero();
        a.col(j).setZero();
        a(j, j) = 1;
        g[j] = 0;
      } else {
        a(j, j) *= 1 + damping;
      }
    }
    // A step of more than a factor of 2.7 in a constant leaves the region the derivatives know.
    const Eigen::VectorXd step = a.ldlt().solve(-g).cwiseMax(-1.0).cwiseMin(1.0);
    if (!step.allFinite()) return false;
    const Eigen::VectorXd y = (x_ + step).cwiseMax(p_.low).cwiseMin(p_.high);
    Eigen::VectorXd r(r_.size());
    std::vector<int> choices = choices_;
    p_.residuals(y, true, choices, r);
    const double c = cost(y, r);
    if (!(c < cost_)) return false;
    choices_ = std::move(choices);
    x_ = y;
    r_ = r;
    cost_ = c;
    return true;
  }

  const LeastSquaresProblem& p_;
  const LeastSquaresOptions& o_;
  Eigen::VectorXd x_, r_, gradient_;
  Eigen::MatrixXd normal_;
  std::vector<int> choices_;
  double cost_ = 0;
};

}  // namespace

LeastSquaresResult solve(const LeastSquaresProblem& problem, const LeastSquaresOptions& options) {
  return Solver(problem, options).run();
}

}  // namespace smtwin
