// SPDX-License-Identifier: Apache-2.0
// One expert layer by hand, and what must hold for every implementation.
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/families/moe/moe_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/moe_time_chip.hpp"

using namespace smtwin;
using smtwin::test::hopper_chip;
using smtwin::test::plain_chip;

namespace {

std::vector<double> values_of(const MoeTimeModel& model,
                              const std::map<std::string, double>& given = {}) {
  std::vector<double> values;
  for (const ConstantSpec& c : model.constants()) {
    const auto at = given.find(c.name);
    values.push_back(at == given.end() ? c.prior : at->second);
  }
  return values;
}

// Every implementation that rows exist for.
const std::vector<MoeImplementation>& implementations() {
  using F = MoeFramework;
  using K = MoeKernel;
  using D = MoeDtype;
  static const std::vector<MoeImplementation> all{
      {F::vllm, K::flashinfer, D::nvfp4},      {F::vllm, K::flashinfer, D::fp8},
      {F::vllm, K::flashinfer, D::fp8_block},  {F::vllm, K::flashinfer, D::bf16},
      {F::vllm, K::triton_vllm, D::bf16},      {F::vllm, K::triton_vllm, D::fp8_block},
      {F::vllm, K::marlin, D::int4},           {F::vllm, K::marlin, D::mxfp4},
      {F::vllm, K::triton_kernels, D::mxfp4},  {F::sglang, K::flashinfer, D::bf16},
      {F::sglang, K::flashinfer, D::nvfp4},    {F::sglang, K::triton_sglang, D::bf16},
      {F::sglang, K::triton_sglang, D::mxfp4}, {F::sglang, K::triton_sglang, D::fp8_block},
      {F::sglang, K::marlin, D::int4},         {F::sglang, K::marlin, D::mxfp4},
      {F::trtllm, K::cutlass, D::bf16},        {F::trtllm, K::cutlass, D::fp8},
      {F::trtllm, K::cutlass, D::fp8_block},   {F::trtllm, K::cutlass, D::nvfp4},
      {F::trtllm, K::cutlass, D::mxfp4_mxfp8}, {F::trtllm, K::triton_trtllm, D::fp8_block},
      {F::trtllm, K::triton_kernels, D::mxfp4}};
  return all;
}

double cold_s(const MoeTimeModel& model, const MoeShape& shape, const MoeRouting& routing,
              const std::vector<double>& values) {
  int choice = 0;
  return model.seconds(model.prepare(shape, routing), values, CacheState::cold, choice, true);
}

MoeRouting even_routing(std::int64_t experts, std::int64_t rows_each) {
  const std::vector<std::int64_t> loads(static_cast<std::size_t>(experts), rows_each);
  return routing_of_loads(loads, static_cast<double>(rows_each));
}

}  // namespace

