// SPDX-License-Identifier: Apache-2.0
#include "model/families/own_kernels/triton_sparse_time.hpp"

#include <algorithm>
#include <cmath>

#include "model/families/own_kernels/launch_fill.hpp"
#include "model/families/own_kernels/own_constants.hpp"
#include "model/families/own_kernels/pipelined_cta.hpp"
#include "model/families/own_kernels/triton_sparse_work.hpp"
#include "model/kernel_time.hpp"
#include "model/timing/constant_specs.hpp"
#include "model/timing/norms.hpp"

namespace smtwin {
namespace {

// In the order of the specs below.
struct Constants {
  explicit Constants(std::span<const double> v)
      : launch_s(v[0]),
        cta_s(v[1]),
        accumulator_s(v[2]),
        crowding(v[3]),
        tile_s(v[4]),
        miss_s(v[5]),
        instruction_s(v[6]),
        score_s(v[7]),
        value_s(v[8]),
        spill_s(v[9]),
        dram_bytes_per_s(v[10]) {}
  double launch_s, cta_s, accumulator_s, crowding, tile_s, miss_s, instruction_s, score_s, value_s,
      spill_s, dram_bytes_per_s;
};

std::vector<ConstantSpec> specs(const ProbedGpu& p) {
  const double clock_s = 1 / p.sm_clock_hz.value;
  const double dram_s = p.dram_latency_s.value;
  // An index, then the row it names: two loads, one after the other.
  const double miss_s = 2 * std::max(dram_s - p.l2_latency_s.value, 0.1 * dram_s);
  return {
      launch_time_spec(p),
      removable(constant_spec("cta_time", "s", "start and end of a CTA's work", 6 * dram_s, 0.5),
                0),
      removable(constant_spec("accumulator_time", "s", "start and end, an accumulator of a lane",
                              30 * clock_s, 0.7),
                0),
      removable(constant_spec("crowding", "1", "growth of that with each CTA beside it", 1.0, 0.7),
                0),
      removable(constant_spec("tile_time", "s", "waits of a tile: gather, barriers, reductions",
                              3 * dram_s, 0.7),
                0),
      removable(constant_spec("miss_time", "s", "more where rows come from DRAM", miss_s, 0.7), 0),
      removable(constant_spec("instruction_time", "s", "an instruction of a warp in its chain",
                              clock_s, 0.5),
                0),
      removable(constant_spec("score_time", "s", "a score multiply in the chain, operands included",
                              33 * clock_s, 0.7),
                0),
      removable(constant_spec("value_time", "s", "a value multiply in the chain, operands included",
                              100 * clock_s, 0.7),
                0),
      removable(constant_spec("spill_time", "s/B", "a spilled byte of a lane in the chain",
                              2 * clock_s, 0.7),
                0),
      own_dram_rate_spec(p),
  };
}

class Point final : public OwnKernelPoint {
 public:
  Point(const LaunchFill& fill, const TritonSparseWarpWork& warp, double tiles, double unique_share,
        double dram_bytes, double issue_s)
      : fill_(fill),
        warp_(warp),
        tiles_(tiles),
        unique_share_(unique_share),
        dram_bytes_(dram_bytes),
        issue_s_(issue_s) {}

  double seconds(std::span<const double> values) const override {
    const Constants c(values);
    return c.launch_s + norm3(loop_s(c) + ctas_s(c), dram_bytes_ / c.dram_bytes_per_s);
  }

  TimeParts parts(std::span<const double> values) const override {
    const Constants c(values);
    TimeParts p;
    p.seconds = seconds(values);
    p[Regime::launch] = c.launch_s + ctas_s(c);
    p[Regime::latency] = fill_.rounds * tiles_ * chain_s(c);
    p[Regime::compute] = issue_s_;
    p[Regime::dram] = dram_bytes_ / c.dram_bytes_per_s;
    return p;
  }

  LoopTime loop(std::span<const double> values) const override {
    const Constants c(values);
    return loop_time(fill_, loop_s(c), seconds(values));
  }

 private:
  double chain_s(const Constants& c) const {
    return c.tile_s + c.miss_s * unique_share_ + c.instruction_s * warp_.instructions +
           c.score_s * warp_.score_multiplies + c.value_s * warp_.value_multiplies +
           c.spill_s * warp_.spilled_bytes;
  }
  double loop_s(const Constants& c) const {
    return norm4(fill_.rounds * tiles_ * chain_s(c), issue_s_);
  }
  double ctas_s(const Constants& c) const {
    const double crowd = 1 + c.crowding * (fill_.together - 1);
    return fill_.rounds * (c.cta_s + c.accumulator_s * warp_.accumulators * crowd);
  }

  LaunchFill fill_;
  TritonSparseWarpWork warp_;
  double tiles_ = 0;
  double unique_share_ = 1;
  double dram_bytes_ = 0;
  double issue_s_ = 0;
};

}  // namespace

TritonSparseModel::TritonSparseModel(const GpuSpec& gpu, const ProbedGpu& probed)
    : OwnKernelModel(specs(probed)), gpu_(gpu) {}

std::unique_ptr<const OwnKernelPoint> TritonSparseModel::point(const KernelInstance& kernel,
                                                               const Parameters& parameters,
                                                               L2State l2) const {
  const LaunchFill fill = launch_fill(gpu_, kernel);
  const std::int64_t warps = parameters.at("num_warps");
  // block_h 0 means the descriptor's rule, whose outcome is a fact of the instance.
  const auto block_h = std::find_if(kernel.facts.begin(), kernel.facts.end(),
                                    [](const Fact& f) { return f.name == "block_h"; });
  const TritonSparseWarpWork warp =
      triton_sparse_warp_work({.block_h = static_cast<std::int64_t>(block_h->value),
                               .block_t = parameters.at("block_t"),
                               .num_warps = warps});
  const MemoryTraffic traffic = memory_traffic(gpu_, kernel, {.l2 = l2});
  const double slots =
      require(gpu_, gpu_.rates.warp_instructions_per_cycle, "rates.warp_instructions_per_cycle") *
      require(gpu_, gpu_.sm_clock_hz, "sm_clock_hz");
  const double tiles = kernel.work.steps;
  const double issued = warp.instructions * static_cast<double>(warps) * tiles;
  return std::make_unique<Point>(fill, warp, tiles, traffic.dram_read_bytes / traffic.read_bytes,
                                 traffic.dram_read_bytes + traffic.dram_write_bytes,
                                 fill.busiest * issued / slots);
}

}  // namespace smtwin
