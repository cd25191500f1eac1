// SPDX-License-Identifier: Apache-2.0
// The Measurer of validate/runs on a CUDA device: live kernels, probes, the driver's answers. A
// sample taken while the driver says that it throttles, or at another clock than the run's, is
// rejected and taken again; where the GPU stays at another clock, that becomes the run's.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>
#include <thread>

#include "arch/error.hpp"
#include "kernels/device_check.hpp"
#include "kernels/live_kernel.hpp"
#include "kernels/probes/cta_overlap.hpp"
#include "validate/device/cache_flush.hpp"
#include "validate/device/device.hpp"
#include "validate/device/gpu_query.hpp"
#include "validate/device/replay_timer.hpp"
#include "validate/fit/statistics.hpp"

namespace smtwin {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUpReads = 2000;  // of the flush buffer, 60 us each: until clocks have risen
constexpr int kClockReads = 21;
constexpr int kMostRounds = 4;   // of samples for one median: rejected or noisy ones again
constexpr int kMostRebases = 8;  // of the run's clock
constexpr std::chrono::milliseconds kCoolDown{50};
constexpr std::chrono::milliseconds kNvmlPeriod{40};  // power is refreshed about that often

// One GPU of this process with what every measurement needs.
class Gpu {
 public:
  explicit Gpu(int index)
      : nvml_(open_nvml(index)),
        facts_(describe_gpu(index, *nvml_)),
        flush_(facts_.l2_bytes),
        timer_(flush_) {}

  // Before the first sample: clocks rise only under load.
  void warm_up() {
    if (rules_.reference_clock_hz > 0) return;
    for (int i = 0; i < kWarmUpReads; ++i) flush_.enqueue_read(timer_.stream());
    timer_.wait("warming up");
    rebase();
  }

  const RunGpu& facts() const { return facts_; }
  ReplayTimer& timer() { return timer_; }
  const SampleRules& rules() const { return rules_; }
  std::int64_t flush_bytes() const { return flush_.bytes(); }

  // The clock that samples are held to: what the GPU runs at under a stream of reads now.
  void rebase() {
    std::vector<double> clocks;
    for (int i = 0; i < kClockReads; ++i) {
      flush_.enqueue_read(timer_.stream());
      timer_.wait("reading the clock");
      clocks.push_back(flush_.sm_clock_hz());
    }
    rules_.reference_clock_hz = quantile(clocks, 0.5);
  }
  bool may_rebase() { return rebases_++ < kMostRebases; }

  struct State {
    bool throttled = false;
    double power_w = 0;
  };
  State state() {
    if (Clock::now() - state_read_ > kNvmlPeriod) {
      const NvmlReading now = nvml_->read();
      state_ = {.throttled = now.clock_events && is_throttled(*now.clock_events),
                .power_w = now.power_w.value_or(0)};
      state_read_ = Clock::now();
    }
    return state_;
  }

  // True when a trivial kernel still runs.
  bool answers() {
    if (timer_.stuck()) return false;
    try {
      cudaGetLastError();
      flush_.enqueue_spin(timer_.stream(), 1);
      timer_.wait("a trivial kernel");
      return true;
    } catch (const DeviceError&) {
      return false;
    }
  }

 private:
  std::unique_ptr<Nvml> nvml_;
  RunGpu facts_;
  CacheFlush flush_;
  ReplayTimer timer_;
  SampleRules rules_;
  int rebases_ = 0;
  State state_;
  Clock::time_point state_read_{};
};

// Device memory for the traces of one launch.
class TraceBuffer {
 public:
  explicit TraceBuffer(std::int64_t ctas) : traces_(static_cast<std::size_t>(ctas)) {
    check_cuda(cudaMalloc(&device_, bytes()), "memory for CTA traces");
    const cudaError_t status = cudaMemset(device_, 0, bytes());
    if (status != cudaSuccess) cudaFree(device_);
    check_cuda(status, "clearing CTA traces");
  }
  ~TraceBuffer() { cudaFree(device_); }
  TraceBuffer(const TraceBuffer&) = delete;
  TraceBuffer& operator=(const TraceBuffer&) = delete;

  CtaTrace* device() const { return static_cast<CtaTrace*>(device_); }
  std::span<const CtaTrace> fetch() {
    check_cuda(cudaMemcpy(traces_.data(), device_, bytes(), cudaMemcpyDeviceToHost), "CTA traces");
    return traces_;
  }

 private:
  std::size_t bytes() const { return traces_.size() * sizeof(CtaTrace); }
  std::vector<CtaTrace> traces_;
  void* device_ = nullptr;
};

class GpuProblem : public MeasuredProblem {
 public:
  GpuProblem(Gpu& gpu, std::unique_ptr<LiveProblem> problem, std::string name)
      : gpu_(gpu), problem_(std::move(problem)), name_(std::move(name)) {
    // Inputs are drawn on streams of the kernel's own; a rejected input shows here, by name.
    check_cuda(cudaDeviceSynchronize(), "inputs of " + name_);
  }

  double relative_error(const Parameters& config) override {
    problem_->poison(gpu_.timer().stream());
    problem_->launch(config, gpu_.timer().stream());
    gpu_.timer().wait(name_);
    return problem_->relative_error();
  }

  std::int64_t ctas(const Parameters& config) override { return problem_->ctas(config); }

  int seen_ctas_per_sm(const Parameters& config) override {
    TraceBuffer traces(problem_->ctas(config));
    problem_->launch(config, gpu_.timer().stream(), traces.device());
    gpu_.timer().wait(name_);
    return most_resident(traces.fetch());
  }

