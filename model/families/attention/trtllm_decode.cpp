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
constexpr double kReferenceDim = 128;

// CTAs of 256 MMHA threads that an SM holds: registers of the instances, from where rows of one
// token start a new round.
double mmha_small_ctas(const TimingGpu& gpu, bool fp8, double head_dim) {
  const bool odd = head_dim == 192;
  if (gpu.hopper()) return odd ? 3 : 4;
  return fp8 ? 4 : odd ? 2 : 3;
}

// Query rows of a tile: 8, 16 or 32 heads of a group.
double head_rows(double group) { return group <= 8 ? 8 : group <= 16 ? 16 : 32; }

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
  l2_.fixed = typical_l2_rate(gpu);
  activation_ = table_.add(activation_rate_spec(gpu));
  dim_power_ =
      table_.add(number("dim_growth", "share that a CTA's start grows by with (D/128)^2", 0.15, 0.005, 2, 0));
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
  // SM120's FP8 kernel never splits.
  if (gpu.hopper() || !family.fp8_kv) {
    combine_ = table_.add(time("combine", "last CTA of an XQA sequence combines its parts", 1.5e-6,
                               0.005e-6, 10e-6));
  }
  if (hopper_fp8) {
    gmma_start_ = table_.add(time("gmma_start", "one GMMA CTA without its KV, D = 128", 1.5e-6, 0.05e-6,
                                  20e-6));
    gmma_block_ = table_.add(time("gmma_block", "64 tokens of KV in a GMMA CTA, D = 128", 0.5e-6,
                                  0.005e-6, 10e-6));
    gmma_heads_ = table_.add(number("gmma_heads", "more time of a GMMA CTA per further 8 query heads",
                                    0.4, 0.001, 2, 0));
  } else {
    if (!family.fp8_kv) combine_split_ = table_.add(time("combine_split", "combining, per part", 0.1e-6, 0.0005e-6, 1e-6));
    block_power_ = table_.add(number("block_power", "power of D/128 that a block of KV grows with", 1.2, 0.2, 3, 0));
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

double TrtllmDecode::ctas_per_sm(Kernel k, const AttentionShape& s) const {
  if (!gpu_.hopper() || !family_.fp8_kv) return 1;
  const double rows = head_rows(s.group());
  if (k == Kernel::gmma) return s.head_dim <= kReferenceDim || rows <= 8 ? 2 : 1;
  return rows <= 8 ? 4 : rows <= 16 ? 3 : 2;
}

TrtllmDecode::Work TrtllmDecode::work(const AttentionShape& s) const {
  Work w;
  w.kernel = kernel(s);
  const double token_bytes = 2 * s.head_dim * family_.kv_element_bytes();
  const double visible = s.visible_tokens();
  // The kernels are compiled for powers of two: 192 runs as 256.
  w.dim2 = std::pow((s.head_dim == 192 ? 256 : s.head_dim) / kReferenceDim, 2);
  w.log_dim = std::log((s.head_dim == 192 ? 256 : s.head_dim) / kReferenceDim);
  w.further_head_tiles = head_rows(s.group()) / 8 - 1;
  if (w.kernel == Kernel::mmha) {
    const double units = s.batch * s.q_heads;
    const MmhaLaunch launch = mmha_launch(
        units, s.head_dim, s.kv_tokens, gpu_.sm_count,
        mmha_small_ctas(gpu_, family_.fp8_kv, s.head_dim));
    w.splits = launch.splits;
    w.ctas_per_sm = launch.ctas_per_sm;
    w.threads = launch.threads;
    w.ctas = units * w.splits;
    w.cta_bytes = ceil_ratio(visible, w.splits) * token_bytes;
  } else {
    // SM120's FP8 kernel is launched with one part whatever the batch.
    if (!(gpu_.sm120() && family_.fp8_kv)) {
      w.splits = std::max(1.0, std::min(xqa_splits(s.batch * s.kv_heads, s.kv_tokens, gpu_.sm_count),
                                        std::floor(kMaxPartialBlocks / s.batch)));
    }
    w.ctas_per_sm = ctas_per_sm(w.kernel, s);
    const double blocks = ceil_ratio(s.kv_tokens, kBlockTokens) -
                          std::floor((s.kv_tokens - visible) / kBlockTokens);
    const double busy = std::min(w.splits, blocks);
    w.blocks = ceil_ratio(blocks, busy);
    w.cta_bytes = ceil_ratio(visible, busy) * token_bytes;
    w.ctas = s.batch * s.kv_heads * busy;
    w.empty_ctas = family_.fp8_kv ? 0 : s.batch * s.kv_heads * (w.splits - busy);
  }
  const double width = s.batch * s.head_dim;
  w.moved_bytes = width * 2 * (s.q_heads + s.kv_heads) * 2;
  if (w.splits > 1) w.moved_bytes += width * s.q_heads * w.splits * 4;
  // The warp-group kernel loads whole blocks, whatever of them is valid.
  const double loaded = w.kernel == Kernel::gmma ? ceil_ratio(visible, kBlockTokens) * kBlockTokens : visible;
  const double cache_bytes = s.batch * s.kv_heads * loaded * token_bytes;
  w.traffic = replayed_traffic(cache_bytes, cache_bytes + w.moved_bytes, gpu_);
  return w;
}

CtaRounds TrtllmDecode::ctas(const Work& w, std::span<const double> v) const {
  const double slots = gpu_.sm_count * w.ctas_per_sm;
  CtaRounds c;
  const double rounds = ceil_ratio(w.ctas, slots);
  if (w.kernel == Kernel::mmha) {
    c.start_s = mmha_start_(v);
    c.latency_s = rounds * (c.start_s + w.cta_bytes * 1024 / w.threads / mmha_rate_(v));
    return c;
  }
  const double dim = 1 + w.dim2 * dim_power_(v);
  if (w.kernel == Kernel::gmma) {
    const double width = dim * (1 + w.further_head_tiles * gmma_heads_(v));
    c.start_s = gmma_start_(v) * width;
    c.latency_s = rounds * (c.start_s + w.blocks * gmma_block_(v) * width);
    return c;
  }
  c.start_s = xqa_start_(v) * dim * (1 + w.further_head_tiles / 3 * xqa_heads_(v));
  const double empty_rounds = ceil_ratio(w.ctas + w.empty_ctas, slots) - rounds;
  c.latency_s = rounds * (c.start_s + w.blocks * xqa_block_(v) * std::exp(w.log_dim * block_power_(v))) +
                empty_rounds * 0.5 * xqa_start_(v);
  return c;
}

DecodeTime TrtllmDecode::time(const Work& w, std::span<const double> v, CacheState cache) const {
  DecodeTime t =
      memory_and_latency(w.traffic, l2_(v), dram_(v), ctas(w, v), cache);
  t.launch_s = fixed_(v) + w.moved_bytes / activation_(v);
  if (w.splits > 1) {
    t.launch_s += (w.kernel == Kernel::mmha ? mmha_combine_(v) : combine_(v)) +
                  (w.kernel == Kernel::mmha ? 0 : w.splits * combine_split_(v));
  }
  t.seconds += t.launch_s;
  return t;
}

}  // namespace smtwin
