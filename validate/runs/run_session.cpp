// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/run_session.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "kernels/text.hpp"
#include "validate/runs/run_progress.hpp"
#include "validate/runs/run_readings.hpp"

namespace smtwin {
namespace {

constexpr int kMostResidencyTries = 3;      // traces of a variant until the driver's count was seen
constexpr double kUnmeasurableError = 1e9;  // stands for infinite in files
constexpr double kUnchecked = -1;
constexpr int kShapesAlwaysChecked = 3;
constexpr double kCheckShare = 0.3;  // of the run's time

using Key = std::pair<std::string, Parameters>;  // kernel and configuration

class Session {
 public:
  Session(Measurer& measurer, const SessionOptions& options, RunJournal* journal)
      : measurer_(measurer), options_(options), journal_(journal) {
    if (journal_ != nullptr) result_.run = journal_->found();
    deadline_ = options.deadline_s > 0 ? options.deadline_s : time_box(options.effort);
    RunFile& run = result_.run;
    run.gpu = measurer.gpu();
    run.compiler = measurer.compiler();
    run.method = measurer.method();
    run.seed = options.seed;
    gpu_ =
        find_gpu(run.gpu.name.empty() ? "sm_" + digits(run.gpu.compute_capability) : run.gpu.name);
    // Architectures of the catalog have no number of SMs, on which splits depend.
    if (!gpu_.sm_count) gpu_.sm_count = run.gpu.sm_count;
  }

  SessionResult run() {
    kernels_ = measurer_.kernels();
    const std::vector<PlannedShape> plan =
        plan_run(kernels_, options_.effort, options_.only_kernel);
    for (const MeasurableKernel& kernel : kernels_) {
      const bool wanted = !kernel.peer || !checks_only();
      if (wanted && !kernel.unavailable.empty()) skip(kernel.name, kernel.unavailable);
    }
    for (const MeasurableKernel& kernel : kernels_) {
      if (!kernel.peer && planned(plan, kernel.name)) read_functions(kernel);
    }
    if (!checks_only()) read_probes();
    std::size_t shapes_left = plan.size();
    for (const PlannedShape& shape : plan) {
      if (!go_on()) break;
      measure_shape(shape);
      if (!result_.out_of_time) --shapes_left;
    }
    if (result_.out_of_time) {
      skip(std::to_string(shapes_left) + " of " + std::to_string(plan.size()) + " shapes",
           "the time box of " + std::to_string(static_cast<int>(deadline_)) + " s was used up");
    }
    return std::move(result_);
  }

 private:
  static std::string digits(std::string text) {  // "9.0" -> "90"
    std::erase(text, '.');
    return text;
  }

  static bool planned(const std::vector<PlannedShape>& plan, const std::string& kernel) {
    return std::any_of(plan.begin(), plan.end(),
                       [&](const PlannedShape& shape) { return shape.kernel == kernel; });
  }

  void skip(const std::string& what, const std::string& why) {
    result_.skipped.push_back({what, why});
  }

  // False once the GPU was given up or the time is over.
  bool go_on() {
    if (!result_.stopped.empty() || result_.out_of_time) return false;
    result_.out_of_time = options_.clock && options_.clock() >= deadline_;
    return !result_.out_of_time;
  }

  // Takes one reading; a refusal of the GPU costs this reading, a lost GPU ends the run.
  template <typename Take>
  bool attempt(const std::string& what, const Take& take) {
    try {
      take();
      return true;
    } catch (const DeviceError& error) {
      if (measurer_.usable()) {
        skip(what, error.what());
      } else {
        result_.stopped = what + ": " + error.what();
      }
      return false;
    }
  }

  template <typename Reading>
  void record(std::vector<Reading>& readings, const Reading& reading) {
    keep(readings, reading);
    if (journal_ != nullptr) journal_->append(reading);
  }

  void read_functions(const MeasurableKernel& kernel) {
    for (const Parameters& config : kernel.variants) {
      if (main_function(result_.run, kernel.name, config) != nullptr) continue;
      if (!result_.stopped.empty()) return;
      attempt(kernel.name, [&] {
        for (const FunctionReading& f : measurer_.functions(kernel.name, config)) {
          record(result_.run.functions, f);
        }
      });
    }
  }

  void read_probes() {
    std::vector<ProbePoint> points;
    if (!attempt("probes", [&] { points = measurer_.probes(options_.effort); })) return;
    for (const ProbePoint& point : points) {
      const bool known = std::any_of(
          result_.run.probes.begin(), result_.run.probes.end(), [&](const ProbeReading& r) {
            return r.probe == point.probe && r.parameters == point.parameters;
          });
      if (known) continue;
      if (!go_on()) return;
      attempt("probe " + point.probe, [&] {
        const std::optional<ProbeReading> reading = measurer_.probe(point);
        if (reading) record(result_.run.probes, *reading);
      });
    }
    say("probes: " + std::to_string(result_.run.probes.size()) + " readings");
  }

