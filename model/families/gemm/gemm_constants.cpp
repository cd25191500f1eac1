// SPDX-License-Identifier: Apache-2.0
#include "model/families/gemm/gemm_constants.hpp"

#include <utility>

#include "model/timing/constant_specs.hpp"

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
    const double share = block ? 0.7 : g.dtype == GemmDtype::fp8 && g.rule ? 0.92 : 0.85;
    return {share, 64, 110};
  }
  return {block ? 0.85 : 1.0, 16, 26};
}

constexpr double kHopperStepOverlap = 0.6;  // of an L2 round trip that asynchronous MMAs leave

double operation_prior_s(const GemmImplementation& g, const TimingGpu& gpu) {
  if (g.batched) {
    if (g.quantizes()) return gpu.hopper() ? 6.8e-6 : 4.5e-6;
    return gpu.hopper() ? 4.0e-6 : 2.2e-6;
  }
  switch (g.dtype) {
    case GemmDtype::bf16:
      return gpu.hopper() ? 2.6e-6 : 1.5e-6;
    case GemmDtype::fp8:  // TensorRT-LLM finds the scale first
      return g.framework == ServingFramework::trtllm ? 10.5e-6 : 4.4e-6;
    case GemmDtype::fp8_block:
      return 4.0e-6;
    case GemmDtype::nvfp4:
      return 3.3e-6;
  }
  return 3.3e-6;
}

double quant_row_prior_s(const GemmImplementation& g, const TimingGpu& gpu) {
  if (g.framework == ServingFramework::vllm && g.dtype == GemmDtype::fp8) return 5e-9;
  const bool blocks = g.dtype == GemmDtype::fp8_block || g.batched;
  if (g.framework == ServingFramework::trtllm && blocks && gpu.sm120()) return 20e-9;
  return 0.5e-9;
}

double host_prior_s(const GemmImplementation& g) {
  if (g.provider == GemmLibrary::cutlass_block_fp8) return 170e-6;
  return g.provider == GemmLibrary::deepgemm ? 85e-6 : 58e-6;
}

}  // namespace

void GemmConstantList::fit(double GemmConstants::*member, ConstantSpec s) {
  members_.push_back(member);
  specs_.push_back(std::move(s));
}

void GemmConstantList::fit_if(bool fitted, double GemmConstants::*member, ConstantSpec s) {
  held_.*member = s.prior;
  if (fitted) fit(member, std::move(s));
}

