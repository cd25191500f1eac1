// SPDX-License-Identifier: Apache-2.0
// Batches of unequal contexts: makespans by hand, and what must hold.
#include <vector>

#include "model/families/attention/attention_time.hpp"
#include "model/families/attention/ragged_batch.hpp"
#include "tests/catch.hpp"
#include "tests/model/attention_time_chip.hpp"

using namespace smtwin;

namespace {

std::vector<double> priors(const AttentionTimeModel& model) {
  std::vector<double> values;
  for (const ConstantSpec& c : model.constants()) values.push_back(c.prior);
  return values;
}

}  // namespace

TEST_CASE("CTAs share memory fairly and start as slots fall free", "[unit]") {
  const std::vector<CtaLoad> three(3, {.unloaded_s = 1, .bytes = 10});
  // Two slots: two seconds when memory is no limit.
  CHECK(fluid_makespan_s(three, 2, 1e9) == Approx(2));
  // 10 B/s: two at 5 B/s take 2 s, the third alone 1 s.
  CHECK(fluid_makespan_s(three, 2, 10) == Approx(3));
  // A slow CTA (2 B/s) leaves its share: 2 and 8 B/s. The fast one ends after 1.25 s, the next
  // takes 8 B/s as well, until 2.5 s; the slow one moves its 10 B in 5 s.
  const std::vector<CtaLoad> mixed = {{.unloaded_s = 5, .bytes = 10}, three[0], three[1]};
  CHECK(fluid_makespan_s(mixed, 2, 10) == Approx(5));
  CHECK(fluid_makespan_s({}, 2, 10) == 0);
}

TEST_CASE("FlashAttention 2 launches heads outermost when nothing is split", "[unit]") {
  const AttentionTimeModel model(test::attention_sm120_chip(),
                                 {.provider = AttentionLibrary::flash_attention2});
  const auto& kernel = std::get<FlashAttention2>(model.kernel());
  const std::vector<double> v = priors(model);
  // 100 sequences x 2 heads >= 0.8 * 200 slots: 200 CTAs, the long sequence is 0 and 100.
  std::vector<double> contexts(100, 128);
  contexts[0] = 1280;
  const std::vector<CtaLoad> ctas = batch_ctas(kernel, contexts, {.q_heads = 8, .kv_heads = 2}, v);
  REQUIRE(ctas.size() == 200);
  CHECK(ctas[0].bytes == 1280 * 512);
  CHECK(ctas[1].bytes == 128 * 512);
  CHECK(ctas[100].bytes == 1280 * 512);
  // Two sequences are split: 4 units of 200 slots. Splits without blocks still start.
  const std::vector<double> two = {128, 1280};
  const std::vector<CtaLoad> split = batch_ctas(kernel, two, {.q_heads = 8, .kv_heads = 2}, v);
  REQUIRE(split.size() == 2 * 2 * 10);
  CHECK(split[0].bytes == 128 * 512);
  CHECK(split[1].bytes < 128);
  CHECK(split[20].bytes == 128 * 512);
}

TEST_CASE("equal contexts are a uniform batch", "[property]") {
  for (const auto library :
       {AttentionLibrary::flash_attention2, AttentionLibrary::flash_attention3}) {
    const int major = library == AttentionLibrary::flash_attention2 ? 12 : 9;
    const AttentionTimeModel model(test::attention_chip(major), {.provider = library});
    const std::vector<double> v = priors(model);
    AttentionShape shape{.batch = 30, .q_heads = 32, .kv_heads = 8, .kv_tokens = 777};
    CHECK(model.ragged_s(std::vector<double>(30, 777), shape, v, CacheState::cold) ==
          model.seconds(shape, v, CacheState::cold));
    CHECK(model.ragged_s({}, shape, v, CacheState::cold) == 0);
  }
}

TEST_CASE("unequal contexts of the same sum are never faster than half, nor free", "[property]") {
  for (const auto library :
       {AttentionLibrary::flash_attention2, AttentionLibrary::flash_attention3}) {
    const int major = library == AttentionLibrary::flash_attention2 ? 12 : 9;
    const AttentionTimeModel model(test::attention_chip(major), {.provider = library});
    const std::vector<double> v = priors(model);
    const AttentionShape heads{.q_heads = 32, .kv_heads = 8};
    for (const int count : {8, 64, 400}) {
      // One context holds as much as all others together.
      std::vector<double> contexts(static_cast<std::size_t>(count), 512);
      contexts.back() = 512.0 * (count - 1);
      AttentionShape mean = heads;
      mean.batch = count;
      mean.kv_tokens = 2 * 512.0 * (count - 1) / count;
      const double uniform = model.seconds(mean, v, CacheState::cold);
      const double ragged = model.ragged_s(contexts, heads, v, CacheState::cold);
      INFO(count << " contexts");
      CHECK(ragged > 0.5 * uniform);
      // FlashAttention 2 splits nothing there: the long context's CTAs run on alone. FlashAttention
      // 3 cuts them finer than the others.
      const bool splits = library == AttentionLibrary::flash_attention3;
      if (count == 400) CHECK((ragged > 2 * uniform) != splits);
    }
  }
}
