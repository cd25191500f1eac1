// SPDX-License-Identifier: Apache-2.0
// One bound at a time on a GPU of 10 SMs: everything else is set so fast that it vanishes.
#include <cmath>

#include "model/families/gemm/gemm_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/gemm_chip.hpp"

using namespace smtwin;

namespace {

GemmTile tile_128(const GemmShape&, double) {
  return {.block_m = 128, .block_n = 128, .block_k = 64};
}

GemmImplementation plain(GemmDtype dtype = GemmDtype::bf16) {
  GemmImplementation g;
  g.dtype = dtype;
  g.rule = tile_128;
  return g;
}

// Nothing costs anything.
GemmConstants free_of_cost() {
  GemmConstants c;
  c.tensor_flops_per_s = c.dram_bytes_per_s = c.l2_bytes_per_s = 1e30;
  return c;
}

double cold_s(const GemmTimeModel& model, const GemmShape& shape, const GemmConstants& c) {
  int tile = 0;
  return model.seconds(model.cold_point(shape), c, tile, true);
}

}  // namespace

TEST_CASE("tensor time counts padded tiles of the busiest SM", "[unit]") {
  const GemmTimeModel model(plain(), test::gemm_chip());
  GemmConstants c = free_of_cost();
  c.tensor_flops_per_s = 1e12;
  c.op_s = 1e-6;
  // 128 x 1280 x 640: 10 CTAs, one an SM; 10 steps of 2 x 128 x 128 x 64 flops on 10 SMs at 1e12:
  // 209.7152 us, and 1 us around it.
  CHECK(cold_s(model, {.m = 128, .n = 1280, .k = 640}, c) == Approx(210.7152e-6));
  // One row fills no less of the tensor cores.
  CHECK(cold_s(model, {.m = 1, .n = 1280, .k = 640}, c) == Approx(210.7152e-6));
  // The eleventh tile waits for a second round.
  CHECK(cold_s(model, {.m = 128, .n = 1281, .k = 640}, c) == Approx(1e-6 + 2 * 209.7152e-6));
}

TEST_CASE("cold weights come from DRAM and the first stage hides behind nothing", "[unit]") {
  const GemmTimeModel model(plain(), test::gemm_chip());
  GemmConstants c = free_of_cost();
  c.dram_bytes_per_s = 1e9;
  // 1280 x 640 x 2 bytes = 1.6384 MB: 1638.4 us, plus a tenth (10 steps) to fill the pipeline. The
  // activations (1.3 kB) and outputs were just written and are in the L2.
  CHECK(cold_s(model, {.m = 1, .n = 1280, .k = 640}, c) == Approx(1638.4e-6 * 1.1).epsilon(1e-4));
}

TEST_CASE("L2 traffic counts the operands of every tile", "[unit]") {
  const GemmTimeModel model(plain(), test::gemm_chip());
  GemmConstants c = free_of_cost();
  c.l2_bytes_per_s = 1e9;
  // 10 CTAs x 640 x (100 rows that exist + 128) x 2 bytes = 2.9184 MB, and a tenth to fill.
  CHECK(cold_s(model, {.m = 100, .n = 1280, .k = 640}, c) == Approx(2918.4e-6 * 1.1));
}

TEST_CASE("dependent steps, tiles and padded rows", "[unit]") {
  GemmImplementation g = plain();
  g.padded_rows = true;
  const GemmTimeModel model(g, test::gemm_chip());
  const GemmShape shape{.m = 100, .n = 2560, .k = 640};  // 20 CTAs: 2 rounds of 10 steps

  GemmConstants c = free_of_cost();
  c.step_s = 2e-7;  // of 128 elements: half of it for a step of 64, 2 rounds x 10 steps
  CHECK(cold_s(model, shape, c) == Approx(2e-6));

  c = free_of_cost();
  c.tile_s = 3e-6;  // two epilogues and one prologue that is not the first
  CHECK(cold_s(model, shape, c) == Approx(9e-6));

  c = free_of_cost();
  c.padded_rows_per_s = 1e9;  // 28 rows x 20 tiles of N x 10 steps = 5600 rows, filled in 20 steps
  CHECK(cold_s(model, shape, c) == Approx(5.6e-6 * 1.05));
}