  void say(const std::string& text) {
    if (options_.progress) options_.progress(text);
  }

  bool checks_only() const { return options_.effort == Effort::check; }
  int cold_samples() const { return options_.effort == Effort::quick ? 9 : 11; }

  // Every compiled variant under its own split rule, and what the kernel itself would run.
  std::vector<Parameters> configs_of(const PlannedShape& shape, const MeasurableKernel& kernel) {
    std::vector<Parameters> configs = kernel.variants;
    if (kernel.peer) return configs;
    const Parameters own = find_kernel(kernel.name).default_config(shape.shape, gpu_);
    if (!own.empty() && std::find(configs.begin(), configs.end(), own) == configs.end()) {
      configs.push_back(own);
    }
    return configs;
  }

  std::vector<TimeTask> tasks_of(const PlannedShape& shape, const MeasurableKernel& kernel) {
    std::vector<TimeTask> tasks;
    for (const Parameters& config : configs_of(shape, kernel)) {
      const FunctionReading* main = main_function(result_.run, kernel.name, config);
      if (main != nullptr && main->driver_ctas_per_sm == 0) continue;  // does not fit this GPU
      if (!can_run(kernel.name, shape.shape, config, gpu_)) continue;
      tasks.push_back({.config = config, .samples = cold_samples()});
      if (shape.warm_too && !checks_only()) {
        tasks.push_back({.config = config, .cache = SampleCache::warm, .samples = cold_samples()});
      }
    }
    return tasks;
  }

  void measure_shape(const PlannedShape& shape) {
    const auto kernel = std::find_if(
        kernels_.begin(), kernels_.end(),
        [&](const MeasurableKernel& candidate) { return candidate.name == shape.kernel; });
    const std::vector<TimeTask> tasks = tasks_of(shape, *kernel);
    const bool all_there = std::all_of(tasks.begin(), tasks.end(), [&](const TimeTask& task) {
      return find_time(result_.run, shape, task) != nullptr;
    });
    if (all_there && unsettled_finalists(result_.run, shape, tasks).empty()) return;
    const std::string what = shape.kernel + " " + plain_text(shape.shape);
    std::unique_ptr<MeasuredProblem> problem;
    if (!attempt(what, [&] {
          problem =
              measurer_.open(shape.kernel, shape.shape, draw_seed(shape.shape, options_.seed));
        })) {
      return;
    }
    std::map<Parameters, double> errors;  // of this problem
    std::size_t taken = 0;
    for (const TimeTask& task : tasks) {
      if (find_time(result_.run, shape, task) != nullptr) continue;
      if (!go_on()) return leave(std::move(problem));
      attempt(what + " " + plain_text(task.config), [&] {
        if (!errors.contains(task.config)) {
          errors[task.config] =
              worth_checking(shape, task.config) ? check(shape, *problem, task.config) : kUnchecked;
        }
        const double error = errors[task.config];
        if (error > kLargestRelativeError) return wrong(shape, task, error);
        see_residency(shape, *problem, task.config);
        if (checks_only()) return;
        TimeReading reading = problem->time(task);
        complete(shape, task, error, reading);
        ++taken;
      });
    }
    settle_order(shape, tasks, *problem);
    if (!result_.stopped.empty()) return leave(std::move(problem));
    say(what + ": " + std::to_string(taken) + " medians");
  }

  // A problem of a lost GPU cannot be freed: its destructor would wait for a kernel that never
  // ends. The process is about to end anyway.
  void leave(std::unique_ptr<MeasuredProblem> problem) {
    if (result_.stopped.empty()) return;
    static auto* const given_up = new std::vector<MeasuredProblem*>;  // never destroyed either
    given_up->push_back(problem.release());
  }

  // Float64 references take the host longer than the GPU takes for the sweep. Every variant is
  // checked on its first shapes and where it is among the fastest, elsewhere while there is time.
  bool worth_checking(const PlannedShape& shape, const Parameters& config) const {
    if (checks_only()) return true;
    const auto done = checks_.find({shape.kernel, config});
    if (done == checks_.end() || done->second < kShapesAlwaysChecked) return true;
    return !options_.clock || check_seconds_ <= kCheckShare * options_.clock();
  }

  double check(const PlannedShape& shape, MeasuredProblem& problem, const Parameters& config) {
    const double start = options_.clock ? options_.clock() : 0;
    const double error = problem.relative_error(config);
    if (options_.clock) check_seconds_ += options_.clock() - start;
    ++checks_[{shape.kernel, config}];
    ++result_.checked_results;
    return error < kUnmeasurableError ? error : kUnmeasurableError;  // NaN too
  }

  void wrong(const PlannedShape& shape, const TimeTask& task, double error) {
    if (task.cache == SampleCache::warm) return;  // said with the cold one
    const std::string allowed = short_number(kLargestRelativeError);
    skip(shape.kernel + " " + plain_text(shape.shape) + " " + plain_text(task.config),
         error < kUnmeasurableError ? "wrong result, not timed: relative error above " + allowed
                                    : "wrong result, not timed: outputs missing or not finite");
    result_.wrong_results += 1;
  }

