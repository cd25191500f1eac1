// SPDX-License-Identifier: Apache-2.0
#include "validate/fit/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

#include "model/timing/uncertainty.hpp"
#include "validate/fit/parallel.hpp"
#include "validate/fit/statistics.hpp"

namespace smtwin {
namespace {

// Families of one GPU see its DRAM through different access patterns; by how much their estimates
// of one constant may differ without disagreeing (log).
constexpr double kBetweenFamilies = 0.03;
// Fewest rows from which a regime gets a spread of its own.
constexpr std::size_t kRowsForSpread = 60;
// No spread is stated below this; with too few rows for one, the one that the fit assumes.
constexpr double kSmallestSpread = 0.003;
constexpr double kAssumedSpread = 0.1;
// Families that the errors of unmeasured kernels need.
constexpr std::size_t kFamiliesForUnmeasured = 5;
constexpr double kMostWidening = 1.3;

FamilyFitOptions fit_options(const CalibrateOptions& options,
                             const std::vector<FixedConstant>& fixed) {
  FamilyFitOptions o;
  o.max_points = options.max_points;
  o.seed = options.seed;
  o.fixed = fixed;
  o.noise = options.noise;
  return o;
}

struct Pooled {
  ConstantSpec spec;
  double weight = 0, weighted_log = 0;
  double value() const { return std::exp(weighted_log / weight); }
  double log_sd() const { return std::sqrt(1 / weight); }
  bool at_bound() const { return value() < 1.001 * spec.low || value() > spec.high / 1.001; }
};

std::map<std::string, Pooled> pool(const std::vector<const FamilyRows*>& families,
                                   const std::vector<FamilyFit>& fits) {
  std::map<std::string, Pooled> pooled;
  for (std::size_t f = 0; f < families.size(); ++f) {
    const std::vector<ConstantSpec>& specs = families[f]->problem->constants();
    for (std::size_t j = 0; j < specs.size(); ++j) {
      if (!specs[j].of_gpu) continue;
      Pooled& p = pooled[specs[j].name];
      if (p.weight == 0) {
        p.spec = specs[j];
        p.weight = 1 / (specs[j].log_sigma * specs[j].log_sigma);
        p.weighted_log = p.weight * std::log(specs[j].prior);
      }
      const double variance =
          fits[f].covariance[j * specs.size() + j] + kBetweenFamilies * kBetweenFamilies;
      p.weight += 1 / variance;
      p.weighted_log += std::log(fits[f].values[j]) / variance;
    }
  }
  return pooled;
}

// Spreads by regime and conformal scores, from errors of rows that the fit had not seen.
void set_intervals(FamilyCalibration& out, const FamilyRows& family, const FamilyFit& fit,
                   const CrossValidation& check) {
  const std::size_t n = check.log_error.size();
  std::vector<double> residual(n);  // log(measured / predicted)
  std::vector<Regime> regime(n);
  std::array<std::vector<double>, kRegimeCount> by_regime;
  for (std::size_t i = 0; i < n; ++i) {
    residual[i] = -check.log_error[i];
    regime[i] = family.problem->parts(i, fit.values).regime();
    by_regime[static_cast<std::size_t>(regime[i])].push_back(residual[i]);
  }
  const double overall = n > 1 ? robust_spread(residual) : fit.spread;
  for (std::size_t r = 0; r < kRegimeCount; ++r) {
    out.spread[r] = by_regime[r].size() >= kRowsForSpread ? robust_spread(by_regime[r]) : overall;
  }
  std::vector<double> score(n), variance(n);
  std::vector<double> predicted;
  for (std::size_t i = 0; i < n; ++i) {
    variance[i] =
        variance_from_constants(sensitivities(*family.problem, i, fit.values), fit.covariance);
    const double spread = out.spread[static_cast<std::size_t>(regime[i])];
    score[i] = residual[i] / std::sqrt(spread * spread + variance[i]);
  }
  if (n < kRowsForSpread) return;
  // Percentiles of the other parts, so that no row helps to make the interval it is held to.
  std::vector<TimeInterval> others(static_cast<std::size_t>(check.folds));
  for (int fold = 0; fold < check.folds; ++fold) {
    std::vector<double> scores;
    for (std::size_t i = 0; i < n; ++i) {
      if (check.fold[i] != fold) scores.push_back(score[i]);
    }
    others[static_cast<std::size_t>(fold)] = {quantile(scores, 0.05), quantile(scores, 0.95)};
  }
  const auto coverage = [&](double widening) {
    std::size_t inside = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const TimeInterval& of = others[static_cast<std::size_t>(check.fold[i])];
      inside += score[i] >= widening * of.low_s && score[i] <= widening * of.high_s;
    }
    return static_cast<double>(inside) / static_cast<double>(n);
  };
  out.unseen.interval_coverage = coverage(1);
  // Shapes differ more from each other than rows do: widen until shapes that made no percentile are
  // held to 90 %.
  double widening = 1;
  while (widening < kMostWidening && coverage(widening) < 0.9) widening += 0.01;
  out.low_score = std::min(widening * quantile(score, 0.05), 0.0);
  out.high_score = std::max(widening * quantile(score, 0.95), 0.0);
}

// What families turned out to be off by before any of their rows was fitted; as many points from
// each.
void set_unmeasured(CalibrationProfile& profile, const std::vector<const FamilyRows*>& families) {
  constexpr int kPointsPerFamily = 200;
  std::vector<double> residual;
  for (const FamilyRows* family : families) {
    const TimeProblem& problem = *family->problem;
    std::vector<double> priors;
    for (const ConstantSpec& s : problem.constants()) priors.push_back(s.prior);
    std::vector<std::size_t> all(family->measured.measured_s.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    for (const std::size_t i : draw_rows(family->measured, all, kPointsPerFamily, profile.seed)) {
      int choice = 0;
      residual.push_back(
          std::log(family->measured.measured_s[i] / problem.seconds(i, priors, choice, true)));
    }
  }
  if (families.size() < kFamiliesForUnmeasured) return;  // too few to speak for others
  profile.unmeasured.low = std::min(quantile(residual, 0.05), 0.0);
  profile.unmeasured.high = std::max(quantile(residual, 0.95), 0.0);
}

FamilyCalibration describe(const FamilyRows& family, const FamilyFit& fit,
                           const CrossValidation& check,
                           const std::map<std::string, Pooled>& pooled) {
  FamilyCalibration out;
  out.identity = family.identity;
  out.rows_used = fit.rows_used;
  out.converged = fit.converged;
  out.covariance = fit.covariance;
  const std::vector<ConstantSpec>& specs = family.problem->constants();
  for (std::size_t j = 0; j < specs.size(); ++j) {
    const ConstantSpec& s = specs[j];
    const bool shared = s.of_gpu;
    // Held in this fit, but known no better than the pool knows it.
    if (shared) {
      out.covariance[j * specs.size() + j] = std::pow(pooled.at(s.name).log_sd(), 2);
    }
    out.constants.push_back(
        {.name = s.name,
         .unit = s.unit,
         .meaning = s.meaning,
         .value = fit.values[j],
         .log_sd = shared ? pooled.at(s.name).log_sd()
                          : std::sqrt(std::max(fit.covariance[j * specs.size() + j], 0.0)),
         .prior = s.prior,
         .at_bound = shared ? pooled.at(s.name).at_bound() : fit.at_bound[j],
         .of_gpu = shared});
  }
  out.ranges = family.ranges;
  out.unseen.rows = static_cast<std::int64_t>(check.log_error.size());
  out.unseen.shapes = static_cast<std::int64_t>(family.shapes);
  out.unseen.folds = check.folds;
  if (!check.log_error.empty()) {
    const ErrorStatistics e = error_statistics(check.predicted_s, family.measured.measured_s);
    out.unseen.median_error = e.median_error;
    out.unseen.mean_error = e.mean_error;
    out.unseen.p90_error = e.p90_error;
    out.unseen.bias = e.bias;
    out.unseen.spearman = e.spearman;
  }
  set_intervals(out, family, fit, check);
  return out;
}

}  // namespace

CalibrationProfile calibrate(const std::vector<FamilyRows>& all, const std::string& source,
                             const CalibrateOptions& options) {
  std::vector<const FamilyRows*> families;
  for (const FamilyRows& f : all) {
    if (f.problem && f.measured.measured_s.size() >= options.fewest_rows) families.push_back(&f);
  }
  CalibrationProfile profile;
  profile.source = source;
  profile.seed = options.seed;
  profile.max_points = options.max_points;
  profile.fingerprint = fingerprint(all);
  if (families.empty()) return profile;
  profile.gpu = families.front()->gpu;
  for (const FamilyRows* f : families) {
    profile.rows += static_cast<std::int64_t>(f->measured.measured_s.size());
  }

  std::vector<FamilyFit> fits(families.size());
  parallel_for(families.size(), options.threads, [&](std::size_t i) {
    fits[i] = fit_family(families[i]->measured, {}, fit_options(options, {}));
  });
  const std::map<std::string, Pooled> pooled = pool(families, fits);
  std::vector<FixedConstant> fixed;
  for (const auto& [name, p] : pooled) {
    fixed.push_back({name, p.value()});
    profile.gpu_constants.push_back({.name = name,
                                     .unit = p.spec.unit,
                                     .meaning = p.spec.meaning,
                                     .value = p.value(),
                                     .log_sd = p.log_sd(),
                                     .prior = p.spec.prior,
                                     .at_bound = p.at_bound(),
                                     .of_gpu = true});
  }
  set_unmeasured(profile, families);
  profile.families.resize(families.size());
  parallel_for(families.size(), options.threads, [&](std::size_t i) {
    FamilyFitOptions o = fit_options(options, fixed);
    o.start = fits[i].values;
    fits[i] = fit_family(families[i]->measured, {}, o);
    const CrossValidation check = cross_validate(families[i]->measured, {}, o, options.folds);
    profile.families[i] = describe(*families[i], fits[i], check, pooled);
  });
  return profile;
}

std::vector<Ablation> ablate(const FamilyRows& family, const FamilyCalibration& calibration,
                             const CalibrateOptions& options) {
  const std::vector<ConstantSpec>& specs = family.problem->constants();
  std::vector<FixedConstant> shared;
  for (const FittedConstant& c : calibration.constants) {
    if (c.of_gpu) shared.push_back({c.name, c.value});
  }
  std::vector<std::size_t> removable{specs.size()};  // one past the end: nothing removed
  for (std::size_t j = 0; j < specs.size(); ++j) {
    if (specs[j].off) removable.push_back(j);
  }
  std::vector<Ablation> out(removable.size());
  parallel_for(removable.size(), options.threads, [&](std::size_t i) {
    FamilyFitOptions o = fit_options(options, shared);
    o.start = calibration.values();
    out[i].family = family.identity.key();
    if (removable[i] < specs.size()) {
      const ConstantSpec& s = specs[removable[i]];
      out[i].constant = s.name;
      std::erase_if(o.fixed, [&](const FixedConstant& f) { return f.name == s.name; });
      o.fixed.push_back({s.name, *s.off});
    }
    const FamilyFit fit = fit_family(family.measured, {}, o);
    const CrossValidation check = cross_validate(family.measured, {}, o, options.folds);
    if (check.log_error.empty()) return;
    const ErrorStatistics e = error_statistics(check.predicted_s, family.measured.measured_s);
    out[i].median_error = e.median_error;
    out[i].p90_error = e.p90_error;
  });
  return out;
}

std::string fingerprint(const std::vector<FamilyRows>& families) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  const auto add = [&](const void* data, std::size_t bytes) {
    const auto* p = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 0x100000001b3ull;
  };
  for (const FamilyRows& family : families) {
    const std::string key = family.identity.key();
    add(key.data(), key.size());
    for (std::size_t i = 0; i < family.measured.measured_s.size(); ++i) {
      add(&family.measured.shape[i], sizeof family.measured.shape[i]);
      add(&family.measured.measured_s[i], sizeof family.measured.measured_s[i]);
    }
  }
  char text[32];
  std::snprintf(text, sizeof text, "fnv1a64:%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace smtwin
