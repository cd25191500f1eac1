// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/hopper_mla.hpp"

#include <algorithm>
#include <cmath>

namespace smtwin {

namespace {

constexpr double kPartialElementBytes = 4;  // FP32
// Of the tensor cores' peak that a 64 x 64 tile of these kernels sustains: a prior.
constexpr double kTileEfficiency = 0.65;
constexpr double kNoRate = 1e30;

double tile_prior_s(const TimingGpu& gpu) {
  const double flops = 2 * kMlaQueryTile * kMlaKvBlock * (2 * kMlaLatentDim + kMlaRopeDim);
  return flops * gpu.sm_count / (kTileEfficiency * gpu.bf16_flops_per_s);
}

}  // namespace

HopperMla::HopperMla(const TimingGpu& gpu, MlaFamily family, bool in_module,
                     AttentionConstants& constants)
    : gpu_(gpu), family_(family) {
  const double tile = tile_prior_s(gpu);
  constexpr auto none = AttentionConstants::none;
  fixed_s_ = piece_s_ = combine_s_ = sequence_s_ = split_sequence_s_ = partial_block_s_ = none(0);
  activation_rate_ = cast_rate_ = none(kNoRate);
  dram_rate_ = constants.add(dram_rate_spec(gpu));
  block_s_ =
      constants.add(time_spec("block_time", "s", "64 tokens for 64 heads in one CTA", tile, 0.3));
  split_s_ = constants.add(time_spec("split_time", "s", "combine kernel, per split", 0.07e-6));
  partial_rate_ = constants.add(rate_spec(
      "partial_rate", "B/s", "partial results written and combined", 0.45 * gpu.dram_bytes_per_s));
  if (in_module) return;
  fixed_s_ = constants.add(
      time_spec("fixed_time", "s", "launch gap, prologue and epilogue of the kernels", 8e-6));
  piece_s_ = constants.add(
      time_spec("piece_time", "s", "start of a CTA on a sequence before its first block", tile));
  combine_s_ = constants.add(time_spec("combine_time", "s", "launch of the combine kernel", 2e-6));
  activation_rate_ = constants.add(
      rate_spec("activation_rate", "B/s", "queries in and outputs out", gpu.dram_bytes_per_s));
  if (flash_attention3()) {
    sequence_s_ =
        constants.add(time_spec("sequence_time", "s", "per sequence, unsplit instance", 25e-9));
    split_sequence_s_ = constants.add(
        time_spec("split_sequence_time", "s", "per sequence, instance that can split", 60e-9));
    if (family.fp8_kv) {
      cast_rate_ = constants.add(rate_spec("cast_rate", "B/s", "cast of the KV cache to BF16",
                                           0.25 * gpu.dram_bytes_per_s));
    }
  } else {
    sequence_s_ = split_sequence_s_ =
        constants.add(time_spec("sequence_time", "s", "per sequence", 10e-9));
    partial_block_s_ = constants.add(
        time_spec("partial_block_time", "s", "masking of a block that is not full", 1.2e-6));
  }
}

HopperMla::Work HopperMla::work(const MlaShape& shape, double other_bytes) const {
  const bool cast = flash_attention3() && family_.fp8_kv;
  Work w;
  w.rounds = flash_attention3()
                 ? flash_attention3_rounds(shape, gpu_.sm_count,
                                           family_.library == MlaLibrary::vllm_flash_attention3)
                 : flashmla_rounds(shape, gpu_.sm_count);
  w.batch = shape.batch;
  w.kv_bytes = shape.kv_bytes(family_.fp8_kv && !cast ? 1 : 2);
  w.cast_bytes = cast ? shape.kv_bytes(1) + shape.kv_bytes(2) : 0;
  w.partial_bytes = w.rounds.partials * shape.heads * kMlaLatentDim * kPartialElementBytes;
  w.query_bytes = shape.query_and_output_bytes();
  w.partial_block = std::fmod(shape.kv_tokens, kMlaKvBlock) != 0;
  w.cold = replayed_cold_share(w.kv_bytes + other_bytes, gpu_);
  const double copies = cast ? shape.kv_bytes(1) : 0;
  w.query_cold = flash_attention3()
                     ? replayed_cold_share(w.kv_bytes + w.query_bytes + copies + other_bytes, gpu_)
                     : 0;
  return w;
}

MlaTime HopperMla::time(const Work& w, std::span<const double> values, CacheState cache) const {
  // A deployment finds no KV cache in the L2, but queries that were just written, and the BF16
  // copy of an FP8 cache if that fits.
  const bool deployed = cache == CacheState::cold;
  const double cold = deployed && w.cast_bytes == 0 ? 1 : w.cold;
  const double query_cold = deployed ? replayed_cold_share(w.query_bytes, gpu_) : w.query_cold;
  const double dram = dram_rate_(values);
  const bool combined = w.rounds.splits > 1;

  MlaTime t;
  t.latency_s = w.rounds.pieces * piece_s_(values) + w.rounds.blocks * block_s_(values);
  const double kv_s = w.kv_bytes * cold / dram;
  const double cast_s = w.cast_bytes / cast_rate_(values);
  const double query_s =
      w.query_bytes * ((1 - query_cold) / activation_rate_(values) +
                       (flash_attention3() ? query_cold / dram : query_cold / kNoRate));
  const double partial_s = w.partial_bytes / partial_rate_(values);
  t.dram_s = kv_s + cast_s;
  t.l2_s = query_s + partial_s;
  t.launch_s = fixed_s_(values) +
               w.batch * (w.rounds.split_instance ? split_sequence_s_ : sequence_s_)(values) +
               (combined ? combine_s_(values) + w.rounds.splits * split_s_(values) : 0) +
               (w.partial_block ? partial_block_s_(values) : 0);
  t.seconds = t.launch_s + norm4(kv_s, t.latency_s) + cast_s + query_s + partial_s;
  return t;
}

}  // namespace smtwin
