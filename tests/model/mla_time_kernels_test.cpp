// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "arch/error.hpp"
#include "model/families/mla/mla_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/mla_time_chip.hpp"

using namespace smtwin;
using test::mla_chip;
using test::mla_priors;
using test::mla_values;

namespace {

const MlaFamily kEveryHopper[] = {
    {MlaLibrary::sglang_flash_attention3, false}, {MlaLibrary::sglang_flash_attention3, true},
    {MlaLibrary::vllm_flash_attention3, false},   {MlaLibrary::trtllm_flashmla, false},
    {MlaLibrary::trtllm_flashmla, true},          {MlaLibrary::vllm_flashmla, true}};
const MlaFamily kEverySm120[] = {{MlaLibrary::trtllm_sm120, false},
                                 {MlaLibrary::trtllm_sm120, true},
                                 {MlaLibrary::sglang_triton, false},
                                 {MlaLibrary::vllm_triton, false},
                                 {MlaLibrary::vllm_triton, true}};

template <class Check>
void for_every_family(Check check) {
  for (const MlaFamily f : kEveryHopper) check(MlaTimeModel(mla_chip(9), f));
  for (const MlaFamily f : kEverySm120) check(MlaTimeModel(mla_chip(12), f));
}

constexpr double kMost = 2147483648.0;  // the largest count that rows may hold
const MlaShape kShapes[] = {{.batch = 1, .heads = 1, .kv_tokens = 1},
                            {.batch = 3, .heads = 16, .kv_tokens = 700},
                            {.batch = 64, .heads = 128, .kv_tokens = 4096},
                            {.batch = kMost, .heads = kMost, .kv_tokens = kMost}};

}  // namespace

TEST_CASE("a TensorRT-LLM unit walks its blocks in rounds", "[unit]") {
  // BF16, 10 SMs: 12 sequences of 64 heads are 12 units, 2 rounds; 48 CTAs share SMs, factor 1.5.
  // 128 tokens are 2 blocks of 3 us: 2 * 2*3 * 1.5 = 18 us, + 5 us fixed. KV 12*128*1152 B =
  // 1.77 MB is beyond the 1 MB of L2: 1.77 us of DRAM, norm_4 adds 0.4 ns to 18 us. Queries and
  // outputs, 12*64*2176 B, find no room either: 1.67 us at 1 TB/s.
  const MlaTimeModel model(mla_chip(12), {MlaLibrary::trtllm_sm120, false});
  const auto v = mla_values(model.constants(), {{"fixed_time", 5e-6},
                                                {"block_time", 3e-6},
                                                {"shared_slowdown", 1.5},
                                                {"cold_slowdown", 0},
                                                {"dram_rate", 1e12}});
  const double s =
      model.seconds({.batch = 12, .heads = 64, .kv_tokens = 128}, v, CacheState::benchmark);
  CHECK(s == Approx(24.671e-6).epsilon(1e-4));
  CHECK(s > 24.671e-6);
}

TEST_CASE("the FP8 kernels take one CTA an SM", "[unit]") {
  // 16 heads: 2 CTAs a unit, 12 sequences = 24 CTAs = 3 rounds of one block (4 us): 12 us.
  // 128 heads: the other kernel, 4 CTAs a sequence, 48 = 5 rounds of a quarter block + 10 us.
  const MlaTimeModel model(mla_chip(12), {MlaLibrary::trtllm_sm120, true});
  const auto v = mla_values(model.constants(), {{"block_time", 4e-6},
                                                {"cold_slowdown", 0},
                                                {"wide_block", 0.25},
                                                {"wide_start_time", 10e-6}});
  CHECK(model.seconds({.batch = 12, .heads = 16, .kv_tokens = 64}, v, CacheState::benchmark) ==
        Approx(12e-6));
  CHECK(model.seconds({.batch = 12, .heads = 128, .kv_tokens = 64}, v, CacheState::benchmark) ==
        Approx(55e-6));
}

TEST_CASE("a cold KV cache pays DRAM and the filling of its stream", "[unit]") {
  // FlashMLA, 10 SMs, 1 sequence of 640 tokens and 64 heads: 10 parts, 10 + 5 blocks: payload
  // 2 + 5 = 7, 2 blocks a part, 5 splits. Blocks 2 * 1 us; KV 640*1152 B = 737 kB at 0.5 TB/s =
  // 1.4746 us; norm_6 = (2^6 + 1.4746^6)^(1/6) = (64 + 10.281)^(1/6) = 2.0503 us.
  // Fill: 1 - exp(-0.737/150) = 0.0049 of 20 us = 0.0981 us.
  const MlaTimeModel model(mla_chip(9), {MlaLibrary::trtllm_flashmla, false});
  const auto v = mla_values(model.constants(),
                            {{"block_time", 1e-6}, {"fill_time", 20e-6}, {"dram_rate", 0.5e12}});
  CHECK(model.seconds({.batch = 1, .heads = 64, .kv_tokens = 640}, v, CacheState::cold) ==
        Approx(2.1484e-6).epsilon(1e-4));
  CHECK(model.parts({.batch = 1, .heads = 64, .kv_tokens = 640}, v, CacheState::cold).choice ==
        "5 KV splits");
}

TEST_CASE("the cast of an FP8 cache reads one byte and writes two", "[unit]") {
  // 100 tokens * 576 values * 3 B at 1 GB/s = 172.8 us and nothing else.
  const MlaTimeModel model(mla_chip(9), {MlaLibrary::sglang_flash_attention3, true});
  const auto v = mla_values(model.constants(), {{"cast_rate", 1e9}});
  CHECK(model.seconds({.batch = 1, .heads = 1, .kv_tokens = 100}, v, CacheState::benchmark) ==
        Approx(172.8e-6).epsilon(1e-3));
}

