// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/run_rows.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "validate/runs/run_probes.hpp"
#include "validate/runs/run_progress.hpp"

namespace smtwin {
namespace {

class RunProblem final : public TimeProblem {
 public:
  explicit RunProblem(std::unique_ptr<OwnKernelModel> model) : model_(std::move(model)) {}

  void add(std::unique_ptr<const OwnKernelPoint> point) { points_.push_back(std::move(point)); }
  const OwnKernelModel& model() const { return *model_; }

  const std::vector<ConstantSpec>& constants() const override { return model_->constants(); }
  std::size_t size() const override { return points_.size(); }
  double seconds(std::size_t i, std::span<const double> values, int&, bool) const override {
    return points_[i]->seconds(values);
  }
  TimeParts parts(std::size_t i, std::span<const double> values) const override {
    return points_[i]->parts(values);
  }

 private:
  std::unique_ptr<OwnKernelModel> model_;
  std::vector<std::unique_ptr<const OwnKernelPoint>> points_;
};

// Shape and config of a reading, complete. Names that the descriptor does not have are refused.
Parameters complete(const KernelDescriptor& kernel, const TimeReading& reading) {
  Parameters given = reading.shape;
  given.insert(reading.config.begin(), reading.config.end());
  try {
    return complete_parameters(kernel, given);
  } catch (const UsageError& error) {
    throw DataError("run: a reading of " + reading.kernel + ": " + error.what());
  }
}

// What readings of a shape share. The data type has a family of its own and is no shape.
std::string shape_name(const KernelDescriptor& kernel, const Parameters& parameters) {
  std::string name;
  for (const ParameterSpec& spec : kernel.parameters()) {
    if (spec.role != ParameterRole::shape || !spec.choices.empty()) continue;
    name += (name.empty() ? "" : " ") + spec.name + "=" + std::to_string(parameters.at(spec.name));
  }
  return name;
}

// What one family gathers while the readings are walked.
struct Gathered {
  RunReadings readings;
  std::unique_ptr<RunProblem> problem;
  MeasuredFamily measured;
  std::map<std::string, std::uint32_t> shapes;
  std::map<std::string, FittedRange> ranges;
};

void add_ranges(Gathered& g, const Parameters& parameters, const KernelDescriptor& kernel) {
  for (const ParameterSpec& spec : kernel.parameters()) {
    if (spec.role == ParameterRole::target || !spec.choices.empty()) continue;
    const auto value = static_cast<double>(parameters.at(spec.name));
    FittedRange& range =
        g.ranges.emplace(spec.name, FittedRange{spec.name, value, value}).first->second;
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
}

FamilyRows finish(Gathered& g, const GpuSpec& gpu) {
  FamilyRows family;
  family.identity = g.readings.family.identity();
  family.gpu = gpu.name;
  family.timing_gpu = timing_gpu(gpu);
  family.shapes = g.shapes.size();
  g.measured.shape_count = static_cast<std::uint32_t>(g.shapes.size());
  family.measured = std::move(g.measured);
  for (auto& [name, range] : g.ranges) family.ranges.push_back(std::move(range));
  family.problem = std::move(g.problem);
  family.measured.problem = family.problem.get();
  return family;
}

}  // namespace

GpuSpec gpu_of_run(const RunFile& run) {
  if (run.gpu.name.empty()) {
    throw DataError("run: taken on \"" + run.gpu.reported +
                    "\", which no GPU file answers to; add one to data/gpus");
  }
  return find_gpu(run.gpu.name);
}

RunRows run_rows(const RunFile& run, const GpuSpec& gpu) {
  const ProbedGpu probed = probed_gpu(run, gpu);
  std::map<std::string, Gathered> gathered;
  std::map<std::string, std::size_t> no_model, no_fit, wrong;
  for (const TimeReading& reading : run.times) {
    const KernelDescriptor* kernel = descriptor_of_run_kernel(reading.kernel);
    if (kernel == nullptr) {
      ++no_model[reading.kernel];
      continue;
    }
    const Parameters parameters = complete(*kernel, reading);
    const KernelInstance instance = kernel->instantiate(parameters, gpu);
    if (!instance.impossible.empty() ||
        resident_ctas(gpu.sm, instance.resources).ctas_per_sm <= 0) {
      ++no_fit[reading.kernel + " " + instance.config];
      continue;
    }
    // The time of a wrong result is the time of another kernel.
    if (reading.relative_error > kLargestRelativeError) {
      ++wrong[reading.kernel + " " + instance.config];
      continue;
    }
    const OwnKernelFamily family = own_kernel_family(*kernel, parameters);
    Gathered& g = gathered[family.identity().key()];
    if (g.problem == nullptr) {
      g.readings.family = family;
      g.problem = std::make_unique<RunProblem>(own_kernel_model(family, gpu, &probed));
    }
    g.problem->add(g.problem->model().point(
        instance, parameters, reading.cache == SampleCache::warm ? L2State::warm : L2State::cold));
    const std::string shape = shape_name(*kernel, parameters);
    const auto [known, fresh] =
        g.shapes.emplace(shape, static_cast<std::uint32_t>(g.shapes.size()));
    if (fresh) g.readings.shapes.push_back(shape);
    g.measured.shape.push_back(known->second);
    g.measured.measured_s.push_back(reading.seconds);
    g.readings.readings.push_back(&reading);
    g.readings.parameters.push_back(parameters);
    g.readings.configs.push_back(instance.config);
    add_ranges(g, parameters, *kernel);
  }
  RunRows rows;
  for (auto& [key, g] : gathered) {
    rows.families.push_back(finish(g, gpu));
    rows.readings.push_back(std::move(g.readings));
  }
  for (const auto& [kernel, count] : no_model) {
    rows.left_out.push_back(std::to_string(count) + " readings of " + kernel +
                            ": no time model covers it");
  }
  for (const auto& [config, count] : no_fit) {
    rows.left_out.push_back(std::to_string(count) + " readings of " + config +
                            ": its descriptor says that it does not fit " + gpu.name);
  }
  for (const auto& [config, count] : wrong) {
    rows.left_out.push_back(std::to_string(count) + " readings of " + config +
                            ": wrong result when it was checked");
  }
  return rows;
}

}  // namespace smtwin
