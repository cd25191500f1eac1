// SPDX-License-Identifier: Apache-2.0
// What must hold for every decode-attention family whatever its constants are.
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "model/families/attention/attention_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/attention_time_chip.hpp"

using namespace smtwin;

namespace {

struct Named {
  AttentionFamily family;
  int major;
};

std::vector<Named> families() {
  using L = AttentionLibrary;
  using F = AttentionFramework;
  std::vector<Named> all = {{{L::flash_attention2, F::vllm, false}, 12},
                            {{L::flash_attention4, F::vllm, false}, 9}};
  for (const bool fp8 : {false, true}) {
    all.push_back({{L::flash_attention3, F::vllm, fp8}, 9});
    all.push_back({{L::flash_attention3, F::sglang, fp8}, 9});
    for (const int major : {9, 12}) {
      all.push_back({{L::trtllm, F::trtllm, fp8}, major});
      for (const F framework : {F::vllm, F::sglang}) {
        all.push_back({{L::triton, framework, fp8}, major});
        all.push_back({{L::flashinfer, framework, fp8}, major});
      }
    }
  }
  return all;
}

std::vector<AttentionShape> shapes() {
  std::vector<AttentionShape> all;
  for (const double batch : {1., 7., 64., 513., 2048.}) {
    for (const double kv_heads : {1., 8.}) {
      for (const double group : {1., 6., 24., 128.}) {
        for (const double dim : {64., 128., 192., 256., 512.}) {
          for (const double window : {0., 128., 8192.}) {
            for (const double tokens : {1., 129., 5000., 131072.}) {
              all.push_back({batch, kv_heads * group, kv_heads, dim, window, tokens});
            }
          }
        }
      }
    }
  }
  return all;
}

std::vector<double> raw(const AttentionTimeModel& model, double ConstantSpec::*which) {
  std::vector<double> values;
  for (const ConstantSpec& c : model.constants()) values.push_back(c.*which);
  return values;
}

}  // namespace

TEST_CASE("constants of decode attention are described and bounded", "[property]") {
  for (const Named& n : families()) {
    const AttentionTimeModel model(test::attention_chip(n.major), n.family);
    CHECK(model.constants().size() <= 16);
    std::set<std::string> names;
    for (const ConstantSpec& c : model.constants()) {
      INFO(c.name);
      CHECK(names.insert(c.name).second);
      CHECK_FALSE(c.unit.empty());
      CHECK_FALSE(c.meaning.empty());
      CHECK(c.low > 0);
      CHECK(c.low < c.prior);
      CHECK(c.prior < c.high);
      CHECK(c.log_sigma > 0);
    }
    CHECK(names.contains("dram_rate"));
  }
}

TEST_CASE("decode attention takes a positive time anywhere within the bounds", "[property]") {
  for (const Named& n : families()) {
    const AttentionTimeModel model(test::attention_chip(n.major), n.family);
    for (const auto which : {&ConstantSpec::low, &ConstantSpec::prior, &ConstantSpec::high}) {
      const std::vector<double> v = raw(model, which);
      for (const AttentionShape& s : shapes()) {
        const double t = model.seconds(s, v, CacheState::benchmark);
        if (!(std::isfinite(t) && t > 0)) FAIL_CHECK("found " << t);
      }
    }
  }
}

TEST_CASE("a cold cache is never faster than a replayed one", "[property]") {
  for (const Named& n : families()) {
    const AttentionTimeModel model(test::attention_chip(n.major), n.family);
    const std::vector<double> v = raw(model, &ConstantSpec::prior);
    for (const AttentionShape& s : shapes()) {
      const double warm = model.seconds(s, v, CacheState::benchmark);
      const double cold = model.seconds(s, v, CacheState::cold);
      if (cold < warm) FAIL_CHECK(cold << " cold, " << warm << " warm, " << s.kv_tokens);
    }
  }
}

TEST_CASE("a large cold batch costs what its bytes need and more with every token", "[property]") {
  // 512 sequences x 8 heads fill every library's slots: nothing is split, longer is slower.
  for (const Named& n : families()) {
    const AttentionTimeModel model(test::attention_chip(n.major), n.family);
    const std::vector<double> v = raw(model, &ConstantSpec::prior);
    double before = 0;
    for (double tokens = 1024; tokens <= 131072; tokens *= 2) {
      const AttentionShape s{.batch = 512, .q_heads = 64, .kv_heads = 8, .kv_tokens = tokens};
      const double t = model.seconds(s, v, CacheState::cold);
      // FlashAttention 4 keeps K and V in one place.
      const double halves = n.family.provider == AttentionLibrary::flash_attention4 ? 1 : 2;
      const double bytes = 512 * 8 * tokens * 128 * halves * n.family.kv_element_bytes();
      CHECK(t > bytes / 1e12);
      CHECK(t > before);
      before = t;
    }
  }
}

TEST_CASE("the parts of decode attention add up to its time", "[property]") {
  for (const Named& n : families()) {
    const AttentionTimeModel model(test::attention_chip(n.major), n.family);
    const std::vector<double> v = raw(model, &ConstantSpec::prior);
    for (const AttentionShape& s : shapes()) {
      TimeParts p = model.parts(s, v, CacheState::benchmark);
      double sum = 0;
      for (const double r : p.regime_s) {
        if (r < 0) FAIL_CHECK("negative part " << r);
        sum += r;
      }
      // Overlap hides at most what the parts hold, and no part exceeds the whole.
      if (p.seconds > sum * (1 + 1e-9)) FAIL_CHECK(p.seconds << " of " << sum);
      if (p[p.regime()] > p.seconds * (1 + 1e-9)) FAIL_CHECK(p[p.regime()] << " in " << p.seconds);
    }
  }
}