TEST_CASE("SGLang pays for the empty CTAs of its grid", "[unit]") {
  // 10 SMs: the cap of splits is 16. 4 sequences, 16 heads, 1 token: 4 CTAs with tokens of 64
  // launched, 1 us each: 60 % hide behind the block of 8 us: hypot(8, 0.6*64) + 0.4*64 = 64.82.
  const MlaTimeModel model(mla_chip(12), {MlaLibrary::sglang_triton, false});
  const auto v = mla_values(model.constants(), {{"block_time", 8e-6}, {"empty_time", 1e-6}});
  CHECK(model.seconds({.batch = 4, .heads = 16, .kv_tokens = 1}, v, CacheState::benchmark) ==
        Approx((std::hypot(8, 38.4) + 25.6) * 1e-6));
}

TEST_CASE("head tiles of a sequence share a DRAM read only while they run together", "[unit]") {
  // 128 heads = 8 tiles, 512 tokens in one split: 590 kB a CTA at 1 TB/s. 2 sequences: 16 CTAs fit
  // the 20 slots, all 8 tiles run together: 16/8 reads. 20 sequences: one tile at a time, 160
  // reads.
  const MlaTimeModel model(mla_chip(12), {MlaLibrary::vllm_triton, false});
  const auto v = mla_values(model.constants(), {{"dram_rate", 1e12}});
  const double read = 512 * 1152 / 1e12;
  CHECK(model.seconds({.batch = 2, .heads = 128, .kv_tokens = 512}, v, CacheState::cold) ==
        Approx(2 * read));
  CHECK(model.seconds({.batch = 20, .heads = 128, .kv_tokens = 512}, v, CacheState::cold) ==
        Approx(160 * read));
}

TEST_CASE("a cold cache is never faster than the benchmark's", "[property]") {
  for_every_family([](const MlaTimeModel& model) {
    const auto v = mla_priors(model.constants());
    for (const MlaShape& s : kShapes) {
      CHECK(model.seconds(s, v, CacheState::cold) >= model.seconds(s, v, CacheState::benchmark));
    }
  });
}

TEST_CASE("slower parts never make the whole faster", "[property]") {
  for_every_family([](const MlaTimeModel& model) {
    const auto v = mla_priors(model.constants());
    for (std::size_t c = 0; c < v.size(); ++c) {
      auto slower = v;
      const bool rate = model.constants()[c].unit == "B/s";
      slower[c] *= rate ? 0.9 : 1.1;
      INFO(model.constants()[c].name);
      for (const MlaShape& s : kShapes) {
        for (const CacheState cache : {CacheState::cold, CacheState::benchmark}) {
          CHECK(model.seconds(s, slower, cache) >= model.seconds(s, v, cache) * (1 - 1e-12));
        }
      }
    }
  });
}

TEST_CASE("times are finite and positive at every bound, and every constant is explained",
          "[property]") {
  for_every_family([](const MlaTimeModel& model) {
    std::vector<double> low, high, off;
    for (const ConstantSpec& c : model.constants()) {
      CHECK(c.low < c.prior);
      CHECK(c.prior < c.high);
      CHECK_FALSE(c.meaning.empty());
      low.push_back(c.low);
      high.push_back(c.high);
      off.push_back(c.off.value_or(c.prior));
    }
    CHECK(model.constants().size() <= 16);
    for (const MlaShape& s : kShapes) {
      for (const auto& v : {low, high, off}) {
        const double t = model.seconds(s, v, CacheState::benchmark);
        CHECK(std::isfinite(t));
        CHECK(t > 0);
      }
    }
  });
}

TEST_CASE("kernels that do not split are never faster with more tokens or sequences",
          "[property]") {
  for (const bool fp8 : {false, true}) {
    const MlaTimeModel model(mla_chip(12), {MlaLibrary::trtllm_sm120, fp8});
    const auto v = mla_priors(model.constants());
    double before = 0;
    for (double tokens = 1; tokens < 20000; tokens = tokens * 1.7 + 1) {
      const double s =
          model.seconds({.batch = 4, .heads = 64, .kv_tokens = tokens}, v, CacheState::benchmark);
      CHECK(s >= before);
      before = s;
    }
    before = 0;
    for (double batch = 1; batch < 500; ++batch) {
      const double s =
          model.seconds({.batch = batch, .heads = 64, .kv_tokens = 900}, v, CacheState::benchmark);
      CHECK(s >= before);
      before = s;
    }
  }
}

TEST_CASE("a library is refused where it does not run", "[unit]") {
  CHECK_THROWS_AS(MlaTimeModel(mla_chip(12), {MlaLibrary::vllm_flashmla, true}), DataError);
  CHECK_THROWS_AS(MlaTimeModel(mla_chip(9), {MlaLibrary::trtllm_sm120, true}), DataError);
}

TEST_CASE("a reading lies on the timer's grid", "[unit]") {
  // SGLang's readings lie at 0.1 ticks of 2 us: a kernel of 5 us reads 0.2 + 3 * 2 = 6.2 us (the
  // smoothed step leaves less than 0.1 us), and without a grid it reads 5.
  TimingGpu gpu = mla_chip(12);
  CHECK(MlaTimeModel(gpu, {MlaLibrary::sglang_triton, false}).reading_s(5e-6) == 5e-6);
  gpu.replay_tick_s = 2e-6;
  CHECK(MlaTimeModel(gpu, {MlaLibrary::sglang_triton, false}).reading_s(5e-6) ==
        Approx(6.2e-6).margin(0.1e-6));
}
