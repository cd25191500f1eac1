// SPDX-License-Identifier: Apache-2.0
// The pieces of our own kernels' time models worked by hand, and what decides between two
// configurations.
#include "kernels/descriptor.hpp"
#include "model/families/own_kernels/launch_fill.hpp"
#include "model/families/own_kernels/own_kernel_model.hpp"
#include "model/families/own_kernels/pipelined_cta.hpp"
#include "model/families/own_kernels/sm_work.hpp"
#include "model/families/own_kernels/triton_sparse_work.hpp"
#include "model/families/own_kernels/weight_passes.hpp"
#include "model/timing/loop_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/round_chip.hpp"

using namespace smtwin;

TEST_CASE("the busiest SM decides how a grid fills the chip", "[unit]") {
  // 10 SMs that hold one CTA of 60,000 B each. 25 CTAs: the busiest runs ceil(25 / 10) = 3, one at
  // a time: 3 rounds, although 2.5 would do on average.
  KernelInstance kernel = test::round_kernel();
  const LaunchFill one = launch_fill(test::round_chip(), kernel);
  CHECK(one.busiest == 3);
  CHECK(one.together == 1);
  CHECK(one.rounds == 3);
  CHECK(one.warps_together() == 4);
  // 30,000 B: three fit (3 x 31,104 of 102,400 B), and all 25 are there at once.
  kernel.resources.dynamic_shared_bytes = 30000;
  const LaunchFill three = launch_fill(test::round_chip(), kernel);
  CHECK(three.resident == 3);
  CHECK(three.together == 3);
  CHECK(three.rounds == 1);
  CHECK(one.full.count == 2);
  CHECK(one.tail.ctas == 5);
  // 64 CTAs: 30 at once twice, then 4 that leave six SMs without work.
  kernel.grid.x = 64;
  const LaunchFill tail = launch_fill(test::round_chip(), kernel);
  CHECK(tail.full.count == 2);
  CHECK(tail.tail.ctas == 4);
  CHECK(tail.tail.together == 1);
  // Clusters of three on two GPCs of at most five SMs: in pairs four and six SMs, of which three
  // and six hold clusters. 27 CTAs at once; 64 need 2 full rounds and 10.
  GpuSpec chip = test::round_chip();
  chip.sms_per_gpc = 5;
  kernel.resources.cluster_ctas = 3;
  const LaunchFill clusters = launch_fill(chip, kernel);
  CHECK(clusters.sm_count == 9);
  CHECK(clusters.full.count == 2);
  CHECK(clusters.tail.ctas == 10);
  kernel.resources.cluster_ctas = 1;
  kernel.resources.dynamic_shared_bytes = 200000;
  CHECK(launch_fill(test::round_chip(), kernel).resident == 0);
}

TEST_CASE("a warp of the Triton sparse decode repeats the scores' conversions", "[unit]") {
  // BLOCK_H 16, BLOCK_T 16. Two 8-wide score columns: with 4 or 8 warps each has one, so a lane
  // converts 8 x 512 / 32 = 128 values for the scores whatever the warps; for the values
  // 16 x 512 / 32 / warps. Scores: 1 x 1 x 36 multiplies; values: ceil(72 / warps).
  const TritonSparseWarpWork four = triton_sparse_warp_work({16, 16, 4});
  const TritonSparseWarpWork eight = triton_sparse_warp_work({16, 16, 8});
  CHECK(four.repeated_values == 128);
  CHECK(eight.repeated_values == 128);
  CHECK(four.split_values == 64);
  CHECK(eight.split_values == 32);
  CHECK(four.score_multiplies == 36);
  CHECK(eight.score_multiplies == 36);
  CHECK(four.value_multiplies == 18);
  CHECK(eight.value_multiplies == 9);
  // Twice the warps save a fifth of a warp's instructions, not half: 10.6 x 128 + 16.7 x 64 +
  // 34.3 x 16 + 6.4 x 36 + 15.1 x 18 = 3476.6, and 2806.3. Compiled: 3471 and 2790.
  CHECK(four.instructions == Approx(3476.6));
  CHECK(eight.instructions == Approx(2806.3));
  // 32 tokens give eight warps a column half as often as they are: ceil(32 / 8 / 2) = 2.
  CHECK(triton_sparse_warp_work({16, 32, 2}).repeated_values == 256);
  CHECK(triton_sparse_warp_work({32, 16, 4}).score_multiplies == 72);
}

