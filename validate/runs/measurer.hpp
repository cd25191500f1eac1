// SPDX-License-Identifier: Apache-2.0
// An instrument that takes readings on one GPU, as the host sees it: validate/device implements it
// with CUDA, tests with made-up numbers, and validate/runs/run_session.hpp walks a plan with it.
// DeviceError when the GPU refuses something; usable() then says whether it still answers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/probes/probes.hpp"
#include "validate/runs/run_file.hpp"

namespace smtwin {

enum class Effort {
  check,  // results and residency of our variants on a few small odd shapes, nothing timed
  quick,  // at most 60 s
  full    // at most 5 minutes
};

struct MeasurableKernel {
  std::string name;
  bool peer = false;
  std::string unavailable;           // why it cannot run here; empty = it can
  std::vector<Parameters> variants;  // compiled configurations, those that do not fit included
};

struct TimeTask {
  Parameters config;
  SampleCache cache = SampleCache::cold;
  SampleLaunch launch = SampleLaunch::graph;
  int samples = 9;
};

// One problem on the GPU: inputs drawn, output poisoned before every check.
class MeasuredProblem {
 public:
  virtual ~MeasuredProblem() = default;

  // ||out - reference|| / ||reference|| after one launch on poisoned outputs; infinite when an
  // output is missing or not finite.
  virtual double relative_error(const Parameters& config) = 0;

  // One median with everything a TimeReading holds but relative_error. `samples` 0: every sample
  // was rejected.
  virtual TimeReading time(const TimeTask& task) = 0;

  virtual std::int64_t ctas(const Parameters& config) = 0;  // of the main kernel
  // Most CTAs of the main kernel that ran at once on one SM.
  virtual int seen_ctas_per_sm(const Parameters& config) = 0;
};

class Measurer {
 public:
  virtual ~Measurer() = default;

  virtual RunGpu gpu() = 0;
  virtual std::string compiler() const = 0;
  virtual std::string method() const = 0;  // one sentence: flush, replay, samples
  virtual std::vector<MeasurableKernel> kernels() = 0;

  // The main kernel and its auxiliaries as the driver sees them; seen_ctas_per_sm is -1.
  virtual std::vector<FunctionReading> functions(const std::string& kernel,
                                                 const Parameters& config) = 0;

  virtual std::vector<ProbePoint> probes(Effort effort) = 0;
  // Empty: this machine cannot say.
  virtual std::optional<ProbeReading> probe(const ProbePoint& point) = 0;

  // Fresh random inputs for every seed. DeviceError when memory does not suffice.
  virtual std::unique_ptr<MeasuredProblem> open(const std::string& kernel, const Parameters& shape,
                                                std::uint64_t seed) = 0;

  // False: the context is lost (an illegal access, a kernel that never ended): nothing more can be
  // measured in this process.
  virtual bool usable() = 0;
};

}  // namespace smtwin
