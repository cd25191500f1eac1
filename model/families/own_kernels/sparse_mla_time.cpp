// SPDX-License-Identifier: Apache-2.0
#include "model/families/own_kernels/sparse_mla_time.hpp"

#include <algorithm>

#include "arch/units.hpp"
#include "kernels/compiled_table.hpp"
#include "kernels/sparse_mla_decode/config.hpp"
#include "kernels/sparse_mla_decode/launch_plan.hpp"
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
        spill_s(v[5]),
        serial_factor(v[6]),
        work_factor(v[7]),
        read_s(v[8]),
        dram_bytes_per_s(v[9]),
        l2_bytes_per_s(v[10]),
        join_s(v[11]),
        combine_s(v[12]),
        combine_split_s(v[13]) {}
  double launch_s, cta_s, head_s, step_s, instruction_s, spill_s, serial_factor, work_factor,
      read_s, dram_bytes_per_s, l2_bytes_per_s, join_s, combine_s, combine_split_s;
};

std::vector<ConstantSpec> specs(const ProbedGpu& p) {
  const double clock_s = 1 / p.sm_clock_hz.value;
  const double dram_s = p.dram_latency_s.value;
  const double l2_s = p.l2_latency_s.value;
  return {
      launch_time_spec(p),
      removable(constant_spec("cta_time", "s", "index, row, first tile, and the output's way",
                              3 * dram_s, 0.4),
                0),
      removable(constant_spec("head_time", "s", "Q and output of a head", 150 * clock_s, 0.5), 0),
      removable(constant_spec("step_time", "s", "waits of a tile: barriers, softmax reductions",
                              800 * clock_s, 0.5),
                0),
      removable(constant_spec("instruction_time", "s", "latency of a compute warp's instruction",
                              2 * clock_s, 0.7),
                0),
      removable(constant_spec("spill_time", "s", "a spilled load or store in the chain",
                              8 * clock_s, 0.7),
                0),
      removable(
          constant_spec("serial_factor", "1", "growth of a tile's chain with one stage", 0.4, 0.5),
          0),
      removable(constant_spec("work_factor", "1", "busy units of an SM, added", 0.5, 0.3), 0),
      removable(constant_spec("read_latency", "s", "rows of a tile, nothing else in flight",
                              1.3 * dram_s, 0.4),
                0),
      own_dram_rate_spec(p),
      removable(
          constant_spec("kernel_l2_rate", "B/s", "L2 rate of gathered rows and partial outputs",
                        0.5 * p.l2_read_bytes_per_s.value, 0.2, 8),
          kNoRate),
      removable(constant_spec("join_time", "s", "two splits join in a cluster", 3 * dram_s, 0.6),
                0),
      removable(constant_spec("combine_time", "s", "launch and first loads of the combine kernel",
                              3 * dram_s, 0.6),
                0),
      removable(constant_spec("combine_split_time", "s", "a split in the combine kernel's loop",
                              0.5 * l2_s, 0.6),
                0),
  };
}

// What the constants multiply.
struct Counts {
  LaunchFill fill;
  LoopSteps steps;
  double instructions = 0;  // of a compute warp in a step
  double spills = 0;        // in its code
  double barrier = 1;       // waits of a tile, in those of four warps
  double units_s = 0;       // busy units of the SM in a step
  double loads_in_flight = 0;
  double heads = 0;  // of a CTA, all passes that run
  double miss = 1;   // share of the asked bytes that come from DRAM
  double dram_bytes = 0;
  double l2_bytes = 0;
  double combined_splits = 0;  // 0: the combine kernel does not run
  double combine_bytes = 0;
  bool joined = false;
};

class Point final : public OwnKernelPoint {
 public:
  explicit Point(const Counts& counts) : n_(counts) {}

  double seconds(std::span<const double> values) const override {
    const Constants c(values);
    return c.launch_s + loop_s(c) + ctas_s(c) + join_s(c);
  }

  TimeParts parts(std::span<const double> values) const override {
    const Constants c(values);
    const PipelineStep s = step(c);
    TimeParts p;
    p.seconds = seconds(values);
    p[Regime::launch] = c.launch_s + ctas_s(c) + join_s(c);
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
    s.memory_norm = norm3;  // rows come one by one, in no order: a softer corner
    s.loads_in_flight = n_.loads_in_flight;
    s.latency_s = c.read_s * n_.miss;
    s.work_s = c.work_factor * n_.units_s;
    s.chain_s = c.step_s * n_.barrier + s.work_s + c.instruction_s * n_.instructions +
                c.spill_s * n_.spills;
    if (n_.loads_in_flight <= 0) s.chain_s *= 1 + c.serial_factor;
    return s;
  }
  double loop_s(const Constants& c) const {
    const double memory_s =
        norm4(n_.dram_bytes / c.dram_bytes_per_s, n_.l2_bytes / c.l2_bytes_per_s);
    return loop_seconds(n_.fill, n_.steps, step(c), memory_s);
  }
  double ctas_s(const Constants& c) const {
    // The CTAs of the first round begin together; a later one begins beside others that compute.
    const double heads_s = c.head_s * n_.heads;
    const double rounds = n_.fill.full.count + n_.fill.tail.count;
    const double later_s = (c.cta_s + heads_s) / n_.fill.together;
    return c.cta_s + heads_s * n_.fill.together + (rounds - 1) * later_s;
  }
  double join_s(const Constants& c) const {
    if (n_.joined) return c.join_s;
    if (n_.combined_splits <= 0) return 0;
    return c.combine_s + c.combine_split_s * n_.combined_splits +
           n_.combine_bytes / c.l2_bytes_per_s;
  }