  void complete(const PlannedShape& shape, const TimeTask& task, double error,
                TimeReading& reading) {
    if (reading.samples == 0) {
      return skip(shape.kernel + " " + plain_text(shape.shape) + " " + plain_text(task.config),
                  "every sample was taken while the GPU throttled or at another clock");
    }
    reading.kernel = shape.kernel;
    reading.peer = shape.peer;
    reading.config = task.config;
    reading.shape = shape.shape;
    reading.cache = task.cache;
    reading.launch = task.launch;
    reading.relative_error = error;
    record(result_.run.times, reading);
  }

  // Until the driver's count was seen: a small grid or brief CTAs show fewer.
  void see_residency(const PlannedShape& shape, MeasuredProblem& problem,
                     const Parameters& config) {
    const FunctionReading* main = main_function(result_.run, shape.kernel, config);
    if (main == nullptr || main->seen_ctas_per_sm >= main->driver_ctas_per_sm) return;
    const std::int64_t needed =
        std::int64_t{result_.run.gpu.sm_count} * (main->driver_ctas_per_sm - 1);
    int& tries = residency_tries_[{shape.kernel, config}];
    if (tries >= kMostResidencyTries || problem.ctas(config) <= needed) return;
    ++tries;
    const int seen = problem.seen_ctas_per_sm(config);
    if (seen <= main->seen_ctas_per_sm) return;
    FunctionReading updated = *main;
    updated.seen_ctas_per_sm = seen;
    record(result_.run.functions, updated);
  }

  // One median of each finalist in turn, so that a drift of the GPU meets all of them alike. The
  // medians replace the reading that chose them: the smallest of many is too small.
  void settle_order(const PlannedShape& shape, const std::vector<TimeTask>& tasks,
                    MeasuredProblem& problem) {
    if (!go_on()) return;
    std::vector<TimeTask> chosen = unsettled_finalists(result_.run, shape, tasks);
    std::erase_if(chosen, [&](const TimeTask& task) { return !right(shape, task, problem); });
    std::vector<std::vector<TimeReading>> rounds(chosen.size());
    for (int round = 0; round < kFinalMedians; ++round) {
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        if (!go_on()) return;
        attempt(shape.kernel + " " + plain_text(shape.shape), [&] {
          const TimeReading reading = problem.time(chosen[i]);
          if (reading.samples > 0) rounds[i].push_back(reading);
        });
      }
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (rounds[i].size() < kFinalMedians) continue;
      const double error = find_time(result_.run, shape, chosen[i])->relative_error;
      TimeReading reading = median_of(rounds[i]);
      complete(shape, chosen[i], error, reading);
    }
  }

  // Checks a finalist that was timed unchecked. A wrong one is out; its reading says why.
  bool right(const PlannedShape& shape, const TimeTask& task, MeasuredProblem& problem) {
    TimeReading reading = *find_time(result_.run, shape, task);
    if (reading.relative_error >= 0) return reading.relative_error <= kLargestRelativeError;
    if (!go_on()) return false;
    const bool checked = attempt(shape.kernel + " " + plain_text(shape.shape), [&] {
      reading.relative_error = check(shape, problem, task.config);
      record(result_.run.times, reading);
    });
    return checked && reading.relative_error <= kLargestRelativeError;
  }

  Measurer& measurer_;
  const SessionOptions& options_;
  RunJournal* journal_;
  double deadline_ = 0;
  GpuSpec gpu_;
  std::vector<MeasurableKernel> kernels_;
  std::map<Key, int> residency_tries_;
  std::map<Key, int> checks_;  // shapes a variant was checked on
  double check_seconds_ = 0;
  SessionResult result_;
};

}  // namespace

double time_box(Effort effort) { return effort == Effort::full ? 280 : 55; }

std::string describe(const std::vector<Skipped>& skipped) {
  std::vector<std::pair<const Skipped*, std::size_t>> groups;  // the first of a reason, how many
  for (const Skipped& one : skipped) {
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& g) { return g.first->why == one.why; });
    if (known == groups.end()) {
      groups.emplace_back(&one, 1);
    } else {
      ++known->second;
    }
  }
  std::string text;
  for (const auto& [first, count] : groups) {
    text += (text.empty() ? "" : "; ") + first->what;
    if (count > 1) text += " and " + std::to_string(count - 1) + " more";
    text += ": " + first->why;
  }
  return text;
}

std::string plan_name(const SessionOptions& options) {
  const char* effort = options.effort == Effort::check   ? "check"
                       : options.effort == Effort::quick ? "quick"
                                                         : "full";
  return effort + (options.only_kernel.empty() ? std::string() : " of " + options.only_kernel);
}

SessionResult run_session(Measurer& measurer, const SessionOptions& options, RunJournal* journal) {
  return Session(measurer, options, journal).run();
}

}  // namespace smtwin
