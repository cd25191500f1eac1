// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/hopper_mla.hpp"

#include <algorithm>
#include <cmath>

#include "model/timing/constant_specs.hpp"
#include "model/timing/norms.hpp"

namespace smtwin {

namespace {

constexpr double kPartialElementBytes = 4;  // FP32
// Of the tensor cores' peak that a 64 x 64 tile of these kernels sustains: a prior.
constexpr double kTileEfficiency = 0.65;
// Partial results are written to the L2 and read again: against the DRAM datasheet rate. The prior
// for kernels alone (H200's rows give 0.46 to 0.71), held inside modules.
constexpr double kPartialShare = 0.48;
// Bytes over which a DRAM stream comes up to its rate (e-folding). Inferred from H200's rows of
// 30-300 MB and held: `fill_time` is the height of that curve.
constexpr double kStreamBytes = 150e6;

double tile_prior_s(const TimingGpu& gpu) {
  const double flops = 2 * kMlaQueryTile * kMlaKvBlock * (2 * kMlaLatentDim + kMlaRopeDim);
  return flops * gpu.sm_count / (kTileEfficiency * gpu.bf16_flops_per_s);
}

}  // namespace

HopperMla::HopperMla(const TimingGpu& gpu, MlaFamily family, bool in_module,
                     MlaConstants& constants)
    : gpu_(gpu), family_(family) {
  const double tile = tile_prior_s(gpu);
  fixed_s_ = query_tile_s_ = piece_s_ = combine_s_ = sequence_s_ = partial_block_s_ = fill_s_ =
      MlaConstant(0);
  activation_rate_ = cast_rate_ = MlaConstant(kNoRate);
  dram_rate_ = constants.dram_rate(gpu);
  block_s_ = constants.time("block_time", "64 tokens for 64 heads in one CTA", tile, 0.3);
  split_s_ = constants.time("split_time", "combine kernel, per split", 0.07e-6);
  // FP8 caches inside a module are never long enough against the rest to show it.
  if (!in_module || !family.fp8_kv) {
    fill_s_ =
        constants.time("fill_time", "until a long stream from DRAM has reached its rate", 10e-6);
  }
  const double partial_rate = kPartialShare * gpu.dram_bytes_per_s;
  if (in_module) {
    partial_rate_ = MlaConstant(partial_rate);
    return;
  }
  partial_rate_ =
      constants.rate("partial_rate", "B/s", "partial results written and combined", partial_rate);
  fixed_s_ = constants.time("fixed_time", "launch gap, prologue and epilogue of the kernels", 8e-6);
  query_tile_s_ = constants.time("query_tile_time", "loading and storing a tile of 64 heads", 1e-6);
  piece_s_ =
      constants.time("piece_time", "start of a CTA on a sequence before its first block", tile);
  combine_s_ = constants.time("combine_time", "launch of the combine kernel", 2e-6);
  sequence_s_ = constants.time("sequence_time", "scheduler's and copies' cost per sequence",
                               flash_attention3() ? 25e-9 : 8e-9);
  if (flash_attention3()) {
    if (family.fp8_kv) {
      cast_rate_ = constants.rate("cast_rate", "B/s", "cast of the KV cache to BF16",
                                  0.22 * gpu.dram_bytes_per_s);
    }
  } else {
    activation_rate_ =
        constants.rate("activation_rate", "B/s", "queries in, rope, outputs out: several passes",
                       0.4 * gpu.dram_bytes_per_s);
    partial_block_s_ =
        constants.time("partial_block_time", "masking of a block that is not full", 1.2e-6);
  }
}

HopperMla::Work HopperMla::work(const MlaShape& shape, double other_bytes) const {
  const bool cast = flash_attention3() && family_.fp8_kv;
  Work w;
  w.rounds = flash_attention3()
                 ? flash_attention3_rounds(shape, gpu_.sm_count,
                                           family_.provider == MlaLibrary::vllm_flash_attention3)
                 : flashmla_rounds(shape, gpu_.sm_count);
  w.batch = shape.batch;
  w.kv_bytes = shape.kv_bytes(family_.fp8_kv && !cast ? 1 : 2);
  w.cast_bytes = cast ? shape.kv_bytes(1) + shape.kv_bytes(2) : 0;
  w.partial_bytes = w.rounds.partials * shape.heads * kMlaLatentDim * kPartialElementBytes;
  w.query_bytes = shape.query_and_output_bytes();
  w.tile_rows = std::min(shape.heads, kMlaQueryTile) / kMlaQueryTile;
  w.stream = 1 - std::exp(-w.kv_bytes / kStreamBytes);
  w.partial_block = std::fmod(shape.kv_tokens, kMlaKvBlock) != 0;
  w.cold = replayed_cold_share(w.kv_bytes + other_bytes, gpu_);
  const double copies = cast ? shape.kv_bytes(1) : 0;
  w.query_cold = replayed_cold_share(w.kv_bytes + w.query_bytes + copies + other_bytes, gpu_);
  return w;
}

MlaTime HopperMla::time(const Work& w, std::span<const double> values, CacheState cache) const {
  // A deployment finds no KV cache in the L2, but the BF16 copy of an FP8 cache if that fits.
  const double cold = cache == CacheState::cold && w.cast_bytes == 0 ? 1 : w.cold;
  const double dram = dram_rate_(values);
  const bool combined = w.rounds.splits > 1;

  MlaTime t;
  t.latency_s = w.rounds.pieces * piece_s_(values) + w.rounds.blocks * block_s_(values);
  const double kv_s = w.kv_bytes * cold / dram;
  const double cast_s = w.cast_bytes / cast_rate_(values);
  const double query_s =
      w.query_bytes * (flash_attention3() ? w.query_cold / dram : 1 / activation_rate_(values));
  const double partial_s = w.partial_bytes / partial_rate_(values);
  const double fill_s = cold * w.stream * fill_s_(values);
  t.dram_s = kv_s + fill_s + cast_s;
  t.l2_s = query_s + partial_s;
  t.launch_s = fixed_s_(values) + w.tile_rows * query_tile_s_(values) +
               w.batch * sequence_s_(values) +
               (combined ? combine_s_(values) + w.rounds.splits * split_s_(values) : 0) +
               (w.partial_block ? partial_block_s_(values) : 0);
  t.seconds = t.launch_s + norm6(kv_s, t.latency_s) + fill_s + cast_s + query_s + partial_s;
  return t;
}

}  // namespace smtwin
