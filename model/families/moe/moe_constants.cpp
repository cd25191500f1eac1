// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/moe_constants.hpp"

#include <algorithm>
#include <utility>

#include "model/timing/constant_specs.hpp"

namespace smtwin {
namespace {

constexpr double kMicrosecond = 1e-6;
constexpr double kNanosecond = 1e-9;

// Bytes a token and hidden column that the kernels around the GEMMs move: the output, and where
// activations are quantized before routing the BF16 input and its narrow copy.
double token_bytes_prior(MoeDtype dtype) {
  constexpr double kOutput = 2, kInput = 2;
  switch (dtype) {
    case MoeDtype::nvfp4:
      return kOutput + kInput + 0.5625;
    case MoeDtype::fp8:
    case MoeDtype::fp8_block:
    case MoeDtype::mxfp4_mxfp8:
      return kOutput + kInput + 1;
    default:
      return kOutput;
  }
}

bool is_fp4_math(MoeDtype dtype) {
  return dtype == MoeDtype::nvfp4 || dtype == MoeDtype::mxfp4_mxfp8;
}

// FlashInfer's default tile on Hopper, 128 x 16, of BF16 and per-tensor FP8.
bool is_hopper_narrow(const TimingGpu& gpu, const MoeImplementation& how) {
  return gpu.hopper() && how.kernel == MoeKernel::flashinfer && how.dtype != MoeDtype::fp8_block;
}

bool is_grouped_gemm(const MoeImplementation& how) {
  return how.kernel == MoeKernel::cutlass || how.kernel == MoeKernel::flashinfer;
}

}  // namespace

double moe_l2_read_bytes_per_s(const TimingGpu& gpu) {
  // 5.0 TB/s on both: 188 SMs at 2.43 GHz with one L2, 132 SMs at 1.98 GHz with two halves.
  const double bytes_per_clock_and_sm = gpu.hopper() ? 19 : 11;
  return std::max(bytes_per_clock_and_sm * gpu.sm_count * gpu.clock_hz,
                  1.05 * gpu.dram_bytes_per_s);  // as fast as DRAM at least
}

MoeConstants::MoeConstants(const TimingGpu& gpu, const MoeImplementation& how) {
  constexpr double kL2PathBytesPerClock = 64;  // from the L2 into one SM
  at_.fill(-1);
  absent_[index(MoeConstant::warm_rate)] = moe_l2_read_bytes_per_s(gpu);
  absent_[index(MoeConstant::feed_rate)] = kL2PathBytesPerClock * gpu.clock_hz;
  absent_[index(MoeConstant::token_bytes)] = how.triton() ? 0 : token_bytes_prior(how.dtype);
  for (const MoeConstant factor :
       {MoeConstant::narrow_share, MoeConstant::unaligned_factor, MoeConstant::math_share}) {
    absent_[index(factor)] = 1;
  }
  add(MoeConstant::dram_rate, dram_rate_spec(gpu));
  add_latencies(gpu, how);
  add_rates(gpu, how);
  add_kernels_around(gpu, how);
  add_routing(gpu, how);
}

void MoeConstants::add_latencies(const TimingGpu& gpu, const MoeImplementation& how) {
  const bool hopper = gpu.hopper(), marlin = how.kernel == MoeKernel::marlin;
  const bool untuned_fp8 = how.kernel == MoeKernel::flashinfer && how.dtype == MoeDtype::fp8;
  // Deep pipelines of the other kernels hide the K steps, or tile_time covers them.
  if (marlin || (hopper && how.kernel != MoeKernel::flashinfer) || (!hopper && untuned_fp8)) {
    add(MoeConstant::k_step_time,
        {.name = "k_step_time",
         .unit = "s",
         .meaning = "latency of one K step of one CTA, operands in the L2",
         .prior = (how.triton() ? 1.0 : 0.5) * gpu.l2_latency_s,
         .log_sigma = 0.7,
         .low = 1 * kNanosecond,
         .high = 3 * kMicrosecond,
         .off = 0});
  }
  // On SM120 the other kernels keep several CTAs an SM, which overlap their starts and ends.
  if (hopper || marlin || untuned_fp8 || is_fp4_math(how.dtype)) {
    const double tile_us = is_fp4_math(how.dtype) ? 5 : how.triton() ? 2.5 : marlin ? 0.8 : 1.4;
    add(MoeConstant::tile_time,
        {.name = "tile_time",
         .unit = "s",
         .meaning = "start and end of one tile: pipeline fill, epilogue, change of expert",
         .prior = tile_us * kMicrosecond,
         .log_sigma = 0.7,
         .low = 0.01 * kMicrosecond,
         .high = 60 * kMicrosecond,
         .off = 0});
  }
  if (is_hopper_narrow(gpu, how)) {
    add(MoeConstant::switch_time, {.name = "switch_time",
                                   .unit = "s",
                                   .meaning = "the grid's change to the next active expert",
                                   .prior = 0.7 * kMicrosecond,
                                   .log_sigma = 0.7,
                                   .low = 0.01 * kMicrosecond,
                                   .high = 20 * kMicrosecond,
                                   .off = 0});
  }
}

void MoeConstants::add_rates(const TimingGpu& gpu, const MoeImplementation& how) {
  const bool hopper = gpu.hopper();
  const bool tuned_block = how.kernel == MoeKernel::cutlass && how.dtype == MoeDtype::fp8_block;
  if (!(hopper && tuned_block)) {
    // Tuned kernels on Hopper share tiles within a cluster, so an SM is fed more than it reads.
    constexpr double kFeed = 26, kHopperFeed = 47, kHopperClusterFeed = 100;
    const bool cluster = how.kernel == MoeKernel::cutlass || how.dtype == MoeDtype::fp8_block;
    const double bytes_per_clock = !hopper ? kFeed : cluster ? kHopperClusterFeed : kHopperFeed;
    add(MoeConstant::feed_rate, {.name = "feed_rate",
                                 .unit = "B/s",
                                 .meaning = "operand tiles that one SM is fed from the L2",
                                 .prior = bytes_per_clock * gpu.clock_hz,
                                 .log_sigma = 0.4,
                                 .low = 0.1 * bytes_per_clock * gpu.clock_hz,
                                 .high = 10 * bytes_per_clock * gpu.clock_hz,
                                 .off = kNoRate});
  }
  if (how.dtype == MoeDtype::nvfp4) {
    const double l2_rate = moe_l2_read_bytes_per_s(gpu);
    add(MoeConstant::warm_rate, {.name = "warm_rate",
                                 .unit = "B/s",
                                 .meaning = "weights that are found in the L2",
                                 .prior = std::max(0.45 * l2_rate, 1.3 * gpu.dram_bytes_per_s),
                                 .log_sigma = 0.4,
                                 .low = 1.05 * gpu.dram_bytes_per_s,  // as fast as DRAM at least
                                 .high = 4 * l2_rate});
  }
  if (how.kernel == MoeKernel::triton_trtllm ||
      (how.kernel == MoeKernel::triton_sglang && how.dtype == MoeDtype::bf16)) {
    add(MoeConstant::narrow_share,
        {.name = "narrow_share",
         .unit = "1",
         .meaning = "share of the DRAM rate that a narrow weight tile reaches",
         .prior = 0.7,
         .log_sigma = 0.15,
         .low = 0.3,
         .high = 1.2,
         .off = 1});
  }
  if (how.triton() && how.dtype == MoeDtype::bf16 && hopper) {
    add(MoeConstant::unaligned_factor,
        {.name = "unaligned_factor",
         .unit = "1",
         .meaning = "slowdown of loads when the row length is no multiple of 16 elements",
         .prior = 8,
         .log_sigma = 0.5,
         .low = 1,
         .high = 64,
         .off = 1});
  }
  if (is_hopper_narrow(gpu, how)) {
    add(MoeConstant::empty_row_factor,
        {.name = "empty_row_factor",
         .unit = "1",
         .meaning = "extra cost of filling an empty row of the activation tile, of a full row",
         .prior = 1.4,
         .log_sigma = 0.5,
         .low = 0.01,
         .high = 20,
         .off = 0});
  }
  if (how.kernel == MoeKernel::marlin && (hopper || how.dtype == MoeDtype::mxfp4)) {
    // mma.sync reaches 0.62 of the peak of Hopper's warp-group instructions; widening weights
    // beside it takes its share (inferred; INT4 takes none on SM120, whose tensor rate an SM is
    // smaller).
    constexpr double kSm120 = 0.8, kHopper = 0.5 * 0.62;
    add(MoeConstant::math_share,
        {.name = "math_share",
         .unit = "1",
         .meaning = "share of the dense tensor rate with mma.sync and weights widened in registers",
         .prior = hopper ? kHopper : kSm120,
         .log_sigma = 0.2,
         .low = 0.05,
         .high = 1.5,
         .off = 1});
  }
}

void MoeConstants::add_kernels_around(const TimingGpu& gpu, const MoeImplementation& how) {
  const bool hopper = gpu.hopper();
  const bool grouped_block = is_grouped_gemm(how) && how.dtype == MoeDtype::fp8_block;
  const bool marlin = how.kernel == MoeKernel::marlin;
  add(MoeConstant::fixed_time,
      {.name = "fixed_time",
       .unit = "s",
       .meaning = "launch and latency of all kernels of the layer without work",
       .prior = (marlin ? 22 : 18) * kMicrosecond,
       .log_sigma = 0.5,
       .low = 1 * kMicrosecond,
       .high = 150 * kMicrosecond});
  add(MoeConstant::row_traffic, {.name = "row_traffic",
                                 .unit = "1",
                                 .meaning = "bytes of rows between the kernels, of those counted",
                                 .prior = grouped_block ? 5
                                          : hopper      ? 1.4
                                          : marlin      ? 0.8
                                                        : 0.6,
                                 .log_sigma = 0.5,
                                 .low = 0.01,
                                 .high = 30,
                                 .off = 0});
  if (how.kernel == MoeKernel::flashinfer && !is_hopper_narrow(gpu, how)) {
    add(MoeConstant::token_bytes,
        {.name = "token_bytes",
         .unit = "B",
         .meaning = "moved a token and hidden column: quantization, output",
         .prior = token_bytes_prior(how.dtype),
         .log_sigma = 0.4,
         .low = 0.05,
         .high = 100,
         .off = 0});
  }
  const bool default_tactic = how.kernel == MoeKernel::flashinfer && !is_hopper_narrow(gpu, how);
  if (default_tactic || how.kernel == MoeKernel::triton_trtllm) {
    add(MoeConstant::column_time,
        {.name = "column_time",
         .unit = "s",
         .meaning = "latency of row kernels before and after the GEMMs, a hidden column",
         .prior = 2 * kNanosecond,
         .log_sigma = 0.7,
         .low = 0.01 * kNanosecond,
         .high = 50 * kNanosecond,
         .off = 0});
  }
  const bool weight_only = how.dtype == MoeDtype::int4 || how.dtype == MoeDtype::mxfp4;
  if (how.framework == MoeFramework::vllm && !weight_only) {
    add(MoeConstant::input_weight_bytes,
        {.name = "input_weight_bytes",
         .unit = "B",
         .meaning = "moved a token and hidden column to weight the input when k = 1",
         .prior = 8,
         .log_sigma = 0.7,
         .low = 0.1,
         .high = 200,
         .off = 0});
  }
}

void MoeConstants::add_routing(const TimingGpu& gpu, const MoeImplementation& how) {
  const bool sglang = how.framework == MoeFramework::sglang;
  const bool tuned = how.kernel == MoeKernel::cutlass;
  const bool default_tactic = how.kernel == MoeKernel::flashinfer;
  const bool nvfp4 = how.dtype == MoeDtype::nvfp4, block = how.dtype == MoeDtype::fp8_block;
  if (tuned || (default_tactic && (nvfp4 || block))) {
    add(MoeConstant::expert_time, {.name = "expert_time",
                                   .unit = "s",
                                   .meaning = "prefix sums and group search, a local expert",
                                   .prior = (block ? 200 : 40) * kNanosecond,
                                   .log_sigma = 0.7,
                                   .low = 0.1 * kNanosecond,
                                   .high = 3 * kMicrosecond,
                                   .off = 0});
  }
  if (tuned || how.kernel == MoeKernel::triton_sglang ||
      (default_tactic && !nvfp4 && !is_hopper_narrow(gpu, how))) {
    add(MoeConstant::sort_time,
        {.name = "sort_time",
         .unit = "s",
         .meaning = "sorting tokens by expert, full once it needs more than one CTA",
         .prior = 5 * kMicrosecond,
         .log_sigma = 0.7,
         .low = 0.05 * kMicrosecond,
         .high = 100 * kMicrosecond,
         .off = 0});
  }
  if ((sglang && how.kernel == MoeKernel::marlin) || (tuned && nvfp4) ||
      how.kernel == MoeKernel::triton_trtllm || is_hopper_narrow(gpu, how)) {
    add(MoeConstant::pair_time, {.name = "pair_time",
                                 .unit = "s",
                                 .meaning = "top-k and sorting, a (token, expert) pair",
                                 .prior = 0.8 * kNanosecond,
                                 .log_sigma = 0.8,
                                 .low = 0.001 * kNanosecond,
                                 .high = 100 * kNanosecond,
                                 .off = 0});
  }
  if (sglang && nvfp4) {
    add(MoeConstant::slow_topk_time, {.name = "slow_topk_time",
                                      .unit = "s",
                                      .meaning = "top-k outside the fused kernel, k > 8",
                                      .prior = 25 * kMicrosecond,
                                      .log_sigma = 0.7,
                                      .low = 0.1 * kMicrosecond,
                                      .high = 200 * kMicrosecond,
                                      .off = 0});
    add(MoeConstant::slow_topk_row_time,
        {.name = "slow_topk_row_time",
         .unit = "s",
         .meaning = "a token's top-k in a CTA of its own, k > 8, one at a time on an SM",
         // A radix select of 16 passes with about four dependent steps each (inferred).
         .prior = 64 * gpu.l2_latency_s,
         .log_sigma = 0.5,
         .low = 0.05 * kMicrosecond,
         .high = 100 * kMicrosecond,
         .off = 0});
  }
  if (how.kernel == MoeKernel::triton_sglang || how.kernel == MoeKernel::triton_vllm) {
    add(MoeConstant::remote_tile_time,
        {.name = "remote_tile_time",
         .unit = "s",
         .meaning = "a CTA for rows of other ranks: write zeros and leave",
         .prior = 2.3 * kMicrosecond,
         .log_sigma = 0.6,
         .low = 0.02 * kMicrosecond,
         .high = 40 * kMicrosecond,
         .off = 0});
  }
  if (how.kernel == MoeKernel::triton_sglang) {
    add(MoeConstant::align_time,
        {.name = "align_time",
         .unit = "s",
         .meaning = "a pass of the one-CTA kernel that sorts fewer than 1024 pairs",
         .prior = 2 * gpu.l2_latency_s,
         .log_sigma = 0.7,
         .low = 0.01 * kMicrosecond,
         .high = 10 * kMicrosecond,
         .off = 0});
  }
  if (how.kernel == MoeKernel::triton_kernels) {
    add(MoeConstant::ep_routing_time,
        {.name = "ep_routing_time",
         .unit = "s",
         .meaning = "extra routing kernels when experts are spread over ranks",
         .prior = 50 * kMicrosecond,
         .log_sigma = 0.7,
         .low = 0.5 * kMicrosecond,
         .high = 500 * kMicrosecond,
         .off = 0});
  }
}

void MoeConstants::add(MoeConstant c, ConstantSpec spec) {
  at_[index(c)] = static_cast<int>(specs_.size());
  specs_.push_back(std::move(spec));
}

}  // namespace smtwin
