// SPDX-License-Identifier: Apache-2.0
#include "model/families/own_kernels/dense_gemm_time.hpp"

#include <algorithm>
#include <cmath>

#include "arch/units.hpp"
#include "model/families/own_kernels/launch_fill.hpp"
#include "model/families/own_kernels/own_constants.hpp"
#include "model/families/own_kernels/pipelined_cta.hpp"
#include "model/families/own_kernels/sm_work.hpp"
#include "model/families/own_kernels/weight_passes.hpp"
#include "model/kernel_time.hpp"
#include "model/timing/constant_specs.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {
namespace {

// In the order of the specs below.
struct Constants {
  explicit Constants(std::span<const double> v)
      : launch_s(v[0]),
        cta_s(v[1]),
        step_s(v[2]),
        instruction_s(v[3]),
        work_factor(v[4]),
        group_factor(v[5]),
        read_s(v[6]),
        dram_bytes_per_s(v[7]),
        l2_bytes_per_s(v[8]),
        fixup_s(v[9]),
        fixup_bytes_per_s(v[10]) {}
  double launch_s, cta_s, step_s, instruction_s, work_factor, group_factor, read_s,
      dram_bytes_per_s, l2_bytes_per_s, fixup_s, fixup_bytes_per_s;
};

std::vector<ConstantSpec> specs(const ProbedGpu& p) {
  const double clock_s = 1 / p.sm_clock_hz.value;
  const double dram_s = p.dram_latency_s.value;
  return {
      launch_time_spec(p),
      removable(constant_spec("cta_time", "s", "first tiles and the output's way", 4 * dram_s, 0.5),
                0),
      removable(constant_spec("step_time", "s", "wait and barrier of a step", 100 * clock_s, 0.7),
                0),
      removable(constant_spec("instruction_time", "s", "latency of a warp's instruction",
                              0.5 * clock_s, 0.7),
                0),
      removable(constant_spec("work_factor", "1", "busy units of an SM, mma.sync", 1, 0.3), 0),
      removable(constant_spec("group_factor", "1", "busy units of an SM, wgmma", 0.5, 0.5), 0),
      removable(constant_spec("read_latency", "s", "operands of a step, nothing else in flight",
                              1.5 * dram_s, 0.5),
                0),
      own_dram_rate_spec(p),
      removable(constant_spec("kernel_l2_rate", "B/s", "L2 read rate of operand tiles",
                              p.l2_read_bytes_per_s.value, 0.3, 8),
                kNoRate),
      removable(constant_spec("fixup_time", "s", "last CTA of a shared tile: flag and first sums",
                              3 * dram_s, 0.6),
                0),
      removable(constant_spec("fixup_rate", "B/s", "sums that one warp adds", 16 / clock_s, 0.7),
                kNoRate),
  };
}

// What the constants multiply.
struct Counts {
  LaunchFill fill;
  LoopSteps steps;
  double instructions = 0;  // of a warp in a step; 0: wgmma
  double units_s = 0;       // busy units of the SM in a step
  bool group = false;       // wgmma
  double loads_in_flight = 0;
  double dram_bytes = 0;
  double l2_bytes = 0;
  double fixups = 0;       // that a CTA may have to make, one after the other
  double fixup_bytes = 0;  // that a warp of the last CTA of a tile adds; 0: no tile is shared
};

class Point final : public OwnKernelPoint {
 public:
  explicit Point(const Counts& counts) : n_(counts) {}

  double seconds(std::span<const double> values) const override {
    const Constants c(values);
    return c.launch_s + loop_s(c) + ctas_s(c);
  }

  TimeParts parts(std::span<const double> values) const override {
    const Constants c(values);
    const PipelineStep s = step(c);
    TimeParts p;
    p.seconds = seconds(values);
    p[Regime::launch] = c.launch_s + ctas_s(c);
    p[Regime::latency] = n_.fill.rounds * n_.steps.longest * step_seconds(s);
    p[Regime::compute] = n_.fill.busiest * n_.steps.average * s.work_s;
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
    s.loads_in_flight = n_.loads_in_flight;
    s.work_s = (n_.group ? c.group_factor : c.work_factor) * n_.units_s;
    s.chain_s = c.step_s + s.work_s + c.instruction_s * n_.instructions;
    return s;
  }
  double loop_s(const Constants& c) const {
    const double memory_s =
        norm4(n_.dram_bytes / c.dram_bytes_per_s, n_.l2_bytes / c.l2_bytes_per_s);
    return loop_seconds(n_.fill, n_.steps, step(c), memory_s);
  }
  double ctas_s(const Constants& c) const {
    const double fixup_s =
        n_.fixup_bytes > 0 ? n_.fixups * (c.fixup_s + n_.fixup_bytes / c.fixup_bytes_per_s) : 0;
    return n_.fill.rounds * c.cta_s + fixup_s;
  }

