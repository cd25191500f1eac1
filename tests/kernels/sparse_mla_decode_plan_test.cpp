// SPDX-License-Identifier: Apache-2.0
// What a launch of sparse_mla_decode decides: shared bytes by hand, splits, default configuration;
// and the descriptor that tells it.
#include <algorithm>
#include <cmath>

#include "arch/gpu_catalog.hpp"
#include "kernels/sparse_mla_decode/launch_plan.hpp"
#include "kernels/sparse_mla_decode/work.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/chip.hpp"
#include "tests/kernels/instance_of.hpp"

using namespace smtwin;
using test::fact;
using test::instance_of;
using test::sm120;
using test::sm90;

namespace {

constexpr const char* kKernel = "sparse_mla_decode";

std::vector<SparseMlaTile> all_tiles() {
  std::vector<SparseMlaTile> tiles;
  for (const int h : {16, 32, 64}) {
    for (const int t : {16, 32, 64}) {
      for (const int w : {4, 8}) {
        for (const int s : {1, 2, 3}) tiles.push_back({h, t, w, s});
      }
    }
  }
  return tiles;
}

}  // namespace

TEST_CASE("shared bytes by hand", "[unit]") {
  // 16 heads, 64 tokens, 8 warps, 2 stages:
  //   rows           2 x 64 x 592                       =  75,776
  //   partial scores 8 warps x 4 blocks x (512 + 64)    =  18,432   sixteen threads a head: padded
  //   probabilities  2 x 4 x 576                        =   4,608
  //   heads          16 x 4 x 3                         =     192
  //   control        2 x 24 + 8 = 56, rounded to        =      64
  CHECK(sparse_mla_shared_bytes({16, 64, 8, 2}).bytes == 99072);
  // 64 heads, 32 tokens, 8 warps, 3 stages: four threads a head, not padded
  //   56,832 + 8 x 2 x 2048 + 2 x 2 x 2048 + 768 + 80   =  98,640
  CHECK(sparse_mla_shared_bytes({64, 32, 8, 3}).bytes == 98640);
  // 64 heads on 4 warps go in two passes of 32: as 32 heads.
  CHECK(sparse_mla_shared_bytes({64, 32, 4, 2}).bytes ==
        sparse_mla_shared_bytes({32, 32, 4, 2}).bytes);
}

TEST_CASE("warps and passes", "[unit]") {
  // 64 heads x 512 values over 4 x 32 lanes = 256 sums a lane: two passes of 128.
  CHECK(sparse_mla_head_passes({64, 32, 4, 2}) == 2);
  CHECK(sparse_mla_head_passes({64, 32, 8, 2}) == 1);
  CHECK(sparse_mla_threads({64, 32, 8, 2}) == 32 * (8 + 4));
  CHECK(sparse_mla_threads({32, 32, 4, 2}) == 32 * (4 + 4));
  CHECK(sparse_mla_threads({16, 32, 4, 2}) == 32 * (4 + 2));
}

TEST_CASE("more of anything never takes less shared memory", "[property]") {
  for (const auto& tile : all_tiles()) {
    for (const auto& more : all_tiles()) {
      if (more.block_h >= tile.block_h && more.block_t >= tile.block_t &&
          more.num_warps == tile.num_warps && more.num_stages >= tile.num_stages) {
        CHECK(sparse_mla_shared_bytes(more).bytes >= sparse_mla_shared_bytes(tile).bytes);
      }
    }
  }
}

TEST_CASE("the ranges of the splits cover every tile once", "[property]") {
  for (const std::int64_t tiles : {1, 2, 7, 32, 33, 64, 1000}) {
    for (std::int64_t splits = 1; splits <= std::min<std::int64_t>(tiles, 70); ++splits) {
      std::int64_t next = 0;
      for (std::int64_t index = 0; index < splits; ++index) {
        const auto range = sparse_mla_split_range(tiles, splits, index);
        CHECK(range.first == next);
        CHECK(range.count >= 1);
        CHECK(range.count <= (tiles + splits - 1) / splits);
        next += range.count;
      }
      CHECK(next == tiles);
    }
  }
}

