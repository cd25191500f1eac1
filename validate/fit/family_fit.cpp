// SPDX-License-Identifier: Apache-2.0
#include "validate/fit/family_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/timing/uncertainty.hpp"
#include "validate/fit/least_squares.hpp"
#include "validate/fit/statistics.hpp"

namespace smtwin {
namespace {

// SplitMix64: the same order on every machine, which the standard library's distributions are not.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::vector<std::size_t> all_rows(const MeasuredFamily& family) {
  std::vector<std::size_t> rows(family.measured_s.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

// Positions of the constants that are fitted, and the raw values with fixed ones filled in.
struct Unknowns {
  std::vector<std::size_t> free;
  std::vector<double> values;
};

Unknowns unknowns_of(const std::vector<ConstantSpec>& specs, const FamilyFitOptions& options) {
  Unknowns u;
  for (std::size_t j = 0; j < specs.size(); ++j) {
    u.values.push_back(options.start.empty() ? specs[j].prior : options.start[j]);
    const auto fixed =
        std::find_if(options.fixed.begin(), options.fixed.end(),
                     [&](const FixedConstant& f) { return f.name == specs[j].name; });
    if (fixed == options.fixed.end()) {
      u.free.push_back(j);
    } else {
      u.values[j] = fixed->value;
    }
  }
  return u;
}

}  // namespace

std::vector<std::size_t> draw_rows(const MeasuredFamily& family, std::span<const std::size_t> rows,
                                   int limit, std::uint64_t seed) {
  std::vector<std::size_t> drawn(rows.begin(), rows.end());
  if (limit <= 0 || drawn.size() <= static_cast<std::size_t>(limit)) return drawn;
  const auto order = [&](std::size_t i) { return mix(mix(seed) ^ i); };
  std::sort(drawn.begin(), drawn.end(), [&](std::size_t a, std::size_t b) {
    const std::uint64_t x = order(a), y = order(b);
    return x != y ? x < y : a < b;
  });
  // Rank of each row within its shape: all first rows come before all second ones.
  std::vector<std::uint32_t> seen(family.shape_count, 0);
  std::vector<std::pair<std::uint32_t, std::size_t>> ranked;
  for (const std::size_t i : drawn) ranked.emplace_back(seen[family.shape[i]]++, i);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  drawn.clear();
  for (int i = 0; i < limit; ++i) drawn.push_back(ranked[static_cast<std::size_t>(i)].second);
  return drawn;
}

FamilyFit fit_family(const MeasuredFamily& family, std::span<const std::size_t> rows,
                     const FamilyFitOptions& options) {
  const std::vector<ConstantSpec>& specs = family.problem->constants();
  const std::vector<std::size_t> every =
      rows.empty() ? all_rows(family) : std::vector<std::size_t>();
  const std::vector<std::size_t> used =
      draw_rows(family, rows.empty() ? std::span<const std::size_t>(every) : rows,
                options.max_points > 0 ? options.max_points : kDefaultFitRows, options.seed);
  const Unknowns unknown = unknowns_of(specs, options);
  const std::size_t n = unknown.free.size();

  LeastSquaresProblem problem;
  for (const std::size_t j : unknown.free) {
    const ConstantSpec& s = specs[j];
    problem.start.push_back(std::log(unknown.values[j]));
    problem.prior.push_back(std::log(s.prior));
    problem.prior_sigma.push_back(s.log_sigma);
    problem.low.push_back(std::log(s.low));
    problem.high.push_back(std::log(s.high));
  }
  problem.rows = static_cast<int>(used.size());
  std::vector<double> log_measured;
  for (const std::size_t i : used) log_measured.push_back(std::log(family.measured_s[i]));
  std::vector<double> values = unknown.values;
  problem.residuals = [&](std::span<const double> x, bool search, std::vector<int>& choices,
                          std::span<double> r) {
    for (std::size_t j = 0; j < n; ++j) values[unknown.free[j]] = std::exp(x[j]);
    for (std::size_t i = 0; i < used.size(); ++i) {
      r[i] =
          std::log(family.problem->seconds(used[i], values, choices[i], search)) - log_measured[i];
    }
  };
  LeastSquaresOptions solver;
  solver.max_iterations = options.max_iterations;
  solver.noise = options.noise;
  const LeastSquaresResult solved = solve(problem, solver);

  FamilyFit fit;
  fit.values = unknown.values;
  fit.rows_used = problem.rows;
  fit.converged = solved.converged;
  const std::size_t count = specs.size();
  fit.covariance.assign(count * count, 0.0);
  fit.at_bound.assign(count, false);
  for (std::size_t a = 0; a < n; ++a) {
    const std::size_t j = unknown.free[a];
    fit.values[j] = std::exp(solved.x[a]);
    fit.at_bound[j] = solved.at_bound[a];
    for (std::size_t b = 0; b < n; ++b) {
      fit.covariance[j * count + unknown.free[b]] = solved.covariance[a * n + b];
    }
  }
  std::vector<double> r(used.size());
  std::vector<int> choices(used.size(), 0);
  problem.residuals(solved.x, true, choices, r);
  fit.spread = robust_spread(std::move(r));
  return fit;
}

CrossValidation cross_validate(const MeasuredFamily& family, std::span<const std::size_t> rows,
                               const FamilyFitOptions& options, int folds) {
  CrossValidation result;
  std::vector<std::size_t> every;
  if (rows.empty()) {
    every = all_rows(family);
    rows = every;
  }
  std::vector<std::uint32_t> shapes;
  for (const std::size_t i : rows) shapes.push_back(family.shape[i]);
  std::sort(shapes.begin(), shapes.end());
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  if (shapes.size() < 2) return result;
  folds = std::min(folds, static_cast<int>(shapes.size()));
  // Shapes in hashed order, dealt in turn: every fold gets as many.
  std::sort(shapes.begin(), shapes.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint64_t x = mix(mix(options.seed + 1) ^ a), y = mix(mix(options.seed + 1) ^ b);
    return x != y ? x < y : a < b;
  });
  std::vector<int> fold_of(family.shape_count, 0);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    fold_of[shapes[i]] = static_cast<int>(i) % folds;
  }

  // From the priors: what a fit to all shapes found must not help.
  FamilyFitOptions from_priors = options;
  from_priors.start.clear();
  result.folds = folds;
  result.log_error.resize(rows.size());
  result.predicted_s.resize(rows.size());
  for (const std::size_t i : rows) result.fold.push_back(fold_of[family.shape[i]]);
  for (int fold = 0; fold < folds; ++fold) {
    std::vector<std::size_t> train;
    for (const std::size_t i : rows) {
      if (fold_of[family.shape[i]] != fold) train.push_back(i);
    }
    const FamilyFit fit = fit_family(family, train, from_priors);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (fold_of[family.shape[rows[r]]] != fold) continue;
      int choice = 0;
      const double t = family.problem->seconds(rows[r], fit.values, choice, true);
      result.predicted_s[r] = t;
      result.log_error[r] = std::log(t / family.measured_s[rows[r]]);
    }
  }
  return result;
}

std::vector<double> sensitivities(const TimeProblem& problem, std::size_t i,
                                  std::span<const double> values) {
  int choice = 0;
  problem.seconds(i, values, choice, true);
  return log_sensitivities(
      [&](std::span<const double> v) { return problem.seconds(i, v, choice, false); }, values);
}

}  // namespace smtwin
