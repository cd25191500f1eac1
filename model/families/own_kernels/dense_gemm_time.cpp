// SPDX-License-Identifier: Apache-2.0
#include "model/families/own_kernels/dense_gemm_time.hpp"

#include <algorithm>
#include <cmath>

#include "model/families/own_kernels/launch_fill.hpp"
#include "model/families/own_kernels/own_constants.hpp"
#include "model/families/own_kernels/pipelined_cta.hpp"
#include "model/families/own_kernels/sm_work.hpp"
#include "model/kernel_time.hpp"
#include "model/timing/constant_specs.hpp"

namespace smtwin {
namespace {

// In the order of the specs below.
struct Constants {
  explicit Constants(std::span<const double> v)
      : launch_s(v[0]),
        cta_s(v[1]),
        step_s(v[2]),
        instruction_s(v[3]),
        group_factor(v[4]),
        work_factor(v[5]),
        read_s(v[6]),
        dram_bytes_per_s(v[7]),
        l2_bytes_per_s(v[8]),
        fixup_s(v[9]),
        fixup_bytes_per_s(v[10]) {}
  double launch_s, cta_s, step_s, instruction_s, group_factor, work_factor, read_s,
      dram_bytes_per_s, l2_bytes_per_s, fixup_s, fixup_bytes_per_s;
};

std::vector<ConstantSpec> specs(const ProbedGpu& p) {
  const double clock_s = 1 / p.sm_clock_hz.value;
  const double dram_s = p.dram_latency_s.value;
  return {
      launch_time_spec(p),
      removable(own_constant("cta_time", "s", "first tiles and the output's way", 4 * dram_s, 0.5),
                0),
      removable(own_constant("step_time", "s", "wait and barrier of a step", 100 * clock_s, 0.7),
                0),
      removable(own_constant("instruction_time", "s", "an instruction of a warp's chain",
                             2 * clock_s, 0.5),
                0),
      removable(own_constant("group_factor", "1", "a step's wgmma against its full rate", 2, 0.5),
                0),
      removable(own_constant("work_factor", "1", "busy units of an SM", 1, 0.3), 0),
      removable(own_constant("read_latency", "s", "operands of a step, nothing else in flight",
                             1.5 * dram_s, 0.5),
                0),
      own_dram_rate_spec(p),
      removable(own_constant("kernel_l2_rate", "B/s", "L2 read rate of operand tiles",
                             p.l2_read_bytes_per_s.value, 0.3, 8),
                kNoRate),
      removable(own_constant("fixup_time", "s", "last CTA of a shared tile: flag and first sums",
                             3 * dram_s, 0.6),
                0),
      removable(own_constant("fixup_rate", "B/s", "sums that one CTA adds", 64 / clock_s, 0.7),
                kNoRate),
  };
}

// What the constants multiply.
struct Counts {
  LaunchFill fill;
  double steps = 0;          // of the longest CTA
  double average_steps = 0;  // of a CTA
  double instructions = 0;   // of a warp in a step; 0: wgmma
  double group_s = 0;        // multiplies of a step at full rate; 0: mma.sync
  double work_s = 0;         // of a step
  double loads_in_flight = 0;
  double dram_bytes = 0;
  double l2_bytes = 0;
  double fixup_bytes = 0;  // that the last CTA of a tile adds; 0: no tile is shared
};

class Point final : public OwnKernelPoint {
 public:
  explicit Point(const Counts& counts) : n_(counts) {}

  double seconds(std::span<const double> values) const override {
    const Constants c(values);
    return c.launch_s + c.cta_s + loop_s(c) + fixup_s(c);
  }

  TimeParts parts(std::span<const double> values) const override {
    const Constants c(values);
    TimeParts p;
    p.seconds = seconds(values);
    p[Regime::launch] = c.launch_s + c.cta_s + fixup_s(c);
    p[Regime::latency] = n_.fill.rounds * n_.steps * step_seconds(step(c));
    p[Regime::compute] = n_.fill.busiest * n_.average_steps * step(c).work_s;
    p[Regime::dram] = n_.dram_bytes / c.dram_bytes_per_s;
    p[Regime::l2] = n_.l2_bytes / c.l2_bytes_per_s;
    return p;
  }

  LoopTime loop(std::span<const double> values) const override {
    const Constants c(values);
    return loop_time(n_.fill, loop_s(c), seconds(values));
  }

 private:
  PipelineStep step(const Constants& c) const {
    PipelineStep s;
    s.latency_s = c.read_s;
    s.chain_s = c.step_s + c.instruction_s * n_.instructions + c.group_factor * n_.group_s;
    s.work_s = c.work_factor * n_.work_s;
    s.loads_in_flight = n_.loads_in_flight;
    return s;
  }
  double loop_s(const Constants& c) const {
    return loop_seconds(n_.fill, {.longest = n_.steps, .average = n_.average_steps}, step(c),
                        memory_s(c));
  }
  double memory_s(const Constants& c) const {
    return norm4(n_.dram_bytes / c.dram_bytes_per_s, n_.l2_bytes / c.l2_bytes_per_s);
  }
  double fixup_s(const Constants& c) const {
    return n_.fixup_bytes > 0 ? c.fixup_s + n_.fixup_bytes / c.fixup_bytes_per_s : 0;
  }

  Counts n_;
};

}  // namespace

DenseGemmModel::DenseGemmModel(const GpuSpec& gpu, const ProbedGpu& probed)
    : OwnKernelModel(specs(probed)), gpu_(gpu), probed_(probed) {}

std::unique_ptr<const OwnKernelPoint> DenseGemmModel::point(const KernelInstance& kernel,
                                                            const Parameters& parameters,
                                                            L2State l2) const {
  const CtaWork& work = kernel.work;
  const MemoryTraffic traffic = memory_traffic(gpu_, kernel, {.l2 = l2});
  const bool group = parameters.at("wgmma") != 0;
  Counts n;
  n.fill = launch_fill(gpu_, kernel);
  n.steps = fact(kernel, "steps_of_busiest_cta");
  n.average_steps = work.steps;
  const SmWork units = sm_work(gpu_, kernel, n.fill, probed_, group);
  n.work_s = std::hypot(units.issue_s, units.shared_s, units.tensor_s);
  if (group) {
    n.group_s = units.tensor_s;
  } else {
    n.instructions = work.warp_instructions / work.steps / n.fill.warps_per_cta;
  }
  n.loads_in_flight = work.loads_in_flight;
  n.dram_bytes = traffic.dram_read_bytes + traffic.dram_write_bytes;
  n.l2_bytes = traffic.read_bytes + traffic.write_bytes;
  const double sharing = fact(kernel, "ctas_of_a_tile");
  if (fact(kernel, "shared_tiles") > 0) {
    constexpr double kSumBytes = 4;
    // Of two CTAs only the earlier one leaves its sums.
    const double left = sharing > 2 ? sharing : 1;
    n.fixup_bytes = left * kSumBytes * static_cast<double>(parameters.at("block_m")) *
                    static_cast<double>(parameters.at("block_n"));
  }
  return std::make_unique<Point>(n);
}

}  // namespace smtwin
