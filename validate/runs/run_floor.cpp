// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/run_floor.hpp"

#include <algorithm>

#include "arch/error.hpp"

namespace smtwin {
namespace {

constexpr MathPipe kPipes[] = {MathPipe::tf32, MathPipe::bf16, MathPipe::fp8, MathPipe::int8};

// The best rate that any setting of the probe reached; 0 = not probed.
double best(const RunFile& run, const std::string& probe) {
  double most = 0;
  for (const ProbeReading& reading : run.probes) {
    if (reading.probe == probe) most = std::max(most, reading.value);
  }
  return most;
}

double specified_flops_per_s(const GpuSpec& gpu, MathPipe pipe) {
  const SmRates& r = gpu.rates;
  const std::optional<double> per_cycle = pipe == MathPipe::tf32   ? r.tensor_tf32_flops_per_cycle
                                          : pipe == MathPipe::bf16 ? r.tensor_bf16_flops_per_cycle
                                          : pipe == MathPipe::fp8  ? r.tensor_fp8_flops_per_cycle
                                                                   : r.tensor_int8_flops_per_cycle;
  if (!per_cycle || !gpu.sm_clock_hz || !gpu.sm_count) return 0;
  return *per_cycle * *gpu.sm_clock_hz * *gpu.sm_count;
}

}  // namespace

double RunRates::math_flops_per_s(MathPipe pipe) const {
  const auto found = flops_per_s.find(pipe);
  return found == flops_per_s.end() ? 0 : found->second;
}

RunRates run_rates(const RunFile& run, const GpuSpec& gpu) {
  RunRates rates;
  rates.dram_bytes_per_s = std::max(best(run, "dram_read"), best(run, "dram_read_async"));
  rates.source = "read and mma.sync rates of its own probes";
  if (rates.dram_bytes_per_s == 0) {
    rates.dram_bytes_per_s =
        gpu.dram_bytes_per_s.value_or(0) * gpu.dram_read_efficiency.value_or(1);
    rates.source = "rates of the specification, the run has no probes";
  }
  for (const MathPipe pipe : kPipes) {
    const double probed = best(run, "tensor_" + to_string(pipe));
    const double rate = probed > 0 ? probed : specified_flops_per_s(gpu, pipe);
    if (rate > 0) rates.flops_per_s[pipe] = rate;
  }
  return rates;
}

double floor_seconds(const KernelDescriptor& kernel, const TimeReading& reading, const GpuSpec& gpu,
                     const RunRates& rates) {
  Parameters given = reading.shape;
  given.insert(reading.config.begin(), reading.config.end());
  const KernelInstance instance = kernel.instantiate(complete_parameters(kernel, given), gpu);
  // What mma.sync reaches is no bound for Hopper's warpgroup instructions.
  const auto wgmma = reading.config.find("wgmma");
  const double flops_per_s = wgmma != reading.config.end() && wgmma->second != 0
                                 ? specified_flops_per_s(gpu, instance.pipe)
                                 : rates.math_flops_per_s(instance.pipe);
  if (rates.dram_bytes_per_s <= 0 || flops_per_s <= 0) return 0;
  return std::max(
      (instance.unique_read_bytes + instance.unique_write_bytes) / rates.dram_bytes_per_s,
      instance.useful_flops / flops_per_s);
}

}  // namespace smtwin
