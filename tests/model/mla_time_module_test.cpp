// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "model/families/mla/mla_module_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/mla_time_chip.hpp"

using namespace smtwin;
using test::mla_chip;
using test::mla_priors;
using test::mla_values;

TEST_CASE("weights of DeepSeek-V3's attention are counted per rank", "[unit]") {
  // 128 heads, BF16: 2112*7168 + 24576*1536 + 2*(65536*128) + 7168*16384 = 187.1 M values.
  const MlaModuleTimeModel model(mla_chip(12), {MlaLibrary::trtllm_sm120, false},
                                 ProjectionType::bf16);
  const auto w = model.work({.batch = 1, .heads = 128, .kv_tokens = 1});
  CHECK(w.projections.count == 5);
  CHECK(w.projections.weight_bytes() == Approx(2 * 187105280.0));
  // NVFP4 takes 9/16 B for all but the absorbed projections, which stay BF16.
  const MlaModuleTimeModel fp4(mla_chip(12), {MlaLibrary::trtllm_sm120, false},
                               ProjectionType::nvfp4);
  CHECK(fp4.work({.batch = 1, .heads = 128, .kv_tokens = 1}).projections.weight_bytes() ==
        Approx((187105280.0 - 16777216) * 9 / 16 + 16777216 * 2));
}

TEST_CASE("a cold projection streams its weights", "[unit]") {
  // One projection of 1000 x 1000 BF16 at 1 TB/s: 2 us; multiply-adds of 64 padded rows:
  // 2 * 64 * 1e6 / 64e12 = 2 us. Together hypot(2, 2). Warm only the multiply-adds are left.
  MlaConstants constants;
  const Projections projections(mla_chip(12), ProjectionType::bf16, false, constants);
  Projections::Work w;
  w.rows = 3;
  w.add({.n = 1000, .k = 1000, .element_bytes = 2});
  const auto v = mla_values(constants.specs(), {{"dram_rate", 1e12}, {"flop_rate", 64e12}});
  CHECK(projections.time(w, v, CacheState::cold).seconds == Approx(std::sqrt(8.0) * 1e-6));
  CHECK(projections.time(w, v, CacheState::benchmark).seconds == Approx(2e-6));
}

TEST_CASE("few rows cost vLLM a step per doubling up to 16", "[unit]") {
  MlaConstants constants;
  const Projections projections(mla_chip(12), ProjectionType::bf16, true, constants);
  const auto v = mla_values(constants.specs(), {{"small_batch_time", 3e-6}});
  Projections::Work w;
  w.rows = 8;
  CHECK(projections.time(w, v, CacheState::cold).seconds == Approx(9e-6));
  w.rows = 500;
  CHECK(projections.time(w, v, CacheState::cold).seconds == Approx(12e-6));
}

TEST_CASE("NVFP4 projections walk K whatever the rows", "[unit]") {
  // K = 1280 is 10 steps of 0.5 us; 20 column tiles on 10 SMs are two rounds: 10 us.
  MlaConstants constants;
  const Projections projections(mla_chip(12), ProjectionType::nvfp4, false, constants);
  const auto v = mla_values(constants.specs(), {{"k_step_time", 0.5e-6}});
  Projections::Work w;
  w.add({.n = 2560, .k = 1280, .element_bytes = 0.5625});
  CHECK(projections.time(w, v, CacheState::benchmark).seconds == Approx(10e-6));
}

TEST_CASE("heads that do not fill a FlashMLA tile cost vLLM an extra pass", "[unit]") {
  const MlaModuleTimeModel model(mla_chip(9), {MlaLibrary::vllm_flashmla, true},
                                 ProjectionType::bf16);
  CHECK(model.work({.batch = 10, .heads = 16, .kv_tokens = 1}).narrow_heads == 160);
  CHECK(model.work({.batch = 10, .heads = 64, .kv_tokens = 1}).narrow_heads == 0);
}

TEST_CASE("a module takes longer than its attention kernel and is never faster cold",
          "[property]") {
  const struct {
    int major;
    MlaFamily family;
    ProjectionType type;
  } cases[] = {{9, {MlaLibrary::vllm_flash_attention3, false}, ProjectionType::fp8_block},
               {9, {MlaLibrary::trtllm_flashmla, true}, ProjectionType::bf16},
               {12, {MlaLibrary::trtllm_sm120, true}, ProjectionType::nvfp4},
               {12, {MlaLibrary::vllm_triton, false}, ProjectionType::bf16}};
  for (const auto& c : cases) {
    const MlaModuleTimeModel model(mla_chip(c.major), c.family, c.type);
    const auto v = mla_priors(model.constants());
    CHECK(model.constants().size() <= 16);
    CHECK(model.constants().front().of_gpu);
    for (const double batch : {1.0, 16.0, 300.0}) {
      const MlaShape s{.batch = batch, .heads = 16, .kv_tokens = 2000};
      const auto work = model.work(s);
      const MlaTime cold = model.time(work, v, CacheState::cold);
      CHECK(cold.seconds >= model.time(work, v, CacheState::benchmark).seconds);
      CHECK(cold.seconds > model.kernel().time(work.attention, v, CacheState::cold).seconds);
      const TimeParts parts = to_parts(cold, {});
      CHECK(parts.regime_s[static_cast<std::size_t>(parts.regime())] > 0);
    }
  }
}
