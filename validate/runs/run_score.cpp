// SPDX-License-Identifier: Apache-2.0
// How well families of a run predict it: score_run and score_held_out of run_calibration.hpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "arch/error.hpp"
#include "model/timing/uncertainty.hpp"
#include "validate/fit/score.hpp"
#include "validate/runs/run_calibration.hpp"
#include "validate/runs/run_readings.hpp"

namespace smtwin {
namespace {

// A share of a small run is fitted all the same: priors hold what its rows do not show.
constexpr std::size_t kRowsForHoldOut = 8;

// Some points of another problem.
class PartProblem final : public TimeProblem {
 public:
  PartProblem(const TimeProblem& whole, std::vector<std::size_t> points)
      : whole_(whole), points_(std::move(points)) {}
  const std::vector<ConstantSpec>& constants() const override { return whole_.constants(); }
  std::size_t size() const override { return points_.size(); }
  double seconds(std::size_t i, std::span<const double> values, int& choice,
                 bool search) const override {
    return whole_.seconds(points_[i], values, choice, search);
  }
  TimeParts parts(std::size_t i, std::span<const double> values) const override {
    return whole_.parts(points_[i], values);
  }

 private:
  const TimeProblem& whole_;
  std::vector<std::size_t> points_;
};

FamilyRows part_of(const FamilyRows& whole, const std::vector<bool>& shape_taken) {
  FamilyRows part;
  part.identity = whole.identity;
  part.gpu = whole.gpu;
  part.timing_gpu = whole.timing_gpu;
  part.ranges = whole.ranges;
  std::vector<std::size_t> points;
  std::map<std::uint32_t, std::uint32_t> shapes;
  for (std::size_t i = 0; i < whole.measured.measured_s.size(); ++i) {
    const std::uint32_t shape = whole.measured.shape[i];
    if (!shape_taken[shape]) continue;
    points.push_back(i);
    part.measured.measured_s.push_back(whole.measured.measured_s[i]);
    const auto next = static_cast<std::uint32_t>(shapes.size());
    part.measured.shape.push_back(shapes.emplace(shape, next).first->second);
  }
  part.shapes = shapes.size();
  part.measured.shape_count = static_cast<std::uint32_t>(shapes.size());
  part.problem = std::make_unique<PartProblem>(*whole.problem, std::move(points));
  part.measured.problem = part.problem.get();
  return part;
}

std::uint64_t hash(std::uint64_t seed, const std::string& text) {
  std::uint64_t h = 0xcbf29ce484222325ull ^ (seed * 0x9e3779b97f4a7c15ull);
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  // FNV alone keeps texts that differ in their last letter close together.
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

// Which shapes, by index, to calibrate on. By their names alone: neither the order of the readings
// nor other kernels change the draw.
std::vector<bool> drawn_shapes(const std::vector<std::string>& names,
                               const HoldOutOptions& options) {
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < names.size(); ++i) {
    order.emplace_back(hash(options.seed, names[i]), i);
  }
  std::sort(order.begin(), order.end());
  const auto wanted = static_cast<std::size_t>(
      std::ceil(options.calibrate_share * static_cast<double>(names.size())));
  std::vector<bool> taken(names.size(), false);
  for (std::size_t i = 0; i < std::min(wanted, order.size()); ++i) taken[order[i].second] = true;
  return taken;
}

bool competes(const TimeReading& reading) {
  return reading.cache == SampleCache::cold && follows_split_rule(reading);
}

std::vector<RunPick> picks_of(const FamilyRows& family, const RunReadings& readings,
                              const std::vector<RunPoint>& points) {
  struct Shape {
    std::size_t configs = 0;
    std::size_t picked = 0;
    std::size_t best = 0;
  };
  const std::vector<double>& measured = family.measured.measured_s;
  std::vector<Shape> shapes(readings.shapes.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!competes(*readings.readings[i])) continue;
    Shape& s = shapes[family.measured.shape[i]];
    if (s.configs++ == 0) s.picked = s.best = i;
    if (points[i].predicted_s < points[s.picked].predicted_s) s.picked = i;
    if (measured[i] < measured[s.best]) s.best = i;
  }
  std::vector<RunPick> picks;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const Shape& s = shapes[k];
    if (s.configs < 2) continue;
    picks.push_back({.shape = readings.shapes[k],
                     .picked = readings.configs[s.picked],
                     .best = readings.configs[s.best],
                     .picked_s = measured[s.picked],
                     .best_s = measured[s.best],
                     .held_out = points[s.picked].held_out});
  }
  return picks;
}