TEST_CASE("a persistent kernel changes tiles while it multiplies", "[unit]") {
  GemmImplementation g = plain();
  g.overlaps_tile_change = true;
  g.overlap_norm = 2;
  const GemmTimeModel model(g, test::gemm_chip());
  const GemmShape shape{.m = 100, .n = 2560, .k = 640};  // 20 CTAs: 2 rounds of 10 steps
  GemmConstants c = free_of_cost();
  c.tile_s = 3e-6;  // one change between two rounds and the last epilogue
  CHECK(cold_s(model, shape, c) == Approx(6e-6));
  c.step_s = 4e-7;  // 20 steps of half of it, 4 us: |4, 3| + 3
  CHECK(cold_s(model, shape, c) == Approx(8e-6));
  // One round has nothing to change: 2 us of steps and the epilogue.
  CHECK(cold_s(model, {.m = 100, .n = 1280, .k = 640}, c) == Approx(5e-6));
}

TEST_CASE("a busy GPU answers a K step later", "[unit]") {
  GemmImplementation g = plain();
  g.loaded_step_latency = true;
  const GemmTimeModel model(g, test::gemm_chip());
  GemmConstants c = free_of_cost();
  c.step_s = 2e-7;
  c.loaded_step_s = 6e-7;
  // A tenth of the SMs is one CTA: half way, 0.4 us; 10 steps of half of it.
  CHECK(cold_s(model, {.m = 1, .n = 128, .k = 640}, c) == Approx(2e-6));
  // Ten CTAs are ten times that share: 10^4 / (1 + 10^4) of the way.
  CHECK(cold_s(model, {.m = 1, .n = 1280, .k = 640}, c) == Approx(3e-6).epsilon(1e-4));
}

TEST_CASE("activations are quantized by rows or by bytes", "[unit]") {
  const GemmTimeModel model(plain(GemmDtype::fp8), test::gemm_chip());
  GemmConstants c = free_of_cost();
  c.quant_row_s = 1e-8;        // 300 rows: 3 us
  c.quant_bytes_per_s = 9e10;  // 300 x 400 x 3 bytes = 360 kB: 4 us
  CHECK(cold_s(model, {.m = 300, .n = 128, .k = 400}, c) == Approx(5e-6));
  GemmPoint point = model.cold_point({.m = 300, .n = 128, .k = 400});
  point.quant_bytes = 0;  // counted elsewhere
  int tile = 0;
  CHECK(model.seconds(point, c, tile, true) < 1e-12);
}

TEST_CASE("a split of K adds a reduction", "[unit]") {
  GemmImplementation g = plain();
  g.rule = [](const GemmShape&, double) -> GemmTile {
    return {.block_m = 128, .block_n = 128, .block_k = 64, .splits = 5};
  };
  const GemmTimeModel model(g, test::gemm_chip());
  GemmConstants c = free_of_cost();
  c.tensor_flops_per_s = 1e12;
  c.split_s = 2e-6;
  // 2 tiles x 5 splits = 10 CTAs of 2 steps each: a fifth of 10 steps, 41.94304 us.
  CHECK(cold_s(model, {.m = 128, .n = 256, .k = 640}, c) == Approx(43.94304e-6));
}

TEST_CASE("long kernels lose clock to the power limit", "[unit]") {
  const GemmTimeModel model(plain(), test::gemm_chip());
  GemmConstants c = free_of_cost();
  c.tensor_flops_per_s = 209715200 / 1.5e-3;  // 128 x 1280 x 640 takes 1.5 ms
  c.power_loss = 0.2;                         // half of it is felt at 1.5 ms
  CHECK(cold_s(model, {.m = 128, .n = 1280, .k = 640}, c) == Approx(1.5e-3 * 1.1));
}