  Counts n_;
};

// Tiles that one CTA has pieces of, the CTA with the most of them.
double most_pieces(std::int64_t tiles, std::int64_t k_steps, std::int64_t ctas) {
  const std::int64_t total = tiles * k_steps;
  std::int64_t most = 1;
  for (std::int64_t cta = 0; cta < ctas; ++cta) {
    const std::int64_t first = cta * total / ctas / k_steps;
    const std::int64_t last = ((cta + 1) * total / ctas - 1) / k_steps;
    most = std::max(most, last - first + 1);
  }
  return static_cast<double>(most);
}

// Of the weights, that DRAM delivers once more because tiles of a column read them at different
// times.
double repeated_weight_bytes(const GpuSpec& gpu, const KernelInstance& kernel,
                             const Parameters& parameters, const LaunchFill& fill) {
  const std::int64_t tiles_m = ceil_div(parameters.at("m"), parameters.at("block_m"));
  const SharedWeights weights{.tiles = static_cast<std::int64_t>(fact(kernel, "tiles")),
                              .tiles_m = tiles_m,
                              .k_steps = static_cast<std::int64_t>(fact(kernel, "k_steps")),
                              .ctas = static_cast<std::int64_t>(fill.ctas),
                              .slots = static_cast<std::int64_t>(fill.resident * fill.sm_count),
                              .bytes_per_step = kernel.work.step_read_bytes};
  // unique_read_bytes are (m + n) k elements.
  const auto m = static_cast<double>(parameters.at("m"));
  const auto n = static_cast<double>(parameters.at("n"));
  const double weight_bytes = kernel.unique_read_bytes * n / (m + n);
  return weight_bytes * (weight_passes(weights, l2_residency(timing_gpu(gpu))) - 1);
}

}  // namespace

DenseGemmModel::DenseGemmModel(const GpuSpec& gpu, const ProbedGpu& probed)
    : OwnKernelModel(specs(probed)), gpu_(gpu), probed_(probed) {}

std::unique_ptr<const OwnKernelPoint> DenseGemmModel::point(const KernelInstance& kernel,
                                                            const Parameters& parameters,
                                                            L2State l2) const {
  const CtaWork& work = kernel.work;
  const MemoryTraffic traffic = memory_traffic(gpu_, kernel, {.l2 = L2State::cold});
  // What repeated calls find in the L2: Hopper's halves keep copies, so less than fits.
  const double found =
      l2 == L2State::warm ? l2_residency(timing_gpu(gpu_)).hit(kernel.unique_read_bytes) : 0;
  Counts n;
  n.fill = launch_fill(gpu_, kernel);
  n.steps = {.longest = fact(kernel, "steps_of_busiest_cta"), .average = work.steps};
  n.group = parameters.at("wgmma") != 0;
  const SmWork units = sm_work(gpu_, kernel, n.fill, probed_, n.group);
  n.units_s = std::hypot(units.issue_s, units.shared_s, units.tensor_s);
  if (!n.group) n.instructions = work.warp_instructions / work.steps / n.fill.warps_per_cta;
  n.loads_in_flight = work.loads_in_flight;
  n.dram_bytes = (1 - found) * traffic.dram_read_bytes + traffic.dram_write_bytes +
                 repeated_weight_bytes(gpu_, kernel, parameters, n.fill);
  n.l2_bytes = traffic.read_bytes + traffic.write_bytes;
  n.steps.tile_share = std::min(1.0, n.fill.ctas * work.steps * work.step_read_bytes / n.l2_bytes);
  const double sharing = fact(kernel, "ctas_of_a_tile");
  if (fact(kernel, "shared_tiles") > 0) {
    constexpr double kSumBytes = 4;
    // Of two CTAs only the earlier one leaves its sums.
    const double left = sharing > 2 ? sharing : 1;
    n.fixups = sharing > 2 ? most_pieces(static_cast<std::int64_t>(fact(kernel, "tiles")),
                                         static_cast<std::int64_t>(fact(kernel, "k_steps")),
                                         static_cast<std::int64_t>(n.fill.ctas))
                           : 1;
    n.fixup_bytes = left * kSumBytes * static_cast<double>(parameters.at("block_m")) *
                    static_cast<double>(parameters.at("block_n")) / n.fill.warps_per_cta;
  }
  return std::make_unique<Point>(n);
}

}  // namespace smtwin