  TimeReading time(const TimeTask& task) override {
    const Enqueue operation = [&](DeviceStream stream) { problem_->launch(task.config, stream); };
    gpu_.warm_up();
    std::vector<Sample> samples;
    SampleSummary summary;
    for (int round = 0; round < kMostRounds; ++round) {
      std::vector<Sample> more =
          gpu_.timer().time(operation, task.cache, task.launch, task.samples, name_);
      const bool throttled = gpu_.state().throttled;
      for (Sample& sample : more) sample.throttled = throttled;
      samples.insert(samples.end(), more.begin(), more.end());
      summary = summarize(samples, gpu_.rules());
      const bool enough = 2 * summary.accepted >= task.samples;
      if (enough && !summary.noisy) break;
      if (!enough) recover();
    }
    return {.seconds = summary.median_s,
            .p10_s = summary.p10_s,
            .p90_s = summary.p90_s,
            .samples = summary.accepted,
            .rejected = summary.rejected,
            .sm_clock_hz = summary.sm_clock_hz,
            .power_w = gpu_.state().power_w};
  }

 private:
  // Lets the GPU cool down; then holds it to the clock that it has.
  void recover() {
    std::this_thread::sleep_for(kCoolDown);
    if (gpu_.may_rebase()) gpu_.rebase();
  }

  Gpu& gpu_;
  std::unique_ptr<LiveProblem> problem_;
  std::string name_;
};

class GpuMeasurer : public Measurer {
 public:
  explicit GpuMeasurer(int index) : gpu_((select_gpu(index), index)) {}

  RunGpu gpu() override { return gpu_.facts(); }
  std::string compiler() const override { return cuda_compiler(); }
  std::string method() const override {
    return "L2 flushed by reading " + std::to_string(gpu_.flush_bytes() >> 20) +
           " MiB before every cold sample; CUDA graph replay between two event nodes; median of "
           "accepted samples; at another clock or throttled = rejected";
  }

  std::vector<MeasurableKernel> kernels() override {
    std::vector<MeasurableKernel> list;
    for (const auto& kernel : live_kernels()) {
      list.push_back({.name = kernel->name(),
                      .peer = kernel->is_peer(),
                      .unavailable = kernel->unavailable(),
                      .variants = kernel->variants()});
    }
    return list;
  }

  std::vector<FunctionReading> functions(const std::string& kernel,
                                         const Parameters& config) override {
    std::vector<FunctionReading> readings;
    for (const CompiledFunction& f : find(kernel).functions(config)) {
      FunctionReading reading = read(f);
      reading.kernel = kernel;
      reading.config = config;
      // The main kernel first: it is the one whose residency is predicted.
      readings.insert(f.auxiliary ? readings.end() : readings.begin(), std::move(reading));
    }
    return readings;
  }

  std::vector<ProbePoint> probes(Effort effort) override {
    bench_ = std::make_unique<ProbeBench>();
    return probe_points(bench_->gpu(),
                        effort == Effort::quick ? ProbeEffort::quick : ProbeEffort::full);
  }

  std::optional<ProbeReading> probe(const ProbePoint& point) override {
    if (!bench_->run(point)) return std::nullopt;  // the first one loads code
    std::vector<double> values;
    for (int i = 0; i < point.repetitions; ++i) {
      if (const std::optional<double> value = bench_->run(point)) values.push_back(*value);
    }
    if (values.empty()) return std::nullopt;
    const double median = quantile(values, 0.5);
    const double width = quantile(values, 0.9) - quantile(values, 0.1);
    return ProbeReading{.probe = point.probe,
                        .parameters = point.parameters,
                        .value = median,
                        .unit = point.unit,
                        .spread = median != 0 ? width / std::abs(median) : 0,
                        .samples = static_cast<std::int32_t>(values.size())};
  }

  std::unique_ptr<MeasuredProblem> open(const std::string& kernel, const Parameters& shape,
                                        std::uint64_t seed) override {
    bench_.reset();  // its buffers are large
    return std::make_unique<GpuProblem>(gpu_, find(kernel).make_problem(shape, seed), kernel);
  }

  bool usable() override { return gpu_.answers(); }

 private:
  static const LiveKernel& find(const std::string& name) {
    for (const auto& kernel : live_kernels()) {
      if (kernel->name() == name) return *kernel;
    }
    throw UsageError("no live kernel is called " + name);
  }

  static FunctionReading read(const CompiledFunction& f) {
    cudaFuncAttributes attributes{};
    check_cuda(cudaFuncGetAttributes(&attributes, f.function), "attributes of " + f.symbol);
    FunctionReading reading{
        .symbol = f.symbol,
        .registers_per_thread = attributes.numRegs,
        .static_shared_bytes = static_cast<std::int64_t>(attributes.sharedSizeBytes),
        .dynamic_shared_bytes = f.dynamic_shared_bytes,
        .local_bytes = static_cast<std::int64_t>(attributes.localSizeBytes),
        .threads_per_cta = f.threads_per_cta};
    // More than the chip has is refused here: no CTA fits, which is an answer.
    const cudaError_t raised =
        cudaFuncSetAttribute(f.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(f.dynamic_shared_bytes));
    if (raised == cudaErrorInvalidValue) {
      cudaGetLastError();
      return reading;
    }
    check_cuda(raised, "shared memory of " + f.symbol);
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                   &reading.driver_ctas_per_sm, f.function, f.threads_per_cta,
                   static_cast<std::size_t>(f.dynamic_shared_bytes)),
               "residency of " + f.symbol);
    return reading;
  }

  Gpu gpu_;
  std::unique_ptr<ProbeBench> bench_;
};

}  // namespace

bool built_with_cuda() { return true; }

RunGpu query_gpu(int index) {
  select_gpu(index);
  return describe_gpu(index, *open_nvml(index));
}

std::unique_ptr<Measurer> open_gpu(int index) { return std::make_unique<GpuMeasurer>(index); }

}  // namespace smtwin