  Counts n_;
};

// Spilled loads and stores in the code of a variant; 0 where no table knows.
double spills(const GpuSpec& gpu, const KernelInstance& kernel) {
  const CompiledVariant* compiled =
      compiled_table(kernel.kernel).find(kernel.config, gpu.compute_capability);
  return compiled == nullptr ? 0 : compiled->spill_loads + compiled->spill_stores;
}

// Where sums and Q fill the registers (by design or, as spills tell, by the compiler), little is
// left to overlap a warp's instructions with: their latency is this much longer. Held, not fitted:
// set on the variants of 128 sums a lane on an H200, 8 to 14 % too fast without it.
constexpr double kFullRegisters = 1.5;

// A barrier waits for the last of its warps, and a softmax adds the partial scores of all of them:
// eight warps wait this much longer a tile than four. Held, not fitted: without it eight warps of
// 16 heads come out 6 % faster than four where an H200 has them 3 to 5 % slower.
constexpr double kWaitsOfEightWarps = 1.3;

// A CTA of fewer real heads than BLOCK_H leaves out passes without any.
double passes_that_run(const SparseMlaTile& tile, std::int64_t heads) {
  const std::int64_t of_cta = std::min<std::int64_t>(heads, tile.block_h);
  return static_cast<double>(
      ceil_div<std::int64_t>(of_cta, std::int64_t{sparse_mla_pass_heads(tile)}));
}

}  // namespace

SparseMlaModel::SparseMlaModel(const GpuSpec& gpu, const ProbedGpu& probed)
    : OwnKernelModel(specs(probed)), gpu_(gpu), probed_(probed) {}

std::unique_ptr<const OwnKernelPoint> SparseMlaModel::point(const KernelInstance& kernel,
                                                            const Parameters& parameters,
                                                            L2State l2) const {
  const SparseMlaTile tile = sparse_mla_tile(parameters, gpu_.sm.shared_bytes_per_cta_optin,
                                             require(gpu_, gpu_.sm_count, "sm_count"));
  const CtaWork& work = kernel.work;
  const MemoryTraffic traffic = memory_traffic(gpu_, kernel, {.l2 = l2});
  const double passes = passes_that_run(tile, parameters.at("heads"));
  const double share = passes / sparse_mla_head_passes(tile);
  const double splits = static_cast<double>(kernel.grid.z);
  const double tiles = static_cast<double>(
      ceil_div<std::int64_t>(parameters.at("topk"), std::int64_t{tile.block_t}));
  Counts n;
  n.fill = launch_fill(gpu_, kernel);
  n.steps = {.longest = work.steps * share, .average = passes * tiles / splits};
  n.spills = spills(gpu_, kernel);
  n.instructions = work.warp_instructions / work.steps / tile.num_warps;
  if (sparse_mla_moves_registers(tile) || n.spills > 0) n.instructions *= kFullRegisters;
  if (tile.num_warps > 4) n.barrier = kWaitsOfEightWarps;
  n.units_s = sm_work(gpu_, kernel, n.fill, probed_, false).sum_s();
  n.loads_in_flight = work.loads_in_flight;
  // Registers of missing heads are prepared; their Q and output are neither read nor written.
  const double padded = sparse_mla_pass_heads(tile) * passes;
  n.heads = (padded + std::min(padded, static_cast<double>(parameters.at("heads")))) / 2;
  n.miss = traffic.dram_read_bytes / traffic.read_bytes;
  n.dram_bytes = traffic.dram_read_bytes + traffic.dram_write_bytes;
  n.l2_bytes = (traffic.read_bytes + traffic.write_bytes) * share;
  n.steps.tile_share =
      std::min(1.0, n.fill.ctas * n.steps.average * work.step_read_bytes / n.l2_bytes);
  n.joined = fact(kernel, "joined") > 0;
  n.combine_bytes = fact(kernel, "combine_bytes");
  if (n.combine_bytes > 0) n.combined_splits = splits;
  return std::make_unique<Point>(n);
}

}  // namespace smtwin
