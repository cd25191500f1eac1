// SPDX-License-Identifier: Apache-2.0
#include "validate/fit/score.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "arch/gpu_catalog.hpp"
#include "model/timing/transfer.hpp"
#include "model/timing/uncertainty.hpp"
#include "validate/fit/parallel.hpp"

namespace smtwin {
namespace {

// A constant whose change moves a time by less than this share of its own change has no part in it.
constexpr double kNoPart = 1e-6;

void score_family(const FamilyRows& family, const FamilyConstants& constants, std::size_t index,
                  ScoredRow* out) {
  const TimeProblem& problem = *family.problem;
  for (std::size_t i = 0; i < family.rows.size(); ++i) {
    ScoredRow& s = out[i];
    s.row = family.rows[i];
    s.family = index;
    s.point = i;
    const TimeParts parts = problem.parts(i, constants.values);
    s.regime = parts.regime();
    s.predicted_s = parts.seconds;
    s.interval = {s.predicted_s, s.predicted_s};
    if (constants.unmeasured) s.interval = constants.unmeasured->around(s.predicted_s);
    const std::vector<double> g = sensitivities(problem, i, constants.values);
    for (std::size_t j = 0; j < g.size() && j < s.constants.size(); ++j) {
      s.constants[j] = std::fabs(g[j]) > kNoPart;
    }
    if (constants.calibration) {
      const double variance = variance_from_constants(g, constants.calibration->covariance);
      s.interval = interval_of(s.predicted_s, s.regime, *constants.calibration, variance,
                               constants.transfer_sd);
    }
  }
}

struct Group {
  std::vector<double> predicted, measured;
  std::size_t inside = 0;
  ConstantSet used;
  GroupScore score;

  void add(const ScoredRow& r, const FamilyConstants& constants) {
    const bool interval = constants.calibration != nullptr || constants.unmeasured.has_value();
    score.provenance =
        predicted.empty() ? constants.provenance : weaker(score.provenance, constants.provenance);
    score.with_interval = (predicted.empty() || score.with_interval) && interval;
    predicted.push_back(r.predicted_s);
    measured.push_back(r.row->latency_s);
    inside += r.row->latency_s >= r.interval.low_s && r.row->latency_s <= r.interval.high_s;
  }
  GroupScore finish(const std::string& name) {
    score.name = name;
    score.constants = used.count();
    score.errors = error_statistics(predicted, measured);
    score.interval_coverage =
        predicted.empty() ? 0 : static_cast<double>(inside) / static_cast<double>(predicted.size());
    return score;
  }
};

}  // namespace

double ScoredRow::error() const { return std::fabs(predicted_s / row->latency_s - 1); }

FamilyConstants constants_of(const FamilyRows& family, const CalibrationProfile* profile) {
  FamilyConstants out;
  const std::vector<ConstantSpec>& specs = family.problem->constants();
  out.calibration = profile ? profile->find(family.identity) : nullptr;
  if (out.calibration == nullptr) {
    if (profile) out.unmeasured = profile->unmeasured;
    for (const ConstantSpec& spec : specs) out.values.push_back(spec.prior);
    return out;
  }
  if (profile->gpu == family.gpu) {
    out.values =
        transferred_values(*out.calibration, specs, family.timing_gpu, specs, family.timing_gpu);
    out.provenance = Provenance::fitted;
    return out;
  }
  const TimingGpu fitted_on = timing_gpu_of_rows(find_gpu(profile->gpu));
  const std::unique_ptr<TimeProblem> there = problem_on(family, fitted_on);
  out.values =
      transferred_values(*out.calibration, there->constants(), fitted_on, specs, family.timing_gpu);
  out.transfer_sd = kTransferSd;
  out.provenance = Provenance::transferred;
  return out;
}

MeasurementScore score_measurements(
    const std::vector<FamilyRows>& families,
    const std::function<const CalibrationProfile*(const std::string&)>& profile_of, int threads) {
  MeasurementScore score;
  std::vector<std::size_t> first(families.size());
  std::vector<FamilyConstants> constants(families.size());
  std::size_t total = 0;
  for (std::size_t f = 0; f < families.size(); ++f) {
    const FamilyRows& family = families[f];
    first[f] = total;
    if (family.problem) {
      constants[f] = constants_of(family, profile_of(family.gpu));
      total += family.rows.size();
    } else {
      score.not_modelled.push_back(
          {family.gpu + "/" + family.identity.key(), family.rows.size(), family.why});
    }
  }
  score.rows.resize(total);
  parallel_for(families.size(), threads, [&](std::size_t f) {
    if (families[f].problem) {
      score_family(families[f], constants[f], f, score.rows.data() + first[f]);
    }
  });

  std::map<std::string, Group> by_family;
  std::array<Group, kRegimeCount> by_regime;
  for (const ScoredRow& row : score.rows) {
    const FamilyRows& family = families[row.family];
    Group& group = by_family[scored_family(family.gpu, *row.row)];
    Group& regime = by_regime[static_cast<std::size_t>(row.regime)];
    for (Group* g : {&group, &regime}) g->add(row, constants[row.family]);
    group.used |= row.constants;
  }
  for (auto& [name, group] : by_family) score.families.push_back(group.finish(name));
  for (std::size_t r = 0; r < kRegimeCount; ++r) {
    if (by_regime[r].predicted.empty()) continue;
    score.regimes.push_back(by_regime[r].finish(std::string(to_string(static_cast<Regime>(r)))));
  }
  return score;
}

std::vector<std::size_t> worst_rows(const MeasurementScore& score, std::size_t count) {
  std::vector<std::size_t> order(score.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      const double x = score.rows[a].error(), y = score.rows[b].error();
                      return x != y ? x > y : a < b;
                    });
  order.resize(count);
  return order;
}

}  // namespace smtwin
