// SPDX-License-Identifier: Apache-2.0
// dense_gemm's partition of the work, bytes and default configurations, by hand and by property.
#include "kernels/dense_gemm/config.hpp"

#include <algorithm>
#include <set>

#include "kernels/dense_gemm/descriptor.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/chip.hpp"

using namespace smtwin;

namespace {

constexpr DenseGemmTile kSmall{.dtype = DenseGemmDtype::bf16,
                               .block_m = 16,
                               .block_n = 64,
                               .block_k = 64,
                               .num_warps = 4,
                               .num_stages = 5};

GpuSpec h200_like() {
  GpuSpec gpu = test::sm90();
  gpu.sm.shared_bytes_per_sm = 233472;
  gpu.sm.shared_bytes_reserved_per_cta = 1024;
  gpu.sm.shared_allocation_unit_bytes = 128;
  gpu.sm.max_warps_per_sm = 64;
  gpu.sm.max_ctas_per_sm = 32;
  gpu.sm.registers_per_sm = 65536;
  gpu.sm.register_allocation_unit = 256;
  gpu.sm.partitions_per_sm = 4;
  return gpu;
}

}  // namespace

TEST_CASE("every step of every tile belongs to one CTA", "[property]") {
  for (const std::int32_t tiles : {1, 3, 7, 64}) {
    for (const std::int32_t k_steps : {1, 2, 5, 128}) {
      for (const std::int32_t ctas : {1, 2, 5, 7, 64, 131}) {
        if (ctas > tiles * k_steps) continue;
        INFO(tiles << " tiles, " << k_steps << " steps, " << ctas << " CTAs");
        const StreamK work = make_stream_k(tiles, k_steps, ctas);
        REQUIRE(work.first_step(0) == 0);
        REQUIRE(work.first_step(ctas) == tiles * k_steps);
        for (std::int32_t cta = 0; cta < ctas; ++cta) {
          const auto first = work.first_step(cta), stop = work.first_step(cta + 1);
          REQUIRE(stop - first >= tiles * k_steps / ctas);
          REQUIRE(stop - first <= tiles * k_steps / ctas + 1);
          // Found from each of its CTAs, a tile has the same first and last one.
          for (std::int32_t step = first; step < stop; ++step) {
            const auto tile = step / k_steps;
            const auto from = work.first_cta(tile, cta), to = work.last_cta(tile, cta);
            REQUIRE(work.first_step(from) <= tile * k_steps);
            REQUIRE(work.first_step(from + 1) > tile * k_steps);
            REQUIRE(work.first_step(to) < (tile + 1) * k_steps);
            REQUIRE(work.first_step(to + 1) >= (tile + 1) * k_steps);
          }
        }
      }
    }
  }
}

TEST_CASE("whole splits start tiles at CTA borders, also where k does not divide", "[property]") {
  for (std::int32_t splits = 1; splits <= 9; ++splits) {
    const StreamK work = make_stream_k(13, 9, 13 * splits);
    for (std::int32_t tile = 0; tile < 13; ++tile) {
      CHECK(work.first_step(tile * splits) == tile * 9);
    }
  }
}

TEST_CASE("the rule keeps one wave and prefers whole splits", "[unit]") {
  const DenseGemmShape shape{.m = 16, .n = 8192, .k = 8192, .dtype = DenseGemmDtype::bf16};
  // 8192 / 64 = 128 tiles of 128 steps. 2 x 132 slots: 2 splits fill 256 of 264, more than 4/5.
  CHECK(gemm_partition(shape, kSmall, 0, {.resident = 2, .sm_count = 132}).ctas == 256);
  // 4 x 132 = 528 slots: 4 splits fill 512.
  CHECK(gemm_partition(shape, kSmall, 0, {.resident = 4, .sm_count = 132}).ctas == 512);
  // 188 slots: one split fills 128, less than 4/5: every slot an equal share.
  CHECK(gemm_partition(shape, kSmall, 0, {.resident = 1, .sm_count = 188}).ctas == 188);
  // 160 tiles in 264 slots fill less than 4/5; two CTAs an SM would share every tile among two or
  // three, one an SM shares none among more than two.
  const DenseGemmShape odd{.m = 16, .n = 10240, .k = 8192, .dtype = DenseGemmDtype::bf16};
  CHECK(gemm_partition(odd, kSmall, 0, {.resident = 2, .sm_count = 132}).ctas == 132);
  // 64 tiles more than slots: persistent.
  CHECK(gemm_partition(shape, kSmall, 0, {.resident = 1, .sm_count = 64}).ctas == 64);
  CHECK(gemm_partition(shape, kSmall, 3, {.resident = 1, .sm_count = 132}).ctas == 384);
  // Never more CTAs than steps: k = 128 is 2 steps a tile.
  const DenseGemmShape shallow{.m = 1, .n = 64, .k = 128, .dtype = DenseGemmDtype::bf16};
  CHECK(gemm_partition(shallow, kSmall, 8, {.resident = 4, .sm_count = 132}).ctas == 2);
  CHECK(gemm_partition(shallow, kSmall, 0, {.resident = 4, .sm_count = 132}).ctas == 2);
}