TEST_CASE("a layer of vLLM's Triton path by hand", "[unit]") {
  // 64 tokens, 2 of 4 experts each, 32 rows an expert; hidden 1024, width 512, gated. 64 tokens
  // take tiles of 32 x 64 x 128: 4 row tiles. 3 stages x 128 x (32 + 64) x 2 B = 73,728 B: 1 CTA an
  // SM. Gate and up: N 1024, K 1024. 4 x 16 = 64 CTAs on 100 SMs: one each, one round, 8 steps.
  //   mem   4 x 1024 x 1024 x 2 B / 1 TB/s               = 8.388608 us
  //   math  2 x 32 x 64 x 1024 / 1 Tflop/s               = 4.194304 us
  //   feed  (32 + 64) x 1024 x 2 B / 50 GB/s             = 3.93216 us
  //   lat   8 x 0.1 us x 2 (DRAM over L2 latency) + 1 us = 2.6 us        root of squares 10.496800
  // Down: N 1024, K 512: half of the first three, lat 1.8 us             root of squares  5.394043
  // Rows: 64 x 1024 x 2 + 128 x 512 x 10 + 128 x (2 x 2 x 512 + 4 x 1024) = 1,572,864 B; the L2
  // holds
  //   0.5 x 100 MB, so a share of 1/(1 + 0.0314573^2) = 0.9990114 is warm at 19 x 100 x 1e9 =
  //   1.9 TB/s and the rest moves at 1 TB/s: 0.828560 us.
  // 10 + 10.496800 + 5.394043 + 0.828560 = 26.719403 us
  const MoeTimeModel model(hopper_chip(),
                           {MoeFramework::vllm, MoeKernel::triton_vllm, MoeDtype::bf16});
  const std::vector<double> values = values_of(model, {{"dram_rate", 1e12},
                                                       {"k_step_time", 100e-9},
                                                       {"tile_time", 1e-6},
                                                       {"feed_rate", 50e9},
                                                       {"fixed_time", 10e-6},
                                                       {"row_traffic", 1.0}});
  const MoeShape shape{.tokens = 64, .topk = 2, .experts = 4, .hidden = 1024, .inter = 512};
  const MoeRouting routing = even_routing(4, 32);
  CHECK(cold_s(model, shape, routing, values) == Approx(26.719403e-6).epsilon(1e-7));

  // Replayed, 13.1 MB stay in the L2: mem at 1.9 TB/s, latency without the factor 2.
  //   sqrt(4.415057^2 + 4.194304^2 + 3.93216^2 + 1.8^2)  = 7.469056
  //   sqrt(2.207528^2 + 2.097152^2 + 1.96608^2 + 1.4^2)  = 3.885447
  int choice = 0;
  const MoeWork work = model.prepare(shape, routing);
  CHECK(model.seconds(work, values, CacheState::benchmark, choice, true) ==
        Approx((10 + 7.469056 + 3.885447 + 0.828560) * 1e-6).epsilon(1e-6));

  const TimeParts parts = model.parts(work, values, CacheState::cold);
  CHECK(parts.seconds == Approx(26.719403e-6).epsilon(1e-7));
  CHECK(parts.choice == "32x64x128, 32x64x128");
  CHECK(parts.regime() == Regime::dram);  // 12.6 us of weights against 10 us of launches
  CHECK(parts.regime_s[static_cast<std::size_t>(Regime::compute)] == Approx(6.291456e-6));
  CHECK(parts.regime_s[static_cast<std::size_t>(Regime::latency)] == Approx(4.4e-6));
}

TEST_CASE("rows of other ranks cost CTAs that write zeros", "[unit]") {
  // The same layer as rank 0 of 2 with its own 2 experts: 64 of the 128 pairs are remote. 64 / 32 =
  // 2 row tiles x 16 column tiles = 32 CTAs on 100 SMs, in both GEMMs: 2 x 0.32 rounds x 2 us
  // = 1.28 us.
  const MoeTimeModel model(plain_chip(),
                           {MoeFramework::vllm, MoeKernel::triton_vllm, MoeDtype::bf16});
  const MoeShape shape{
      .tokens = 64, .topk = 2, .experts = 4, .ep = 2, .hidden = 1024, .inter = 512};
  const MoeRouting routing = even_routing(2, 32);
  const MoeWork work = model.prepare(shape, routing);
  const TimeParts with =
      model.parts(work, values_of(model, {{"remote_tile_time", 2e-6}}), CacheState::cold);
  const TimeParts none =
      model.parts(work, values_of(model, {{"remote_tile_time", 0}}), CacheState::cold);
  CHECK(with.seconds - none.seconds == Approx(1.28e-6));
  // The parts tell of the same time.
  const auto latency = static_cast<std::size_t>(Regime::latency);
  CHECK(with.regime_s[latency] - none.regime_s[latency] == Approx(1.28e-6));
}

TEST_CASE("SGLang sums nothing when a token has one expert", "[unit]") {
  // 128 pairs on 4 experts, hidden 1024, width 512, gated. T' h 2 + R i 10 + P (4 i + 4 h or 2 h):
  // one expert a token, T' = 128: 262,144 + 655,360 + 128 x (2048 + 2048) = 1,441,792 B;
  // two, T' = 64:                 131,072 + 655,360 + 128 x (2048 + 4096) = 1,572,864 B.
  const MoeTimeModel model(plain_chip(),
                           {MoeFramework::sglang, MoeKernel::triton_sglang, MoeDtype::bf16});
  MoeShape shape{.tokens = 128, .topk = 1, .experts = 4, .hidden = 1024, .inter = 512};
  CHECK(model.prepare(shape, even_routing(4, 32)).row_bytes == 1441792);
  shape.tokens = 64, shape.topk = 2;
  CHECK(model.prepare(shape, even_routing(4, 32)).row_bytes == 1572864);
}