TEST_CASE("the split rule", "[unit]") {
  const auto splits = [](std::int64_t batch, std::int64_t topk) {
    return sparse_mla_split_count({.tile = {16, 64, 8, 2},
                                   .batch = batch,
                                   .heads = 16,
                                   .topk = topk,
                                   .sm_count = 132,
                                   .ctas_per_sm = 2});
  };
  // A wave is 264 CTAs. Two splits of 128 requests fill it and join without a second kernel.
  CHECK(splits(128, 2048) == 2);
  CHECK(splits(64, 2048) == 4);
  // 8 tiles in all: four splits would save two tiles each and cost the combine kernel.
  CHECK(splits(64, 512) == 2);
  CHECK(splits(264, 2048) == 1);
  CHECK(splits(1000, 64) == 1);  // one tile cannot be split
  for (std::int64_t batch = 1; batch <= 300; batch += 13) {
    const auto count = splits(batch, 2048);
    CHECK(count >= 1);
    CHECK(count <= 32);
    // No split is there for nothing: one less would make the longest one longer.
    if (count > 1) CHECK((32 + count - 1) / count < (32 + count - 2) / (count - 1));
  }
}

TEST_CASE("the default configuration fits and follows the work of an SM", "[property]") {
  const auto tile_of = [](std::int64_t heads, std::int64_t batch, std::int64_t bytes) {
    return sparse_mla_default_tile({.heads = heads,
                                    .batch = batch,
                                    .topk = 2048,
                                    .sm_count = 132,
                                    .shared_bytes_per_cta = bytes});
  };
  for (const std::int64_t bytes : {101376, 166912, 232448}) {
    for (const std::int64_t heads : {1, 16, 17, 32, 33, 64, 128}) {
      int before = 0;
      for (const std::int64_t batch : {1, 8, 16, 32, 128}) {
        const auto tile = tile_of(heads, batch, bytes);
        CHECK(sparse_mla_shared_bytes(tile).bytes <= bytes);
        CHECK(sparse_mla_head_passes(tile) == 1);
        CHECK(tile.block_h >= before);  // more work never asks for fewer heads a CTA
        before = tile.block_h;
      }
    }
  }
  CHECK(tile_of(16, 128, 232448) == SparseMlaTile{16, 64, 8, 2});
  CHECK(tile_of(32, 128, 232448) == SparseMlaTile{16, 64, 8, 2});
  // 64 heads x 2048 tokens x batch / 132 SMs: 15,888 at batch 16, 31,775 at batch 32.
  CHECK(tile_of(64, 16, 232448) == SparseMlaTile{16, 64, 8, 2});
  CHECK(tile_of(64, 32, 232448) == SparseMlaTile{64, 64, 8, 2});
  CHECK(tile_of(64, 32, 101376) == SparseMlaTile{64, 32, 8, 3});
}

TEST_CASE("only two splits join, where the outputs find room", "[unit]") {
  CHECK(sparse_mla_joins({16, 64, 8, 2}, 2));
  CHECK_FALSE(sparse_mla_joins({16, 64, 8, 2}, 1));
  CHECK_FALSE(sparse_mla_joins({16, 64, 8, 2}, 4));
  // 64 heads x 1056 B = 67,584 B; one stage of 16 tokens leaves 9,472 + 16,384 + 4,096.
  CHECK_FALSE(sparse_mla_joins({64, 16, 8, 1}, 2));
  CHECK_FALSE(sparse_mla_joins({64, 64, 4, 2}, 2));  // two passes: the rows are still needed
}

