// SPDX-License-Identifier: Apache-2.0
// How a GEMM is cut: counts by hand, and the thresholds of each library's rule.
#include <cmath>
#include <string>

#include "arch/error.hpp"
#include "model/families/gemm/cublas_tiles.hpp"
#include "model/families/gemm/gemm_tile_rules.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

namespace {

constexpr double kHopperSms = 132;

std::string at(GemmTileRule rule, double m, double n, double k, double sms = kHopperSms) {
  return to_string(rule({.m = m, .n = n, .k = k}, sms));
}

}  // namespace

TEST_CASE("a grid is counted in whole clusters, rounds and steps", "[unit]") {
  // 257 rows in clusters of 2 x 128: ceil(257/256) x 2 = 4 tiles where 3 would do; 1000/128 -> 8;
  // 700/64 -> 11 steps; 4 x 8 = 32 CTAs on 10 SMs: 4 for the busiest, ceil(32/20) = 2 rounds of
  // two per SM.
  GemmTile tile{.block_m = 128, .block_n = 128, .block_k = 64, .ctas_per_sm = 2, .cluster_m = 2};
  const GemmShape shape{.m = 257, .n = 1000, .k = 700};
  TileWork w = tile_work(shape, tile, 10);
  CHECK(w.tiles_m == 4);
  CHECK(w.tiles_n == 8);
  CHECK(w.steps == 11);
  CHECK(w.ctas == 32);
  CHECK(w.per_sm == 4);
  CHECK(w.rounds == 2);
  CHECK(to_string(tile) == "128x128x64 cluster 2x1");

  // Clusters that only share loads pad nothing; three splits leave ceil(11/3) = 4 steps each.
  tile.pads_clusters = false;
  tile.splits = 3;
  w = tile_work(shape, tile, 10);
  CHECK(w.tiles_m == 3);
  CHECK(w.steps == 4);
  CHECK(w.ctas == 3 * 8 * 3);
}

TEST_CASE("counts round up exactly at multiples", "[unit]") {
  CHECK(ceil_div(256, 128) == 2);
  CHECK(ceil_div(257, 128) == 3);
  CHECK(ceil_count(0.999999) == 1);
  CHECK(ceil_count(4) == 4);
  // Beyond the integers nothing is left to round.
  CHECK(ceil_count(9007199254740993.0) == 9007199254740992.0);
  CHECK(ceil_div(1e30, 128) == 1e30 / 128);
  CHECK(std::isinf(ceil_count(INFINITY)));
}

TEST_CASE("vLLM's FP8 ladder on SM120 grows with the rows", "[unit]") {
  CHECK(at(vllm_fp8_tile_sm120, 16, 4096, 4096) == "16x64x128");
  CHECK(at(vllm_fp8_tile_sm120, 17, 4096, 4096) == "32x64x128");
  CHECK(at(vllm_fp8_tile_sm120, 33, 4096, 4096) == "64x64x128");
  CHECK(at(vllm_fp8_tile_sm120, 256, 4096, 4096) == "64x64x128");
  CHECK(at(vllm_fp8_tile_sm120, 257, 4096, 4096) == "128x128x128");
}

TEST_CASE("vLLM's FP8 ladder on Hopper depends on all three sizes", "[unit]") {
  CHECK(at(vllm_fp8_tile_sm90, 16, 1280, 4096) == "16x64x256 cluster 2x1");
  CHECK(at(vllm_fp8_tile_sm90, 16, 1281, 4096) == "16x64x256");
  CHECK(at(vllm_fp8_tile_sm90, 64, 1280, 4096) == "16x64x256 cluster 4x1");
  CHECK(at(vllm_fp8_tile_sm90, 64, 2048, 4096) == "64x64x256");
  CHECK(at(vllm_fp8_tile_sm90, 65, 2048, 4096) == "64x128x128 cluster 2x1");
  CHECK(at(vllm_fp8_tile_sm90, 129, 2048, 4096) == "128x128x128 cluster 2x1");
  CHECK(at(vllm_fp8_tile_sm90, 8192, 2048, 6143) == "128x128x128 cluster 2x1");
  CHECK(at(vllm_fp8_tile_sm90, 8192, 2048, 6144) == "256x128x128 cluster 2x1");
}

TEST_CASE("SGLang's FP8 tiles", "[unit]") {
  CHECK(at(sglang_fp8_tile_sm90, 16, 512, 4096) == "16x64x256");
  CHECK(at(sglang_fp8_tile_sm90, 17, 512, 4096) == "64x64x256");
  CHECK(at(sglang_fp8_tile_sm90, 65, 1280, 4096) == "64x64x128");
  CHECK(at(sglang_fp8_tile_sm90, 128, 512, 4096) == "64x64x128");
  CHECK(at(sglang_fp8_tile_sm90, 128, 1281, 4096) == "64x128x128 cluster 2x1");
  CHECK(at(sglang_fp8_tile_sm90, 129, 512, 4096) == "128x128x128 cluster 2x1");
  CHECK(at(sglang_fp8_tile_sm120, 1, 512, 4096) == "128x128x128");
}

TEST_CASE("TensorRT-LLM's block-scaled tile on SM120 doubles above 64 rows", "[unit]") {
  CHECK(at(fp8_block_tile_sm120, 64, 4096, 4096) == "64x64x128");
  CHECK(at(fp8_block_tile_sm120, 65, 4096, 4096) == "128x64x128");
}