TEST_CASE("top-k of more than 8 experts takes a CTA a token", "[unit]") {
  // 640 tokens on 100 SMs: 6.4 tokens an SM, one after the other, 5 us each: 32 us.
  const MoeTimeModel model(plain_chip(),
                           {MoeFramework::sglang, MoeKernel::flashinfer, MoeDtype::nvfp4});
  MoeShape shape{.tokens = 640, .topk = 16, .experts = 32, .hidden = 1024, .inter = 512};
  const MoeRouting routing = even_routing(32, 320);
  const auto extra_s = [&] {
    return cold_s(model, shape, routing, values_of(model, {{"slow_topk_row_time", 5e-6}})) -
           cold_s(model, shape, routing, values_of(model, {{"slow_topk_row_time", 0}}));
  };
  CHECK(extra_s() == Approx(32e-6));
  shape.topk = 8;  // the fused kernel
  CHECK(extra_s() == 0);
}

TEST_CASE("SGLang's Triton path sorts 1024 pairs and more on the whole grid", "[unit]") {
  const MoeTimeModel model(plain_chip(),
                           {MoeFramework::sglang, MoeKernel::triton_sglang, MoeDtype::bf16});
  MoeShape shape{.tokens = 511, .topk = 2, .experts = 4, .hidden = 1024, .inter = 512};
  CHECK(model.prepare(shape, even_routing(4, 256)).sort_share == 0);
  CHECK(model.prepare(shape, even_routing(4, 256)).align_passes > 0);
  shape.tokens = 512;  // 1024 pairs
  CHECK(model.prepare(shape, even_routing(4, 256)).sort_share == 1);
  CHECK(model.prepare(shape, even_routing(4, 256)).align_passes == 0);
}

TEST_CASE("empty rows of Hopper's default tactic cost extra", "[unit]") {
  // FP8 tile 128 x 16 x 128. One expert, N = 2 x 512 / 16 = 64 CTAs on 100 SMs, K 1024. With 32
  // rows 96 of 128 are empty: 96 x 1024 B a CTA. At 1 GB/s and factor 1 that is 98.304 us more
  // feed.
  const MoeTimeModel model(hopper_chip(),
                           {MoeFramework::vllm, MoeKernel::flashinfer, MoeDtype::fp8});
  const MoeShape shape{.tokens = 32, .topk = 1, .experts = 1, .hidden = 1024, .inter = 512};
  const MoeWork work = model.prepare(shape, even_routing(1, 32));
  CHECK(work.gemms[0].tiles[0].empty_bytes == 96 * 1024);
  CHECK(work.gemms[0].tiles[0].feed_bytes == (128 + 16) * 1024);
  CHECK(model.prepare(shape, even_routing(1, 128)).gemms[0].tiles[0].empty_bytes == 0);
}

TEST_CASE("the tuner's tile is kept whatever the loads", "[property]") {
  // TensorRT-LLM tunes on uniform routing. A rank whose one expert got nearly all tokens runs the
  // tile that was best for few rows, so it is not faster than with the best of all tiles.
  const MoeTimeModel model(plain_chip(),
                           {MoeFramework::trtllm, MoeKernel::cutlass, MoeDtype::bf16});
  const std::vector<double> values = values_of(model);
  const MoeShape shape{
      .tokens = 1024, .topk = 8, .experts = 256, .ep = 256, .hidden = 4096, .inter = 2048};
  const MoeWork work = model.prepare(shape, even_routing(1, 1024));
  int tuned = 0;
  const double seconds = model.seconds(work, values, CacheState::cold, tuned, true);
  double best = seconds;
  std::set<double> times;
  for (int first = 0; first < static_cast<int>(work.tiles.size()); ++first) {
    for (int second = 0; second < static_cast<int>(work.tiles.size()); ++second) {
      int choice = first + kMoeChoiceBase * second;
      best = std::min(best, model.seconds(work, values, CacheState::cold, choice, false));
    }
  }
  CHECK(best < 0.9 * seconds);
  int again = tuned;
  CHECK(model.seconds(work, values, CacheState::cold, again, false) == seconds);
}