TEST_CASE("resident CTAs", "[unit]") {
  const GpuSpec gpu = find_gpu("h200-sxm");
  // 99,072 + 1,024 B twice in 233,472 B; 10 warps of 96 registers: five a partition, 20 in all.
  CHECK(sparse_mla_resident_ctas({16, 64, 8, 2}, 96, gpu.sm) == 2);
  // Three stages take 136,960 B.
  CHECK(sparse_mla_resident_ctas({16, 64, 8, 3}, 96, gpu.sm) == 1);
  // 12 warps of 168 registers fill the register file.
  CHECK(sparse_mla_resident_ctas({64, 16, 8, 1}, 168, gpu.sm) == 1);
}

TEST_CASE("the descriptor tells grid, splits and work", "[unit]") {
  const auto one = instance_of(kKernel, sm90(),
                               "heads=40 topk=300 batch=3 block_h=32 block_t=64 num_warps=8 "
                               "num_stages=2 nsplit=3");
  CHECK(one.grid.ctas() == 3 * 2 * 3);
  CHECK(one.work.steps == 2);  // ceil(5 tiles / 3)
  CHECK(fact(one, "joined") == 0);
  CHECK(fact(one, "combine_ctas") == 60);
  CHECK(one.resources.cluster_ctas == 1);
  CHECK(one.impossible.empty());

  const auto pair = instance_of(kKernel, sm90(), "heads=16 topk=2048 batch=128 nsplit=2");
  CHECK(pair.config == "BH16/BT64/w8/s2");
  CHECK(fact(pair, "joined") == 1);
  CHECK(pair.resources.cluster_ctas == 2);
  CHECK(fact(pair, "combine_bytes") == 0);
  // 4 x 128 x 16 x 2048 x 512 flops
  CHECK(pair.useful_flops == Approx(8.589934592e9));
  CHECK(pair.unique_read_bytes == Approx(128.0 * 2048 * 588 + 128.0 * 16 * 1024));
  // 7 FP8 segments x 2 products x 16 conversions per 16 tokens; 8 segments x 2 x 8 mma.
  CHECK(fact(pair, "conversions_per_token") == Approx(14));
  CHECK(fact(pair, "mma_per_token") == Approx(8));
  CHECK(fact(pair, "operand_shared_bytes_per_token") == Approx(1152));
}

TEST_CASE("two passes repeat the gather and the conversions", "[property]") {
  const SparseMlaCtaShape shape{64, 512, false};
  const auto once = sparse_mla_work({32, 32, 4, 2}, {32, 512, false});
  const auto twice = sparse_mla_work({64, 32, 4, 2}, shape);
  CHECK(twice.conversion_instructions == Approx(2 * once.conversion_instructions));
  CHECK(twice.gather_shared_bytes == Approx(2 * once.gather_shared_bytes));
  CHECK(twice.cta.math_flops == Approx(2 * once.cta.math_flops));
  CHECK(twice.cta.steps == 2 * once.cta.steps);
  const auto wide = sparse_mla_work({64, 32, 8, 2}, shape);
  CHECK(wide.conversion_instructions == Approx(once.conversion_instructions));
}

TEST_CASE("what does not fit or cannot be launched", "[unit]") {
  const auto large =
      instance_of(kKernel, sm120(), "heads=64 block_h=64 block_t=64 num_warps=8 num_stages=3");
  // 113,664 + 8 x 4 x 2048 + 2 x 4 x 2048 + 768 + 80; the residency model refuses it.
  CHECK(large.resources.dynamic_shared_bytes == 196432);
  CHECK(large.impossible.empty());
  CHECK(instance_of(kKernel, sm90(), "page_size=63").impossible.find("odd") != std::string::npos);
  CHECK(instance_of(kKernel, test::chip({8, 9}), "heads=16").impossible.find("sm_90") !=
        std::string::npos);
  CHECK(instance_of(kKernel, sm90(), "block_h=48").impossible.find("not a compiled variant") !=
        std::string::npos);
}