TEST_CASE("shared bytes of both kinds of variant", "[unit]") {
  // 5 stages x (16 + 64) rows x 128 B = 51,200, + 16 for the flag; with wgmma two 8-byte barriers
  // a stage more: 51,200 + 80 + 16.
  CHECK(gemm_shared_bytes(kSmall) == 51216);
  DenseGemmTile hopper = kSmall;
  hopper.wgmma = true;
  CHECK(gemm_shared_bytes(hopper) == 51296);
  // 233,472 B of an SM: round_up(51,216 + 1,024, 128) = 52,352; 4 fit (209,408), not 5.
  CHECK(gemm_resident_ctas(kSmall, 64, h200_like().sm) == 4);
  // 168 registers: round_up(168 x 32, 256) = 5,376 a warp, 3 warps of a partition's 16,384, 12 in
  // all, 3 CTAs of 4 warps.
  CHECK(gemm_resident_ctas(kSmall, 168, h200_like().sm) == 3);
}

TEST_CASE("rows that do not start at 16 bytes are refused with the way out", "[unit]") {
  CHECK(gemm_shape_problem({1, 64, 1000, DenseGemmDtype::bf16}).empty());
  CHECK(gemm_shape_problem({1, 64, 1000, DenseGemmDtype::fp8}) ==
        "k = 1000 is not a multiple of 16: rows of fp8 must start at 16-byte boundaries; pad k to "
        "1008");
}

TEST_CASE("variants are distinct, named apart and within one CTA's shared memory", "[property]") {
  std::set<std::string> symbols;
  const auto kernel = make_dense_gemm();
  for (const auto& tile : gemm_variants()) {
    INFO(gemm_symbol(tile));
    CHECK(symbols.insert(gemm_symbol(tile)).second);
    CHECK(gemm_shared_bytes(tile) <= (tile.wgmma ? 232448 : 101376));
    Parameters parameters = gemm_config(tile);
    parameters["dtype"] = static_cast<std::int64_t>(tile.dtype);
    CHECK(gemm_tile(complete_parameters(*kernel, parameters)) == tile);
  }
  CHECK(symbols.size() <= 40);
}

TEST_CASE("the default configuration is one that was compiled", "[property]") {
  const auto& variants = gemm_variants();
  for (const auto cc : {ComputeCapability{9, 0}, ComputeCapability{12, 0}}) {
    for (const std::int64_t sm_count : {1, 114, 132, 188}) {
      for (const std::int64_t m : {1, 16, 17, 32, 33, 64, 256}) {
        for (const std::int64_t n : {8, 1024, 5120, 6144, 8192, 28672, 262144}) {
          for (const auto dtype : {DenseGemmDtype::bf16, DenseGemmDtype::fp8}) {
            const DenseGemmShape shape{m, n, 8192, dtype};
            const Parameters config = gemm_default_config(shape, cc, sm_count);
            const DenseGemmTile tile = gemm_tile(config);
            INFO(gemm_symbol(tile) << " m " << m << " n " << n);
            CHECK(std::find(variants.begin(), variants.end(), tile) != variants.end());
            CHECK(tile.dtype == dtype);
            CHECK((!tile.wgmma || cc.major == 9));
            CHECK(config.at("split_k") >= 0);
            CHECK(config.at("split_k") <= kGemmMaxSplit);
          }
        }
      }
    }
  }
}