TEST_CASE("what holds for every implementation", "[property]") {
  const TimingGpu gpu = GENERATE(plain_chip(), hopper_chip());
  for (const MoeImplementation& how : implementations()) {
    INFO(to_string(how.framework) << ", kernel " << static_cast<int>(how.kernel) << ", dtype "
                                  << static_cast<int>(how.dtype));
    const MoeTimeModel model(gpu, how);
    const std::vector<double> values = values_of(model);
    REQUIRE(model.constants().size() <= 16);
    for (const double tokens : {1.0, 16.0, 300.0, 16384.0}) {
      const MoeShape shape{.tokens = tokens,
                           .topk = 8,
                           .experts = 128,
                           .hidden = 2880,
                           .inter = 1408,
                           .gated = tokens != 300};
      const auto rows = static_cast<std::int64_t>(std::ceil(tokens / 16));
      const MoeWork work = model.prepare(shape, even_routing(128, rows));
      int cold = 0, warm = 0;
      const double t_cold = model.seconds(work, values, CacheState::cold, cold, true);
      const double t_warm = model.seconds(work, values, CacheState::benchmark, warm, true);
      REQUIRE(std::isfinite(t_cold));
      REQUIRE(t_warm > 0);
      // Cold weights: never faster than DRAM moves them, never faster than warm ones.
      REQUIRE(t_cold >= work.weight_bytes / (1.05 * values[0]));
      REQUIRE(t_warm / t_cold - 1 <= 1e-12);
      // More active experts of as many rows each never take less time.
      int choice = 0;
      const double half = model.seconds(model.prepare(shape, even_routing(64, rows)), values,
                                        CacheState::cold, choice, true);
      REQUIRE(half <= t_cold);
      // The pick of the search repeats its time.
      REQUIRE(model.seconds(work, values, CacheState::cold, cold, false) == t_cold);
      const TimeParts parts = model.parts(work, values, CacheState::benchmark);
      REQUIRE(parts.seconds == t_warm);
      // Limits that overlap take no longer than one after the other; feeding an SM and warm weights
      // are one part, the larger, so at most once more.
      double sum = parts.regime_s[static_cast<std::size_t>(Regime::l2)];
      for (const double part : parts.regime_s) sum += part;
      REQUIRE(t_warm <= sum * (1 + 1e-12));
    }
  }
}

TEST_CASE("constants have bounds around their prior, and time is finite at every bound",
          "[property]") {
  const TimingGpu gpu = GENERATE(plain_chip(), hopper_chip());
  for (const MoeImplementation& how : implementations()) {
    INFO(to_string(how.framework) << ", kernel " << static_cast<int>(how.kernel) << ", dtype "
                                  << static_cast<int>(how.dtype));
    const MoeTimeModel model(gpu, how);
    const MoeShape shape{
        .tokens = 33, .topk = 1, .experts = 16, .ep = 2, .hidden = 72, .inter = 40};
    const MoeWork work = model.prepare(shape, even_routing(8, 2));
    std::set<std::string> names;
    for (std::size_t j = 0; j < model.constants().size(); ++j) {
      const ConstantSpec& c = model.constants()[j];
      INFO(c.name);
      REQUIRE(names.insert(c.name).second);
      REQUIRE(c.low < c.prior);
      REQUIRE(c.prior < c.high);
      REQUIRE_FALSE(c.meaning.empty());
      REQUIRE(c.of_gpu == (c.name == "dram_rate"));
      for (const double bound : {c.low, c.high, c.off.value_or(c.prior)}) {
        std::vector<double> values = values_of(model);
        values[j] = bound;
        int choice = 0;
        const double t = model.seconds(work, values, CacheState::benchmark, choice, true);
        REQUIRE(std::isfinite(t));
        REQUIRE(t > 0);
      }
    }
  }
}
