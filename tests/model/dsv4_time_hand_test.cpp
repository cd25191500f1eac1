// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "arch/error.hpp"
#include "model/families/mla/dsv4_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/mla_time_chip.hpp"

using namespace smtwin;
using test::mla_chip;
using test::mla_priors;
using test::mla_values;

namespace {

TimingGpu chip(int major, double sm_count) {
  TimingGpu g = mla_chip(major);
  g.sm_count = sm_count;
  return g;
}

double seconds(const Dsv4TimeModel& model, const Dsv4Shape& shape, const std::vector<double>& v,
               CacheState cache) {
  return model.time(model.work(shape), v, cache).seconds;
}

}  // namespace

TEST_CASE("CSA reads the window and the top-k, and indexes all entries", "[unit]") {
  // Flash, 8192 tokens: C = 2048 entries, 512 + 128 are read: 10 blocks of 64. 20 sequences of 64
  // heads on 10 SMs: payload ceil(20*15/10) + 5 = 35 holds 2 whole ones, 20 blocks of 1 us. Index:
  // 20 * 2048 * 1 ns = 40.96 us. C - 512 = 1536 > 512: the whole selection, 2 rounds of 7 us.
  const Dsv4TimeModel model(chip(9, 10), ServingFramework::sglang, true, ProjectionType::bf16);
  const Dsv4Shape s{.batch = 20, .heads = 64, .kv_tokens = 8192, .dims = dsv4_flash_dims()};
  const auto w = model.work(s);
  CHECK(w.rounds.pieces == 2);
  CHECK(w.rounds.blocks == 20);
  CHECK(w.partial_bytes == 0);
  CHECK(w.selections == 2);
  const auto v = mla_values(model.constants(),
                            {{"block_time", 1e-6}, {"index_time", 1e-9}, {"select_time", 7e-6}});
  const auto free = mla_values(model.constants(), {});
  CHECK(seconds(model, s, v, CacheState::benchmark) -
            seconds(model, s, free, CacheState::benchmark) ==
        Approx((20 + 40.96 + 14) * 1e-6));
}

TEST_CASE("the selection starts beyond the model's own top-k", "[unit]") {
  const Dsv4TimeModel model(chip(9, 10), ServingFramework::sglang, true, ProjectionType::bf16);
  const auto selections = [&](double tokens, const Dsv4Dims& dims) {
    return model.work({.batch = 1, .heads = 64, .kv_tokens = tokens, .dims = dims}).selections;
  };
  CHECK(selections(2048, dsv4_flash_dims()) == 0);    // C = 512
  CHECK(selections(3072, dsv4_flash_dims()) == 0.5);  // C = 768
  CHECK(selections(4096, dsv4_flash_dims()) == 1);
  CHECK(selections(4096, dsv4_pro_dims()) == 0);  // C = 1024 = top-k
}

TEST_CASE("only SGLang's selection kernel ends at 32768 compressed entries", "[unit]") {
  // 131068 tokens: C = 32767; 131072 tokens: C = 32768.
  const auto selections = [](ServingFramework framework, double tokens) {
    const Dsv4TimeModel model(chip(9, 10), framework, true, ProjectionType::fp8_block);
    return model.work({.batch = 11, .heads = 64, .kv_tokens = tokens}).selections;
  };
  CHECK(selections(ServingFramework::sglang, 131068) == 2);  // 11 sequences on 10 SMs
  CHECK(selections(ServingFramework::sglang, 131072) == 0);
  CHECK(selections(ServingFramework::vllm, 131068) == 2);
  CHECK(selections(ServingFramework::vllm, 131072) == 2);
  CHECK(selections(ServingFramework::vllm, 4194304) == 2);
}

TEST_CASE("HCA reads every compressed entry, cut by FlashMLA's scheduler", "[unit]") {
  // 65536 tokens: C = 512: 2 + 8 = 10 blocks. 2 sequences of 128 heads: 5 parts of 2 SMs, payload
  // ceil(2*15/5) + 5 = 11: cuts of 6 and 4 blocks. 6 * 2 us and 2 splits * 1 us = 14 us.
  // Partial results: 2 sequences * 2 splits * 128 heads * 512 values * 4 B.
  const Dsv4TimeModel model(chip(9, 10), ServingFramework::vllm, false, ProjectionType::bf16);
  const Dsv4Shape s{.batch = 2, .heads = 128, .kv_tokens = 65536, .dims = dsv4_pro_dims()};
  CHECK(model.work(s).rounds.blocks == 6);
  CHECK(model.work(s).rounds.splits == 2);
  CHECK(model.work(s).partial_bytes == 1048576);
  const auto v = mla_values(model.constants(), {{"split_time", 1e-6}, {"block_time", 2e-6}});
  const auto free = mla_values(model.constants(), {});
  CHECK(seconds(model, s, v, CacheState::benchmark) -
            seconds(model, s, free, CacheState::benchmark) ==
        Approx(14e-6));
}

TEST_CASE("HCA's blocks: the window's and the compressed entries' apart", "[unit]") {
  // One sequence on one SM is never cut. 63 tokens: 1 block of the window. 64: the next is begun.
  // 128: C = 1 takes a block of its own. 8192: C = 64 fills it. 8320: C = 65.
  const Dsv4TimeModel model(chip(9, 1), ServingFramework::sglang, false, ProjectionType::bf16);
  const auto blocks = [&](double tokens) {
    return model.work({.batch = 1, .heads = 8, .kv_tokens = tokens}).rounds.blocks;
  };
  CHECK(blocks(63) == 1);
  CHECK(blocks(64) == 2);
  CHECK(blocks(127) == 2);
  CHECK(blocks(128) == 3);
  CHECK(blocks(8192) == 3);
  CHECK(blocks(8320) == 4);
}