GemmConstantList::GemmConstantList(const GemmImplementation& g, const TimingGpu& gpu) {
  using C = GemmConstants;
  const ChipCounts chip = chip_counts(g, gpu);
  const double chip_clock = gpu.sm_count * gpu.clock_hz;
  const bool cublas = g.rule == nullptr;
  const bool hopper = gpu.hopper();
  const bool block = g.dtype == GemmDtype::fp8_block;
  const bool trtllm = g.framework == ServingFramework::trtllm;
  const bool vllm_fp8 = g.framework == ServingFramework::vllm && g.dtype == GemmDtype::fp8;
  const bool row_walk = g.rows_in_turn;
  // Rows timed from the host show little of the kernel.
  const bool visible = !g.host_timed;

  fit(&C::dram_bytes_per_s, dram_rate_spec(gpu));
  fit_if(visible, &C::op_s,
         removable(constant_spec("op_time", "s", "launch gap, prologue and drain of the operation",
                                 operation_prior_s(g, gpu), 0.4),
                   0));
  fit(&C::tensor_flops_per_s,
      constant_spec("tensor_rate", "flop/s", "tensor rate of the chip on padded tiles",
                    chip.tensor_share * peak_flops_per_s(g, gpu), 0.15, 2));
  if (g.step_latency) {
    // One L2 round trip a step; a bf16 step holds 64 elements.
    const double steps = g.dtype == GemmDtype::bf16 ? 2 : 1;
    const double per_128 = gpu.l2_latency_s * steps * (hopper ? kHopperStepOverlap : 1);
    fit_if(visible && !g.batched && (hopper ? true : block || vllm_fp8), &C::step_s,
           removable(constant_spec("step_time", "s", "shortest time of 128 elements of K in a CTA",
                                   per_128, 0.7),
                     0));
    if (g.cold_step_latency) {
      fit(&C::cold_step_s,
          removable(constant_spec("cold_step_time", "s",
                                  "the same when the operands come from DRAM", 1.3 * per_128, 0.7),
                    0));
    }
  }
  if (g.loaded_step_latency) {
    fit_if(visible, &C::loaded_step_s,
           removable(constant_spec("loaded_step_time", "s",
                                   "the same when more than a tenth of the SMs work",
                                   3 * gpu.l2_latency_s, 0.5),
                     0));
  }
  fit_if(
      visible && (g.batched || !cublas), &C::tile_s,
      removable(constant_spec("tile_time", "s", "prologue or epilogue of a tile of 128x128 outputs",
                              (cublas && hopper ? 1.0 : 2.0) * gpu.dram_latency_s, 0.8),
                0));
  fit_if(visible && !(row_walk && g.batched) && (g.batched || !hopper), &C::l2_bytes_per_s,
         removable(constant_spec("l2_rate", "B/s", "L2 to all SMs",
                                 chip.l2_bytes_per_clock * chip_clock, 0.4, 8),
                   kNoRate));
  if (g.sm_l2_rate) {
    fit_if(!hopper && (vllm_fp8 || g.dtype == GemmDtype::bf16), &C::sm_l2_bytes_per_s,
           removable(constant_spec("sm_l2_rate", "B/s", "L2 to one SM",
                                   chip.sm_l2_bytes_per_clock * gpu.clock_hz, 0.4),
                     kNoRate));
  }
  if (cublas && !g.batched) {
    fit(&C::output_bytes_per_s,
        removable(
            constant_spec("output_rate", "B/s", "exposed output writes", 20 * chip_clock, 0.8),
            kNoRate));
  }
  if (g.slow_large_tiles) {
    fit(&C::large_tile_factor,
        removable(
            constant_spec("large_tile_factor", "1",
                          "slowdown of tiles of 128x192 outputs or more outside clusters", 3, 0.3),
            1));
  }
  if (g.split_k) {
    fit(&C::split_s, removable(constant_spec("split_time", "s",
                                             "start of the reduction over K splits", 2.5e-6, 0.5),
                               0));
  }
  if (g.power_limit) {
    fit(&C::power_loss,
        removable(constant_spec("power_loss", "1", "loss of clock under sustained power",
                                hopper ? 0.25 : 0.06, 1.0),
                  0));
  }
  if (g.padded_rows) {
    fit_if(visible, &C::padded_rows_per_s,
           removable(constant_spec("padded_row_rate", "row/s", "rows beyond M, once per K step",
                                   14e9, 0.4),
                     kNoRate));
  }
  if (g.quantizes()) {
    fit_if(!row_walk && (visible || g.provider == GemmLibrary::deepgemm), &C::quant_bytes_per_s,
           removable(
               constant_spec("quant_rate", "B/s", "activation quantization, bytes read and written",
                             7 * chip_clock, 0.7),
               kNoRate));
    const bool sglang = g.framework == ServingFramework::sglang;
    const bool rows_seen = g.dtype == GemmDtype::nvfp4 ? !sglang
                           : trtllm                    ? row_walk
                                                       : g.batched || !sglang;
    fit_if(visible && rows_seen, &C::quant_row_s,
           removable(constant_spec("quant_row_time", "s/row", "activation quantization, a row",
                                   quant_row_prior_s(g, gpu), 1.2, 100),
                     0));
  }
  if (g.host_timed) {
    fit(&C::host_s,
        removable(constant_spec("host_time", "s", "instrument: host time without a graph",
                                host_prior_s(g), 0.4),
                  0));
    if (g.provider == GemmLibrary::deepgemm) {
      fit(&C::host_unaligned_s,
          removable(
              constant_spec("host_unaligned_time", "s",
                            "instrument: host time more when M is no multiple of 4", 8e-6, 0.5),
              0));
    }
  }
}

}  // namespace smtwin
