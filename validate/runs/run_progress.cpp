// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/run_progress.hpp"

#include <algorithm>
#include <utility>

namespace smtwin {
namespace {

constexpr double kFinalistMargin = 1.06;
constexpr std::size_t kMostFinalists = 10;

}  // namespace

const TimeReading* find_time(const RunFile& run, const PlannedShape& shape, const TimeTask& task) {
  const auto found = std::find_if(run.times.begin(), run.times.end(), [&](const TimeReading& t) {
    return t.kernel == shape.kernel && t.cache == task.cache && t.launch == task.launch &&
           t.config == task.config && t.shape == shape.shape;
  });
  return found == run.times.end() ? nullptr : &*found;
}

const FunctionReading* main_function(const RunFile& run, const std::string& kernel,
                                     const Parameters& config) {
  const auto found = std::find_if(
      run.functions.begin(), run.functions.end(),
      [&](const FunctionReading& f) { return f.kernel == kernel && f.config == config; });
  return found == run.functions.end() ? nullptr : &*found;
}

std::vector<TimeTask> finalists(const RunFile& run, const PlannedShape& shape,
                                const std::vector<TimeTask>& tasks) {
  std::vector<std::pair<double, TimeTask>> timed;
  for (const TimeTask& task : tasks) {
    if (task.cache != SampleCache::cold) continue;
    const TimeReading* t = find_time(run, shape, task);
    if (t == nullptr || t->relative_error > kLargestRelativeError) continue;
    timed.emplace_back(t->seconds, task);
  }
  std::stable_sort(timed.begin(), timed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<TimeTask> close;
  for (const auto& [seconds, task] : timed) {
    if (close.size() == kMostFinalists || seconds > timed.front().first * kFinalistMargin) break;
    close.push_back(task);
  }
  return close;
}

std::vector<TimeTask> unsettled_finalists(const RunFile& run, const PlannedShape& shape,
                                          const std::vector<TimeTask>& tasks) {
  std::vector<TimeTask> close = finalists(run, shape, tasks);
  std::erase_if(close, [&](const TimeTask& task) {
    return find_time(run, shape, task)->medians >= kFinalMedians;
  });
  return close;
}

}  // namespace smtwin