TEST_CASE("one output group gathers nothing, a single sequence half", "[unit]") {
  // 8 heads a group: 8 heads are one group, 16 are two.
  const Dsv4TimeModel model(chip(9, 132), ServingFramework::vllm, false, ProjectionType::bf16);
  const auto v = mla_values(model.constants(), {{"group_time", 6e-6}});
  const auto free = mla_values(model.constants(), {});
  const auto gather_s = [&](double batch, double heads) {
    const Dsv4Shape s{.batch = batch, .heads = heads, .kv_tokens = 1};
    return seconds(model, s, v, CacheState::benchmark) -
           seconds(model, s, free, CacheState::benchmark);
  };
  CHECK(gather_s(4, 8) == Approx(0).margin(1e-12));
  CHECK(gather_s(1, 16) == Approx(3e-6));
  CHECK(gather_s(4, 16) == Approx(6e-6));
}

TEST_CASE("a step along K costs with the height of SGLang's FP8 tiles", "[unit]") {
  // Flash, 8 heads: K = 4096, 1024, 1024, 1024 and 4096 are 88 steps of 128. 1 us each at 128 rows
  // and above as long as SMs are free, half of it up to 64 rows. BF16 and vLLM have no such cost.
  TimingGpu gpu = chip(9, 1e6);
  gpu.fp8_flops_per_s = gpu.bf16_flops_per_s = 1e30;
  const Dsv4TimeModel model(gpu, ServingFramework::sglang, false, ProjectionType::fp8_block);
  const auto v = mla_values(model.constants(), {{"k_step_time", 1e-6}});
  const auto free = mla_values(model.constants(), {});
  const auto walk_s = [&](double rows) {
    const Dsv4Shape s{.batch = rows, .heads = 8, .kv_tokens = 1};
    return seconds(model, s, v, CacheState::benchmark) -
           seconds(model, s, free, CacheState::benchmark);
  };
  CHECK(walk_s(1) == Approx(44e-6));
  CHECK(walk_s(64) == Approx(44e-6));
  CHECK(walk_s(65) == Approx(88e-6));
  CHECK(walk_s(512) == Approx(88e-6));
  const Dsv4TimeModel vllm(gpu, ServingFramework::vllm, false, ProjectionType::fp8_block);
  for (const ConstantSpec& c : vllm.constants()) {
    CHECK(c.name != "k_step_time");
  }
}

TEST_CASE("the fallback's HCA runs 64 CTAs a sequence in whole rounds", "[unit]") {
  // 188 SMs: 4 sequences are 256 CTAs = 2 rounds, 8 are 512 = 3, 64 are 4096 = 22.
  const Dsv4FallbackTimeModel model(chip(12, 188), false, ProjectionType::bf16);
  const auto rounds = [&](double batch) {
    return model.work({.batch = batch, .heads = 8, .kv_tokens = 1}).rounds;
  };
  CHECK(rounds(1) == 1);
  CHECK(rounds(4) == 2);
  CHECK(rounds(8) == 3);
  CHECK(rounds(64) == 22);
}

TEST_CASE("the fallback's CSA runs sequence by sequence", "[unit]") {
  // 4 sequences of 0.6 ms, 2 doublings of 50 us, 0.1 ms fixed; weights at 1e30 B/s are free.
  const Dsv4FallbackTimeModel model(chip(12, 188), true, ProjectionType::bf16);
  const auto v =
      mla_values(model.constants(),
                 {{"fixed_time", 100e-6}, {"sequence_time", 600e-6}, {"small_batch_time", 50e-6}});
  const auto w = model.work({.batch = 4, .heads = 64, .kv_tokens = 4});
  CHECK(model.time(w, v, CacheState::benchmark).seconds == Approx(2.6e-3));
}

TEST_CASE("the sparse kernels are not offered for other GPUs", "[unit]") {
  CHECK_THROWS_AS(
      Dsv4TimeModel(chip(12, 188), ServingFramework::sglang, true, ProjectionType::bf16),
      DataError);
  CHECK_THROWS_AS(Dsv4TimeModel(chip(9, 132), ServingFramework::trtllm, true, ProjectionType::bf16),
                  DataError);
}

TEST_CASE("the fallback is not offered beyond SM120", "[unit]") {
  CHECK_THROWS_AS(Dsv4FallbackTimeModel(chip(9, 132), true, ProjectionType::bf16), DataError);
  CHECK_THROWS_AS(Dsv4FallbackTimeModel(chip(10, 148), false, ProjectionType::bf16), DataError);
}

TEST_CASE("DeepSeek-V4 modules: cold is never faster, all constants slow the module",
          "[property]") {
  for (const bool csa : {true, false}) {
    const Dsv4TimeModel model(chip(9, 132), ServingFramework::vllm, csa, ProjectionType::fp8_block);
    const auto v = mla_priors(model.constants());
    CHECK(model.constants().size() <= 16);
    for (const double tokens : {1.0, 5000.0, 1e6}) {
      const Dsv4Shape s{.batch = 8, .heads = 64, .kv_tokens = tokens, .dims = dsv4_pro_dims()};
      CHECK(seconds(model, s, v, CacheState::cold) >= seconds(model, s, v, CacheState::benchmark));
      for (std::size_t c = 0; c < v.size(); ++c) {
        auto slower = v;
        slower[c] *= model.constants()[c].unit == "s" ? 1.1 : 0.9;
        INFO(model.constants()[c].name);
        CHECK(seconds(model, s, slower, CacheState::cold) >=
              seconds(model, s, v, CacheState::cold) * (1 - 1e-12));
      }
    }
  }
}