TEST_CASE("tiles out of step read their weights again", "[unit]") {
  // Two tiles of one column, 6 steps each. Two CTAs hold one tile each and read the same weights
  // in the same step. Three CTAs hold 4 steps each: steps 1, 3 and 5 of the first tile are read at
  // times 1, 3 and 1, those of the second at 3, 1 and 3; the two steps between bring 2 x 3 x 1 B.
  // An L2 of 6 B keeps half of what comes back after 6 B.
  SharedWeights weights{
      .tiles = 2, .tiles_m = 2, .k_steps = 6, .ctas = 2, .slots = 10, .bytes_per_step = 1};
  const L2Residency l2{.capacity_bytes = 6, .exponent = 4};
  CHECK(weight_passes(weights, l2) == 1);
  weights.ctas = 3;
  CHECK(weight_passes(weights, l2) == Approx(1.5));
  CHECK(weight_passes(weights, {.capacity_bytes = 1e9, .exponent = 4}) == Approx(1));
  CHECK(weight_passes(weights, {.capacity_bytes = 1e-9, .exponent = 4}) == Approx(2));
  // One slot: the second tile's CTA follows the first's, 6 steps of 1 B later.
  weights.ctas = 2;
  weights.slots = 1;
  CHECK(weight_passes(weights, l2) == Approx(1.5));
  weights.tiles_m = 1;
  CHECK(weight_passes(weights, l2) == 1);
}

TEST_CASE("a step overlaps its loads from the second stage on", "[unit]") {
  PipelineStep step{
      .latency_s = 3e-6, .issue_s = 0, .chain_s = 4e-6, .work_s = 0, .loads_in_flight = 0};
  CHECK(step_seconds(step) == Approx(7e-6));  // one stage: load, then compute
  step.loads_in_flight = 1;
  CHECK(step_seconds(step) == Approx(std::pow(81.0 + 256.0, 0.25) * 1e-6));
  step.loads_in_flight = 3;  // a third of the latency each: 1 against 4
  CHECK(step_seconds(step) == Approx(std::pow(1.0 + 256.0, 0.25) * 1e-6));
  // 26 CTAs on 10 SMs of two slots: a full round of 20, then 6, one an SM. 5 steps the longest,
  // 4 on average; 4 us of work a step; memory 52 us in all: 40 us, then 12 us,
  // and a fifth of its tiles, half of it, before the first step.
  step.work_s = 4e-6;
  LaunchFill fill;
  fill.ctas = 26;
  fill.full = {.count = 1, .ctas = 20, .together = 2};
  fill.tail = {.count = 1, .ctas = 6, .together = 1};
  const double chain = 5 * step_seconds(step);
  CHECK(loop_seconds(fill, {.longest = 5, .average = 4, .tile_share = 0.5}, step, 52e-6) ==
        Approx(norm4(norm4(chain, 32e-6), 40e-6) + 4e-6 + norm4(norm4(chain, 16e-6), 12e-6) +
               1.2e-6));
}

TEST_CASE("units of an SM are busy for amount / rate", "[unit]") {
  // 10 steps: 4,000 instructions / 4 a cycle, 50,000 B / 100 and 10,000 flops / 1000 (650 by
  // mma.sync on this "Hopper"; one warp a scheduler reaches 0.844 of that), at 1 GHz.
  KernelInstance kernel = test::round_kernel();
  kernel.work.warp_instructions = 40000;
  kernel.work.shared_bytes = 500000;
  kernel.work.math_flops = 100000;
  const GpuSpec chip = test::round_chip();
  const LaunchFill fill = launch_fill(chip, kernel);
  const ProbedGpu probed = assumed_probes(chip);
  const SmWork sync = sm_work(chip, kernel, fill, probed, false);
  CHECK(sync.issue_s == Approx(1000e-9));
  CHECK(sync.shared_s == Approx(500e-9));
  CHECK(sync.tensor_s == Approx(10e-9 / 0.65 / 0.844));
  CHECK(sm_work(chip, kernel, fill, probed, true).tensor_s == Approx(10e-9));
}

TEST_CASE("the difference of two loops is the sum of its causes", "[unit]") {
  // Twice the warps (x 1/2) on 1.5 times the work, as full: 0.75 of the loop; and 1 us more fixed.
  const LoopTime first{.fixed_s = 5e-6, .loop_s = 100e-6, .work_s = 1, .warps = 100, .fill = 1};
  const LoopTime second{.fixed_s = 6e-6, .loop_s = 75e-6, .work_s = 1.5, .warps = 200, .fill = 1};
  const LoopChange change = loop_change(first, second);
  CHECK(change.total_s() == Approx(-24e-6));
  CHECK(change.work_ratio == Approx(1.5));
  CHECK(change.warps_ratio == Approx(2));
  CHECK(change.work_s > 0);
  CHECK(change.warps_s < -change.work_s);
  CHECK(change.fixed_s == Approx(1e-6));
  CHECK(describe(change).starts_with("latency hiding by resident warps decides"));
  CHECK(describe(loop_change(second, first)).starts_with("latency hiding"));
  CHECK(loop_change(first, first).total_s() == 0);
}