TEST_CASE("the first DeepGEMM fills one wave with the narrowest tile", "[unit]") {
  // 64 rows on 10 SMs: 1000/96 -> 11 tiles, two waves; 1000/104 -> 10 tiles, one full wave;
  // 1000/112 -> 9 tiles, one wave with an idle SM.
  CHECK(at(trtllm_fp8_block_tile_sm90, 64, 1000, 512, 10) == "64x104x128");
  // 8 rows are swapped: the 1000 outputs stand in 8 tiles of 128, the rows in the narrowest, 16.
  CHECK(at(trtllm_fp8_block_tile_sm90, 8, 1000, 512, 10) == "16x128x128");
  // 31 rows in tiles of 16 would be 16 tiles and two waves, in one of 32 they are 8.
  CHECK(at(trtllm_fp8_block_tile_sm90, 31, 1000, 512, 10) == "32x128x128");
  // From 32 rows on it does not swap, in its batched form never.
  CHECK(at(trtllm_fp8_block_tile_sm90, 32, 1000, 512, 10) == "64x104x128");
  CHECK(at(trtllm_fp8_block_bmm_tile_sm90, 8, 1000, 512, 10) == "64x104x128");
}

TEST_CASE("the first DeepGEMM counts the tiles of all heads", "[unit]") {
  // Two heads of 500 outputs are 10 tiles of 104 (500/104 -> 5), one full wave on 10 SMs; a single
  // head fills it with 500/56 -> 9 (or 500/48 -> 11): one wave needs 56, which is the fullest.
  const GemmShape two{.b = 2, .m = 64, .n = 500, .k = 512};
  CHECK(to_string(trtllm_fp8_block_bmm_tile_sm90(two, 10)) == "64x104x128");
  CHECK(at(trtllm_fp8_block_bmm_tile_sm90, 64, 500, 512, 10) == "64x56x128");
}

TEST_CASE("DeepGEMM multicasts only beyond one wave", "[unit]") {
  // 1536 x 2048: 12 x 11 tiles of 128x192 are 132, one full wave of an H200, with the fewest bytes
  // a tile; a cluster would be allowed only from the second wave on.
  CHECK(at(deepgemm_tile_sm90, 1536, 2048, 1024) == "128x192x128");
  const GemmTile large = deepgemm_tile_sm90({.m = 8192, .n = 8192, .k = 4096}, kHopperSms);
  CHECK(large.cluster_m * large.cluster_n == 2);
  CHECK_FALSE(large.pads_clusters);
}

TEST_CASE("DeepGEMM takes its small tiles only for few rows", "[property]") {
  const double m = GENERATE(1.0, 16.0, 17.0, 32.0, 33.0, 100.0, 2000.0);
  const double n = GENERATE(64.0, 1536.0, 7168.0);
  const GemmTile t = deepgemm_tile_sm90({.m = m, .n = n, .k = 7168}, kHopperSms);
  INFO(m << " x " << n << ": " << to_string(t));
  CHECK((t.block_m >= 64 || m <= t.block_m));
  CHECK((t.block_m <= 128 || t.block_n <= 128));
  CHECK(std::fmod(t.block_n, 16) == 0);
}

TEST_CASE("DeepGEMM has no tile for a K whose scales fill the shared memory", "[unit]") {
  // Scales take 4 bytes per 128 of K; 227 KiB less four stages of the smallest tile leave room for
  // some 54,000 of them.
  CHECK_NOTHROW(deepgemm_tile_sm90({.m = 1, .n = 4096, .k = 6e6}, kHopperSms));
  CHECK_THROWS_AS(deepgemm_tile_sm90({.m = 1, .n = 4096, .k = 8e6}, kHopperSms), DataError);
}

TEST_CASE("cuBLAS splits K only where a row of K is long", "[unit]") {
  constexpr double kBf16 = 2;
  const GemmTile split{.block_m = 16, .block_n = 64, .block_k = 64, .splits = 4};
  CHECK_FALSE(cublas_allows({.m = 32, .n = 512, .k = 2047}, split, kBf16));
  CHECK(cublas_allows({.m = 32, .n = 512, .k = 2048}, split, kBf16));
  // Up to 16 rows K has to be as large as N.
  CHECK_FALSE(cublas_allows({.m = 16, .n = 2049, .k = 2048}, split, kBf16));
  CHECK(cublas_allows({.m = 17, .n = 2049, .k = 2048}, split, kBf16));
  // 32 splits of four steps of 64 need K = 8192.
  const GemmTile many{.block_m = 16, .block_n = 64, .block_k = 64, .splits = 32};
  CHECK_FALSE(cublas_allows({.m = 32, .n = 512, .k = 8191}, many, kBf16));
  CHECK(cublas_allows({.m = 32, .n = 512, .k = 8192}, many, kBf16));
  // Dot products are for one row.
  const GemmTile gemv{.block_m = 1, .block_n = 1, .block_k = 512};
  CHECK(cublas_allows({.m = 1, .n = 512, .k = 512}, gemv, kBf16));
  CHECK_FALSE(cublas_allows({.m = 2, .n = 512, .k = 512}, gemv, kBf16));
}

TEST_CASE("every list of cuBLAS tiles starts each tile unsplit", "[property]") {
  const bool wide = GENERATE(false, true);
  for (const auto tiles : {cublas_tiles_sm120(wide, true), cublas_tiles_sm90(wide, true)}) {
    REQUIRE(!tiles.empty());
    const GemmTile* before = nullptr;
    for (const GemmTile& t : tiles) {
      const bool same =
          before != nullptr && before->block_m == t.block_m && before->block_n == t.block_n;
      CHECK((same ? t.splits > before->splits : t.splits == 1));
      CHECK((t.block_m == 1 || t.block_k == (wide ? 128 : 64)));
      before = &t;
    }
  }
  for (const GemmTile& t : cublas_tiles_sm120(wide, false)) CHECK(t.splits == 1);
}
