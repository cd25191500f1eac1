// SPDX-License-Identifier: Apache-2.0
#include "validate/fit/least_squares.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <utility>

namespace smtwin {
namespace {

Eigen::VectorXd vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

class Solver {
 public:
  Solver(const LeastSquaresProblem& p, const LeastSquaresOptions& o)
      : p_(p),
        o_(o),
        prior_(vector_of(p.prior)),
        sigma_(vector_of(p.prior_sigma)),
        low_(vector_of(p.low)),
        high_(vector_of(p.high)) {}

  LeastSquaresResult run() {
    LeastSquaresResult result;
    x_ = vector_of(p_.start).cwiseMax(low_).cwiseMin(high_);
    r_.resize(p_.rows);
    choices_.assign(static_cast<std::size_t>(p_.rows), 0);
    residuals(x_, true, choices_, r_);
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
    const Eigen::MatrixXd covariance = normal_.ldlt().solve(Eigen::MatrixXd::Identity(n, n));
    result.covariance.assign(covariance.data(), covariance.data() + n * n);  // symmetric
    result.at_bound.resize(static_cast<std::size_t>(n));
    for (Eigen::Index j = 0; j < n; ++j)
      result.at_bound[static_cast<std::size_t>(j)] = near_bound(j);
    result.x.assign(x_.begin(), x_.end());
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
    return sum + ((x - prior_).array() / sigma_.array()).square().sum();
  }

  // Within a thousandth of the log range: a value that the rows did not decide.
  bool near_bound(Eigen::Index j) const {
    const double edge = 1e-3 * (high_[j] - low_[j]);
    return high_[j] > low_[j] && (x_[j] - low_[j] < edge || high_[j] - x_[j] < edge);
  }

  // Normal equations at x_, rows weighted as the loss weighs them there.
  void linearize() {
    const Eigen::Index n = x_.size();
    Eigen::MatrixXd jacobian(r_.size(), n);
    // At the pick of x_ itself, so that differences see no change of choice.
    Eigen::VectorXd base(r_.size()), bumped(r_.size());
    residuals(x_, false, choices_, base);
    for (Eigen::Index j = 0; j < n; ++j) {
      Eigen::VectorXd y = x_;
      const double step = x_[j] + o_.step > high_[j] ? -o_.step : o_.step;
      y[j] += step;
      residuals(y, false, choices_, bumped);
      jacobian.col(j) = (bumped - base) / step;
    }
    const double s = o_.loss_scale * o_.noise;
    const Eigen::ArrayXd weight = (1 + (r_.array() / s).square()).rsqrt() / (o_.noise * o_.noise);
    const Eigen::ArrayXd inverse_variance = sigma_.array().square().inverse();
    normal_ = jacobian.transpose() * weight.matrix().asDiagonal() * jacobian;
    normal_.diagonal() += inverse_variance.matrix();
    gradient_ = jacobian.transpose() * (weight * r_.array()).matrix() +
                (inverse_variance * (x_ - prior_).array()).matrix();
  }

  bool try_step(double damping) {
    // A constant at its bound that wants to leave through it takes no part in the step.
    Eigen::MatrixXd a = normal_;
    Eigen::VectorXd g = gradient_;
    for (Eigen::Index j = 0; j < x_.size(); ++j) {
      const bool stuck = (x_[j] <= low_[j] && g[j] > 0) || (x_[j] >= high_[j] && g[j] < 0);
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
    const Eigen::VectorXd y = (x_ + step).cwiseMax(low_).cwiseMin(high_);
    Eigen::VectorXd r(r_.size());
    std::vector<int> choices = choices_;
    residuals(y, true, choices, r);
    const double c = cost(y, r);
    if (!(c < cost_)) return false;
    choices_ = std::move(choices);
    x_ = y;
    r_ = r;
    cost_ = c;
    return true;
  }

  void residuals(const Eigen::VectorXd& x, bool search, std::vector<int>& choices,
                 Eigen::VectorXd& r) const {
    p_.residuals({x.data(), static_cast<std::size_t>(x.size())}, search, choices,
                 {r.data(), static_cast<std::size_t>(r.size())});
  }

  const LeastSquaresProblem& p_;
  const LeastSquaresOptions& o_;
  const Eigen::VectorXd prior_, sigma_, low_, high_;
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
