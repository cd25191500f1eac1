// SPDX-License-Identifier: Apache-2.0
#include "model/families/own_kernels/sparse_mla_time.hpp"

#include <algorithm>

#include "arch/units.hpp"
#include "kernels/sparse_mla_decode/config.hpp"
#include "kernels/sparse_mla_decode/descriptor.hpp"
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
        head_s(v[2]),
        step_s(v[3]),
        instruction_s(v[4]),
        work_factor(v[5]),
        read_s(v[6]),
        copy_s(v[7]),
        dram_bytes_per_s(v[8]),
        l2_bytes_per_s(v[9]),
        combine_s(v[10]),
        combine_bytes_per_s(v[11]) {}
  double launch_s, cta_s, head_s, step_s, instruction_s, work_factor, read_s, copy_s,
      dram_bytes_per_s, l2_bytes_per_s, combine_s, combine_bytes_per_s;
};

std::vector<ConstantSpec> specs(const ProbedGpu& p) {
  const double clock_s = 1 / p.sm_clock_hz.value;
  const double dram_s = p.dram_latency_s.value;
  return {
      launch_time_spec(p),
      removable(own_constant("cta_time", "s", "index, row, first tile, and the output's way",
                             5 * dram_s, 0.5),
                0),
      removable(own_constant("head_time", "s", "Q and output of a head", 20 * clock_s, 1.0, 100),
                0),
      removable(own_constant("step_time", "s", "waits of a tile: barriers, softmax reductions",
                             600 * clock_s, 0.7),
                0),
      removable(own_constant("instruction_time", "s", "an instruction of a compute warp's chain",
                             4 * clock_s, 0.5),
                0),
      removable(own_constant("work_factor", "1", "busy units of an SM, added", 1, 0.3), 0),
      removable(own_constant("read_latency", "s", "rows of a tile, nothing else in flight",
                             1.5 * dram_s, 0.5),
                0),
      removable(
          own_constant("copy_time", "s", "copying a token by one producer warp", 40 * clock_s, 0.5),
          0),
      own_dram_rate_spec(p),
      removable(own_constant("kernel_l2_rate", "B/s", "L2 read rate of gathered rows",
                             p.l2_read_bytes_per_s.value, 0.3, 8),
                kNoRate),
      removable(own_constant("combine_time", "s", "launch and chain of the combine kernel",
                             p.launch_s.value, 0.4),
                0),
      removable(own_constant("combine_rate", "B/s", "partial outputs through the combine kernel",
                             0.5 * p.l2_read_bytes_per_s.value, 0.7),
                kNoRate),
  };
}

// What the constants multiply.
struct Counts {
  LaunchFill fill;
  double steps = 0;          // of the longest CTA
  double average_steps = 0;  // of a CTA
  double instructions = 0;   // of a compute warp in a step
  double work_s = 0;         // of a step
  double copied_tokens = 0;  // of a producer warp in a step
  double loads_in_flight = 0;
  double heads = 0;  // of a CTA, all passes
  double miss = 1;   // share of a tile's rows that no other head group asked for before
  double dram_bytes = 0;
  double l2_bytes = 0;
  double combine_bytes = 0;  // 0: it does not run
};

class Point final : public OwnKernelPoint {
 public:
  explicit Point(const Counts& counts) : n_(counts) {}

  double seconds(std::span<const double> values) const override {
    const Constants c(values);
    return c.launch_s + loop_s(c) + cta_s(c) + combine_s(c);
  }

  TimeParts parts(std::span<const double> values) const override {
    const Constants c(values);
    TimeParts p;
    p.seconds = seconds(values);
    p[Regime::launch] = c.launch_s + cta_s(c) + combine_s(c);
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
    s.issue_s = c.copy_s * n_.copied_tokens;
    s.chain_s = c.step_s + c.instruction_s * n_.instructions;
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
  double cta_s(const Constants& c) const {
    return n_.fill.rounds * (c.cta_s + c.head_s * n_.heads);
  }
  double combine_s(const Constants& c) const {
    return n_.combine_bytes > 0 ? c.combine_s + n_.combine_bytes / c.combine_bytes_per_s : 0;
  }

  Counts n_;
};

}  // namespace

SparseMlaModel::SparseMlaModel(const GpuSpec& gpu, const ProbedGpu& probed)
    : OwnKernelModel(specs(probed)), gpu_(gpu), probed_(probed) {}

std::unique_ptr<const OwnKernelPoint> SparseMlaModel::point(const KernelInstance& kernel,
                                                            const Parameters& parameters,
                                                            L2State l2) const {
  const SparseMlaTile tile = sparse_mla_tile(parameters, gpu_.sm.shared_bytes_per_cta_optin);
  const CtaWork& work = kernel.work;
  const MemoryTraffic traffic = memory_traffic(gpu_, kernel, {.l2 = l2});
  Counts n;
  n.fill = launch_fill(gpu_, kernel);
  n.steps = work.steps;
  const double tiles = static_cast<double>(
      ceil_div<std::int64_t>(parameters.at("topk"), std::int64_t{tile.block_t}));
  n.average_steps = sparse_mla_head_passes(tile) * tiles / static_cast<double>(kernel.grid.z);
  n.work_s = sm_work(gpu_, kernel, n.fill, probed_, false).sum_s();
  const double producers = sparse_mla_producer_warps(tile);
  n.instructions = work.warp_instructions / work.steps / tile.num_warps;
  n.copied_tokens = tile.block_t / producers;
  n.loads_in_flight = work.loads_in_flight;
  n.heads = sparse_mla_pass_heads(tile) * sparse_mla_head_passes(tile);
  n.miss = traffic.dram_read_bytes / traffic.read_bytes;
  n.dram_bytes = traffic.dram_read_bytes + traffic.dram_write_bytes;
  n.l2_bytes = traffic.read_bytes + traffic.write_bytes;
  n.combine_bytes = fact(kernel, "combine_bytes");
  return std::make_unique<Point>(n);
}

}  // namespace smtwin