RunPoint point_of(const FamilyRows& family, std::size_t i, const FamilyConstants& constants) {
  const TimeParts parts = family.problem->parts(i, constants.values);
  RunPoint point;
  point.reading = i;
  point.predicted_s = parts.seconds;
  point.interval = {parts.seconds, parts.seconds};
  point.regime = parts.regime();
  if (constants.unmeasured) point.interval = constants.unmeasured->around(parts.seconds);
  if (constants.calibration) {
    const double variance = variance_from_constants(
        sensitivities(*family.problem, i, constants.values), constants.calibration->covariance);
    point.interval = interval_of(parts.seconds, point.regime, *constants.calibration, variance,
                                 constants.transfer_sd);
  }
  return point;
}

// `fitted`: shapes that the profile has seen; empty = none.
RunFamilyScore score_family(const FamilyRows& family, const RunReadings& readings,
                            const CalibrationProfile* profile, const std::vector<bool>& fitted) {
  const FamilyConstants constants = constants_of(family, profile);
  RunFamilyScore score;
  score.name = family.identity.key();
  score.fitted = constants.calibration != nullptr;
  std::vector<double> predicted, measured;
  std::vector<bool> scored(readings.shapes.size(), false);
  std::size_t inside = 0;
  for (std::size_t i = 0; i < family.problem->size(); ++i) {
    const std::uint32_t shape = family.measured.shape[i];
    const double seconds = family.measured.measured_s[i];
    RunPoint point = point_of(family, i, constants);
    point.held_out = fitted.empty() || !fitted[shape];
    score.points.push_back(point);
    if (!point.held_out) {
      ++score.fitted_points;
      continue;
    }
    scored[shape] = true;
    predicted.push_back(point.predicted_s);
    measured.push_back(seconds);
    inside += seconds >= point.interval.low_s && seconds <= point.interval.high_s;
  }
  const auto count = [](const std::vector<bool>& flags) {
    return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), true));
  };
  score.fitted_shapes = count(fitted);
  score.scored_shapes = count(scored);
  score.scored_points = predicted.size();
  score.errors = error_statistics(predicted, measured);
  if (!predicted.empty()) {
    score.interval_coverage = static_cast<double>(inside) / static_cast<double>(predicted.size());
  }
  score.picks = picks_of(family, readings, score.points);
  for (const RunPick& pick : score.picks) {
    if (!pick.held_out) continue;
    ++score.judged_picks;
    score.good_picks += pick.loss() <= kGoodPick;
  }
  return score;
}

}  // namespace

RunScore score_run(const RunRows& rows, const CalibrationProfile* profile) {
  RunScore score;
  score.left_out = rows.left_out;
  for (std::size_t f = 0; f < rows.families.size(); ++f) {
    score.families.push_back(score_family(rows.families[f], rows.readings[f], profile, {}));
  }
  return score;
}

RunScore score_held_out(const RunRows& rows, const HoldOutOptions& options) {
  if (!(options.calibrate_share > 0 && options.calibrate_share < 1)) {
    throw UsageError("the share of shapes to calibrate on must lie between 0 and 1");
  }
  RunScore score;
  score.left_out = rows.left_out;
  for (std::size_t f = 0; f < rows.families.size(); ++f) {
    const std::vector<bool> taken = drawn_shapes(rows.readings[f].shapes, options);
    std::vector<FamilyRows> part;
    part.push_back(part_of(rows.families[f], taken));
    CalibrateOptions fit;
    fit.seed = options.seed;
    fit.threads = options.threads;
    fit.fewest_rows = kRowsForHoldOut;
    fit.noise = kRunNoise;
    const CalibrationProfile profile = calibrate(part, "", fit);
    const bool fitted = profile.find(rows.families[f].identity) != nullptr;
    score.families.push_back(
        score_family(rows.families[f], rows.readings[f], fitted ? &profile : nullptr, taken));
  }
  return score;
}

}  // namespace smtwin
