// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/run_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "arch/error.hpp"
#include "kernels/compiled_table.hpp"
#include "kernels/descriptor.hpp"
#include "model/residency.hpp"
#include "validate/runs/run_floor.hpp"
#include "validate/runs/run_progress.hpp"
#include "validate/runs/run_readings.hpp"
#include "validate/runs/run_rows.hpp"

namespace smtwin {
namespace {

// Null for a peer that has none.
const KernelDescriptor* descriptor_of(const std::string& kernel) {
  for (const auto& known : kernel_registry()) {
    if (known->name() == kernel) return known.get();
  }
  return nullptr;
}

// A shape that was measured with this configuration, else the default one: the resources of a
// configuration do not depend on it, whether the configuration exists may.
Parameters with_some_shape(const RunFile& run, const KernelDescriptor& kernel,
                           const Parameters& config) {
  Parameters given = config;
  for (const TimeReading& t : run.times) {
    if (t.kernel != kernel.name() || t.config != config) continue;
    given.insert(t.shape.begin(), t.shape.end());
    break;
  }
  try {
    return complete_parameters(kernel, given);
  } catch (const UsageError& error) {
    throw DataError("run: a function of " + kernel.name() + ": " + error.what());
  }
}

std::vector<FunctionScore> score_functions(const RunFile& run, const GpuSpec& gpu) {
  std::vector<FunctionScore> scores;
  std::set<std::pair<std::string, Parameters>> seen;
  std::set<std::string> auxiliaries;
  for (const FunctionReading& reading : run.functions) {
    const KernelDescriptor* kernel = descriptor_of(reading.kernel);
    if (kernel == nullptr) continue;
    FunctionScore score{.reading = &reading};
    // The first function of a variant is its main kernel; auxiliaries are shared between variants.
    score.main = seen.insert({reading.kernel, reading.config}).second;
    if (!score.main && !auxiliaries.insert(reading.symbol).second) continue;
    const KernelInstance instance =
        kernel->instantiate(with_some_shape(run, *kernel, reading.config), gpu);
    score.config = score.main ? instance.config : reading.symbol;
    for (const CompiledVariant& variant : compiled_table(reading.kernel).variants) {
      if (variant.symbol != reading.symbol || variant.target != gpu.compute_capability) continue;
      score.compiled_registers = variant.registers_per_thread;
    }
    if (score.main) {
      score.predicted_ctas_per_sm = resident_ctas(gpu.sm, instance.resources).ctas_per_sm;
      score.predicted_shared_bytes =
          instance.resources.dynamic_shared_bytes + instance.resources.static_shared_bytes;
    }
    scores.push_back(std::move(score));
  }
  return scores;
}

void report_points(const RunFile& run, const RunRows& rows, RunReport& report) {
  std::map<const TimeReading*, PointReport> predicted;
  for (std::size_t f = 0; f < rows.readings.size(); ++f) {
    const RunReadings& readings = rows.readings[f];
    for (const RunPoint& point : report.times.families[f].points) {
      const TimeReading* reading = readings.readings[point.reading];
      predicted[reading] = {.reading = reading,
                            .config = readings.configs[point.reading],
                            .family = report.times.families[f].name,
                            .point = &point};
    }
  }
  for (const TimeReading& reading : run.times) {
    const auto known = predicted.find(&reading);
    report.points.push_back(
        known != predicted.end()
            ? known->second
            : PointReport{.reading = &reading, .config = plain_text(reading.config)});
  }
}

// A peer ran this shape when all it says about it agrees.
bool same_shape(const Parameters& peer, const Parameters& ours) {
  if (peer.empty()) return false;
  return std::all_of(peer.begin(), peer.end(), [&](const auto& entry) {
    const auto found = ours.find(entry.first);
    return found != ours.end() && found->second == entry.second;
  });
}

std::vector<PeerTime> peers_at(const RunReport& report, const Parameters& shape) {
  std::vector<PeerTime> peers;
  for (const PointReport& point : report.points) {
    const TimeReading& t = *point.reading;
    if (!t.peer || t.cache != SampleCache::cold || !same_shape(t.shape, shape)) continue;
    const auto known = std::find_if(peers.begin(), peers.end(),
                                    [&](const PeerTime& p) { return p.name == t.kernel; });
    if (known == peers.end()) {
      peers.push_back({t.kernel, point.config, t.seconds});
    } else if (t.seconds < known->seconds) {
      *known = {t.kernel, point.config, t.seconds};
    }
  }
  std::sort(peers.begin(), peers.end(),
            [](const PeerTime& a, const PeerTime& b) { return a.seconds < b.seconds; });
  return peers;
}

void report_shapes(const RunFile& run, const RunRates& rates, RunReport& report) {
  std::map<std::pair<std::string, Parameters>, std::vector<const PointReport*>> by_shape;
  std::vector<std::pair<std::string, Parameters>> order;
  for (const PointReport& point : report.points) {
    const TimeReading& t = *point.reading;
    if (t.peer || t.cache != SampleCache::cold || t.relative_error > kLargestRelativeError) {
      continue;
    }
    if (point.point != nullptr && !point.point->held_out) continue;
    auto& points = by_shape[{t.kernel, t.shape}];
    if (points.empty()) order.emplace_back(t.kernel, t.shape);
    points.push_back(&point);
  }
  std::map<std::string, std::set<std::string>> names;
  for (const auto& key : order) {
    const auto& [kernel_name, shape] = key;
    const KernelDescriptor* kernel = descriptor_of(kernel_name);
    if (kernel == nullptr) continue;
    if (!names.contains(kernel_name))
      names[kernel_name] = varying_shape_parameters(run, kernel_name);
    ShapeReport s{.kernel = kernel_name, .shape = shape_text(*kernel, shape, names[kernel_name])};
    for (const PointReport* point : by_shape[key]) {
      ++s.configs;
      const double seconds = point->reading->seconds;
      if (s.best == nullptr || seconds < s.best->reading->seconds) s.best = point;
      if (point->point == nullptr || !follows_split_rule(*point->reading)) continue;
      if (s.best_by_rule == nullptr || seconds < s.best_by_rule->reading->seconds) {
        s.best_by_rule = point;
      }
      if (s.picked == nullptr || point->point->predicted_s < s.picked->point->predicted_s) {
        s.picked = point;
      }
    }
    s.floor_s = floor_seconds(*kernel, *s.best->reading, report.gpu, rates);
    s.peers = peers_at(report, shape);
    report.shapes.push_back(std::move(s));
  }
}

}  // namespace

bool FunctionScore::residency_differs() const {
  if (!predicted_ctas_per_sm) return false;
  return *predicted_ctas_per_sm != reading->driver_ctas_per_sm ||
         (reading->seen_ctas_per_sm >= 0 && reading->seen_ctas_per_sm != *predicted_ctas_per_sm);
}

bool FunctionScore::registers_differ() const {
  return compiled_registers && *compiled_registers != reading->registers_per_thread;
}

bool FunctionScore::shared_bytes_differ() const {
  return predicted_shared_bytes &&
         *predicted_shared_bytes != reading->dynamic_shared_bytes + reading->static_shared_bytes;
}

double PointReport::error() const {
  return point != nullptr ? std::fabs(point->predicted_s / reading->seconds - 1)
                          : std::numeric_limits<double>::quiet_NaN();
}

double ShapeReport::picked_costs() const {
  return picked->reading->seconds / best_by_rule->reading->seconds - 1;
}

std::size_t RunReport::differing_functions() const {
  return static_cast<std::size_t>(std::count_if(
      functions.begin(), functions.end(), [](const FunctionScore& f) { return f.differs(); }));
}

std::unique_ptr<RunReport> report_run(const RunFile& run,
                                      const std::function<RunScore(const RunRows&)>& score) {
  auto report = std::make_unique<RunReport>();
  report->run = &run;
  report->gpu = gpu_of_run(run);
  const RunRates rates = run_rates(run, report->gpu);
  report->dram_bytes_per_s = rates.dram_bytes_per_s;
  report->math_flops_per_s = rates.math_flops_per_s(MathPipe::bf16);
  report->rates_source = rates.source;
  report->functions = score_functions(run, report->gpu);
  const RunRows rows = run_rows(run, report->gpu);
  report->times = score(rows);
  report_points(run, rows, *report);
  report_shapes(run, rates, *report);
  for (const TimeReading& t : run.times) {
    report->wrong_results += t.relative_error > kLargestRelativeError;
    report->checked += t.relative_error >= 0;
  }
  return report;
}

}  // namespace smtwin
