// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/trtllm_decode.hpp"

#include <algorithm>
#include <cmath>

#include "model/families/attention/split_rules.hpp"

namespace smtwin {

namespace {

constexpr double kBlockTokens = 64;
constexpr double kMaxPartialBlocks = 6000;  // XQA: splits times sequences
constexpr double kXqaMaxGroup = 32;
constexpr double kXqaMinFill = 4;  // XQA only if it has a CTA for every fourth SM
constexpr double kMmhaSmallCtas = 4, kMmhaSmallCtasSm120Bf16 = 6;
constexpr double kReferenceDim = 128;

double half_rounds(double waves) {
  return waves > 1 ? 0.5 * waves + 0.5 * std::ceil(waves) : 1;
}

}  // namespace

TrtllmDecode::TrtllmDecode(const TimingGpu& gpu, AttentionFamily family)
    : gpu_(gpu), family_(family) {
  const auto time = [](const char* name, const char* meaning, double prior, double low,
                       double high) {
    return ConstantSpec{.name = name,
                        .unit = "s",
                        .meaning = meaning,
                        .prior = prior,
                        .log_sigma = 0.5,
                        .low = low,
                        .high = high,
                        .off = 0};
  };
  const auto rate = [](const char* name, const char* meaning, double prior) {
    return ConstantSpec{.name = name,
                        .unit = "B/s",
                        .meaning = meaning,
                        .prior = prior,
                        .log_sigma = 0.5,
                        .low = prior / 15,
                        .high = prior * 15,
                        .off = 1e18};
  };
  const auto number = [](const char* name, const char* meaning, double prior, double low,
                         double high, double off) {
    return ConstantSpec{.name = name,
                        .unit = "1",
                        .meaning = meaning,
                        .prior = prior,
                        .log_sigma = 0.5,
                        .low = low,
                        .high = high,
                        .off = off};
  };
  dram_ = table_.add(dram_rate_spec(gpu));
  fixed_ = table_.add(fixed_time_spec(4e-6));
  l2_ = table_.add(l2_rate_spec(gpu));
  activation_ = table_.add(activation_rate_spec(gpu));
  overlap_ = table_.add(overlap_spec());
  combine_ = table_.add(time("combine", "last CTA of an XQA sequence combines its parts", 1.5e-6,
                             0.005e-6, 10e-6));
  dim_power_ =
      table_.add(number("dim_power", "power of D/128 that a CTA's time grows with", 0.35, 0.01, 2, 0));
  mmha_start_ = table_.add(time("mmha_start", "one MMHA CTA without its KV", 4e-6, 0.05e-6, 12e-6));
  mmha_rate_ = table_.add(rate("mmha_rate", "KV bytes through one SM's MMHA CTAs", 40e9));
  mmha_combine_ = table_.add(time("mmha_combine", "combining MMHA's parts", 2e-6, 0.01e-6, 10e-6));
  xqa_start_ = table_.add(time("xqa_start", "one XQA CTA without its KV, D = 128", 3.5e-6, 0.05e-6,
                               20e-6));
  xqa_block_ = table_.add(time("xqa_block", "64 tokens of KV in an XQA CTA, D = 128", 0.3e-6,
                               0.005e-6, 10e-6));
  xqa_heads_ = table_.add(number("xqa_heads", "more time of an XQA CTA with over 16 query heads",
                                 0.2, 0.001, 2, 0));
  const bool hopper_fp8 = gpu.hopper() && family.fp8_kv;
  xqa_rate_.fixed = 1e18;
  xqa_per_sm_.fixed = 1;
  if (hopper_fp8) {
    xqa_per_sm_ = table_.add(number("xqa_per_sm", "XQA CTAs that share an SM", 2, 0.4, 16, 1));
    gmma_start_ = table_.add(time("gmma_start", "one GMMA CTA without its KV, D = 128", 1.5e-6, 0.05e-6,
                                  20e-6));
    gmma_block_ = table_.add(time("gmma_block", "64 tokens of KV in a GMMA CTA, D = 128", 0.5e-6,
                                  0.005e-6, 10e-6));
    gmma_per_sm_ = table_.add(number("gmma_per_sm", "GMMA CTAs that share an SM", 1.5, 0.4, 16, 1));
    gmma_heads_ = table_.add(number("gmma_heads", "more time of a GMMA CTA per further 8 query heads",
                                    0.4, 0.001, 2, 0));
  } else {
    combine_split_ = table_.add(time("combine_split", "combining, per part", 0.05e-6, 0.0005e-6, 1e-6));
    xqa_rate_ = table_.add(rate("xqa_rate", "KV bytes that one XQA CTA takes in", 60e9));
  }
}

TrtllmDecode::Kernel TrtllmDecode::kernel(const AttentionShape& s) const {
  const double group = s.group();
  if (group <= 1 || group > kXqaMaxGroup) return Kernel::mmha;
  const double parts = std::max(1.0, std::floor(s.kv_tokens / 128));
  if (!family_.fp8_kv && s.batch * s.kv_heads * parts * kXqaMinFill < gpu_.sm_count) {
    return Kernel::mmha;
  }
  return gpu_.hopper() && family_.fp8_kv && s.head_dim != 64 ? Kernel::gmma : Kernel::xqa;
}

TrtllmDecode::Work TrtllmDecode::work(const AttentionShape& s) const {
  Work w;
  w.kernel = kernel(s);
  const double token_bytes = 2 * s.head_dim * family_.kv_element_bytes();
  const double visible = s.visible_tokens();
  w.log_dim = std::log(s.head_dim / kReferenceDim);
  w.further_head_tiles = ceil_ratio(std::min(s.group(), kXqaMaxGroup), 8) - 1;
  w.many_heads = s.group() > 16;
  w.whole_rounds = w.kernel == Kernel::xqa && !(gpu_.hopper() && family_.fp8_kv);
  if (w.kernel == Kernel::mmha) {
    const double units = s.batch * s.q_heads;
    const MmhaLaunch launch = mmha_launch(
        units, s.head_dim, s.kv_tokens, gpu_.sm_count,
        gpu_.sm120() && !family_.fp8_kv ? kMmhaSmallCtasSm120Bf16 : kMmhaSmallCtas);
    w.splits = launch.splits;
    w.ctas_per_sm = launch.ctas_per_sm;
    w.ctas = units * w.splits;
    w.cta_bytes = ceil_ratio(visible, w.splits) * token_bytes;
  } else {
    // SM120's FP8 kernel is launched with one part whatever the batch.
    if (!(gpu_.sm120() && family_.fp8_kv)) {
      w.splits = std::max(1.0, std::min(xqa_splits(s.batch * s.kv_heads, s.kv_tokens, gpu_.sm_count),
                                        std::floor(kMaxPartialBlocks / s.batch)));
    }
    const double blocks = ceil_ratio(s.kv_tokens, kBlockTokens) -
                          std::floor((s.kv_tokens - visible) / kBlockTokens);
    const double busy = std::min(w.splits, blocks);
    w.blocks = ceil_ratio(blocks, busy);
    w.cta_bytes = ceil_ratio(visible, busy) * token_bytes;
    // BF16: CTAs whose part lies outside the window still pay a full start.
    w.ctas = s.batch * s.kv_heads * (family_.fp8_kv ? busy : w.splits);
  }
  const double width = s.batch * s.head_dim;
  w.moved_bytes = width * 2 * (s.q_heads + s.kv_heads) * 2;
  if (w.splits > 1) w.moved_bytes += width * s.q_heads * w.splits * 4;
  const double cache_bytes = s.batch * s.kv_heads * visible * token_bytes;
  w.traffic = replayed_traffic(cache_bytes, cache_bytes + w.moved_bytes, gpu_);
  return w;
}

double TrtllmDecode::latency_s(const Work& w, std::span<const double> v) const {
  if (w.kernel == Kernel::mmha) {
    return ceil_ratio(w.ctas, gpu_.sm_count * w.ctas_per_sm) *
           (mmha_start_(v) + w.cta_bytes * w.ctas_per_sm / mmha_rate_(v));
  }
  const double dim = std::exp(w.log_dim * dim_power_(v));
  if (w.kernel == Kernel::gmma) {
    return half_rounds(w.ctas / gpu_.sm_count / gmma_per_sm_(v)) *
           (gmma_start_(v) + w.blocks * gmma_block_(v)) * dim *
           (1 + w.further_head_tiles * gmma_heads_(v));
  }
  const double waves = w.ctas / gpu_.sm_count / xqa_per_sm_(v);
  return (w.whole_rounds ? std::ceil(waves) : half_rounds(waves)) *
         ((xqa_start_(v) + w.blocks * xqa_block_(v)) * dim *
              (1 + (w.many_heads ? xqa_heads_(v) : 0)) +
          w.cta_bytes / xqa_rate_(v));
}

double TrtllmDecode::exposed_s(const Work& w, std::span<const double> v) const {
  if (w.kernel == Kernel::mmha) return mmha_start_(v);
  const double dim = std::exp(w.log_dim * dim_power_(v));
  if (w.kernel == Kernel::gmma) return gmma_start_(v) * dim * (1 + w.further_head_tiles * gmma_heads_(v));
  return xqa_start_(v) * dim * (1 + (w.many_heads ? xqa_heads_(v) : 0));
}

DecodeTime TrtllmDecode::time(const Work& w, std::span<const double> v, CacheState cache) const {
  DecodeTime t =
      memory_and_latency(w.traffic, l2_(v), dram_(v), latency_s(w, v), exposed_s(w, v), overlap_(v), cache);
  t.launch_s = fixed_(v) + w.moved_bytes / activation_(v);
  if (w.splits > 1) {
    t.launch_s += (w.kernel == Kernel::mmha ? mmha_combine_(v) : combine_(v)) +
                  w.splits * combine_split_(v);
  }
  t.seconds += t.launch_s;
  return t;
}

}  // namespace smtwin
