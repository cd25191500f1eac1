// SPDX-License-Identifier: Apache-2.0
#include "model/families/gemm/gemm_constants.hpp"

namespace smtwin {
namespace {

// Priors that several implementations share. Rates are counted in bytes per clock and SM, times in
// memory latencies, so that one number serves both GPUs where the chips allow it.
struct ChipCounts {
  double tensor_share;           // of the datasheet's peak that a full wave sustains
  double l2_bytes_per_clock;     // per SM; Hopper multicasts operands inside clusters
  double sm_l2_bytes_per_clock;  // one SM alone
};

double peak_flops_per_s(const GemmImplementation& g, const TimingGpu& gpu) {
  switch (g.dtype) {
    case GemmDtype::bf16:
      return gpu.bf16_flops_per_s;
    case GemmDtype::fp8:
    case GemmDtype::fp8_block:
      return gpu.fp8_flops_per_s;
    case GemmDtype::nvfp4:
      return gpu.nvfp4_flops_per_s;
  }
  return gpu.bf16_flops_per_s;
}

ChipCounts chip_counts(const GemmImplementation& g, const TimingGpu& gpu) {
  const bool block = g.dtype == GemmDtype::fp8_block;
  if (gpu.hopper()) {
    const double share = block ? 0.7 : g.dtype == GemmDtype::bf16 ? 0.85 : 0.8;
    return {share, 64, 110};
  }
  return {block ? 0.85 : 1.0, 16, 26};
}

ConstantSpec spec(std::string name, std::string unit, std::string meaning, double prior,
                  double log_sigma, double range = 30) {
  ConstantSpec s;
  s.name = std::move(name);
  s.unit = std::move(unit);
  s.meaning = std::move(meaning);
  s.prior = prior;
  s.log_sigma = log_sigma;
  s.low = prior / range;
  s.high = prior * range;
  return s;
}

ConstantSpec removable(ConstantSpec s, double off) {
  s.off = off;
  return s;
}

constexpr double kNoLimit = 1e30;

double operation_prior_s(const GemmImplementation& g, const TimingGpu& gpu) {
  if (g.quantizes()) {
    const bool scale_first = g.framework == ServingFramework::trtllm && g.dtype == GemmDtype::fp8;
    return scale_first && !g.batched ? 8.7e-6 : 3.3e-6;
  }
  return gpu.hopper() ? 2.5e-6 : 1.0e-6;
}

double quant_row_prior_s(const GemmImplementation& g, const TimingGpu& gpu) {
  if (g.framework == ServingFramework::vllm && g.dtype == GemmDtype::fp8) return 5e-9;
  const bool blocks = g.dtype == GemmDtype::fp8_block || g.batched;
  if (g.framework == ServingFramework::trtllm && blocks && gpu.sm120()) return 20e-9;
  return 0.5e-9;
}

double host_prior_s(const GemmImplementation& g) {
  if (g.library.rfind("CUTLASS", 0) == 0) return 170e-6;
  return g.library == "DeepGEMM" ? 85e-6 : 58e-6;
}

}  // namespace

void GemmConstantList::add(double GemmConstants::*member, ConstantSpec s) {
  members_.push_back(member);
  specs_.push_back(std::move(s));
}

GemmConstantList::GemmConstantList(const GemmImplementation& g, const TimingGpu& gpu) {
  using C = GemmConstants;
  const ChipCounts chip = chip_counts(g, gpu);
  const double chip_clock = gpu.sm_count * gpu.clock_hz;
  const bool searches = g.rule == nullptr;

  ConstantSpec dram =
      spec("dram_rate", "B/s", "DRAM read rate of a full grid", gpu.dram_read_bytes_per_s, 0.05);
  dram.low = 0.7 * gpu.dram_bytes_per_s;
  dram.high = 1.05 * gpu.dram_bytes_per_s;
  dram.of_gpu = true;
  add(&C::dram_bytes_per_s, dram);

  add(&C::op_s, removable(spec("op_time", "s", "launch gap, prologue and drain of the operation",
                               operation_prior_s(g, gpu), 0.4),
                          0));
  add(&C::tensor_flops_per_s,
      spec("tensor_rate", "flop/s", "tensor rate of the chip on padded tiles",
           chip.tensor_share * peak_flops_per_s(g, gpu), 0.15, 2));
  if (g.step_latency) {
    // One L2 round trip a step; a bf16 step holds 64 elements.
    const double per_128 = gpu.l2_latency_s * (g.dtype == GemmDtype::bf16 ? 2 : 1);
    add(&C::step_s, removable(spec("step_time", "s", "shortest time of 128 elements of K in a CTA",
                                   per_128, 0.7),
                              0));
    if (g.cold_step_latency) {
      add(&C::cold_step_s,
          removable(spec("cold_step_time", "s", "the same when the operands come from DRAM",
                         1.3 * per_128, 0.7),
                    0));
    }
  }
  if (g.loaded_step_latency) {
    add(&C::loaded_step_s,
        removable(spec("loaded_step_time", "s", "the same when more than a tenth of the SMs work",
                       3 * gpu.l2_latency_s, 0.5),
                  0));
  }
  add(&C::tile_s, removable(spec("tile_time", "s", "prologue and epilogue of a tile",
                                 (searches ? 0.6 : 3.0) * gpu.dram_latency_s, 0.8),
                            0));
  add(&C::l2_bytes_per_s, removable(spec("l2_rate", "B/s", "L2 to all SMs",
                                         chip.l2_bytes_per_clock * chip_clock, 0.4, 8),
                                    kNoLimit));
  if (g.sm_l2_rate) {
    add(&C::sm_l2_bytes_per_s, removable(spec("sm_l2_rate", "B/s", "L2 to one SM",
                                              chip.sm_l2_bytes_per_clock * gpu.clock_hz, 0.4),
                                         kNoLimit));
  }
  if (g.output_rate) {
    add(&C::output_bytes_per_s,
        removable(spec("output_rate", "B/s", "exposed output writes", 16 * chip_clock, 0.8),
                  kNoLimit));
  }
  if (g.slow_large_tiles) {
    add(&C::large_tile_factor,
        removable(spec("large_tile_factor", "1",
                       "slowdown of tiles of 128x192 outputs or more outside clusters", 2, 0.3),
                  1));
  }
  if (g.split_k) {
    add(&C::split_s,
        removable(spec("split_time", "s", "start of the reduction over K splits", 2.5e-6, 0.5), 0));
  }
  if (g.power_limit) {
    add(&C::power_loss,
        removable(spec("power_loss", "1", "loss of clock under sustained power", 0.08, 1.0), 0));
  }
  if (g.padded_rows) {
    add(&C::padded_rows_per_s,
        removable(spec("padded_row_rate", "row/s", "rows beyond M, once per K step", 14e9, 0.4),
                  kNoLimit));
  }
  if (g.quantizes()) {
    add(&C::quant_bytes_per_s,
        removable(spec("quant_rate", "B/s", "activation quantization, bytes read and written",
                       2.5e12, 0.7),
                  kNoLimit));
    add(&C::quant_row_s, removable(spec("quant_row_time", "s/row", "activation quantization, a row",
                                        quant_row_prior_s(g, gpu), 1.2, 100),
                                   0));
  }
  if (g.replay_cost) {
    add(&C::replay_s,
        removable(spec("replay_time", "s", "instrument: cost of one graph replay", 2e-6, 0.7), 0));
  }
  if (g.host_timed) {
    add(&C::host_s, removable(spec("host_time", "s", "instrument: host time without a graph",
                                   host_prior_s(g), 0.4),
                              0));
  }
}

}  // namespace smtwin
