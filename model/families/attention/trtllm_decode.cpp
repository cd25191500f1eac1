// SPDX-License-Identifier: Apache-2.0
#include "model/families/attention/trtllm_decode.hpp"

#include <algorithm>
#include <cmath>

#include "model/families/attention/split_rules.hpp"

namespace smtwin {

namespace {

constexpr double kReferenceDim = 128;
constexpr double kReferenceThreads = 1024;
constexpr double kBlockTokens = 64;
constexpr double kMaxPartialBlocks = 6000;  // XQA: splits times sequences
constexpr double kTokensPerPart = 128;
constexpr double kXqaMaxGroup = 32;
constexpr double kXqaMinFill = 4;  // XQA only if it has a CTA for every fourth SM
// Inferred from rows: an XQA tile of 32 query heads against one of 8, a CTA that finds its part
// outside the window against a full start, splits that double the combining.
constexpr double kXqaHeads = 0.25;
constexpr double kEmptyStart = 0.5;
constexpr double kCombineSplits = 24;

// Query heads of a tile.
double head_rows(double group) { return group <= 8 ? 8 : group <= 16 ? 16 : 32; }

double compiled_dim(double head_dim) { return head_dim == 192 ? 256 : head_dim; }

// CTAs of 256 MMHA threads that an SM holds: registers of the instances, inferred from the batch
// at which rows of a few tokens start a new round.
double mmha_small_ctas(const TimingGpu& gpu, bool fp8, double head_dim) {
  const bool odd = head_dim == 192;
  if (gpu.hopper()) return odd ? 3 : 4;
  return fp8 ? 4 : odd ? 2 : 3;
}

}  // namespace

TrtllmDecode::TrtllmDecode(const TimingGpu& gpu, AttentionFamily family)
    : gpu_(gpu), family_(family) {
  dram_ = table_.add(dram_rate_spec(gpu));
  fixed_ = table_.add(fixed_time_spec(3.6e-6));
  activation_ = table_.add(activation_rate_spec(gpu));
  dim_growth_ = table_.add(
      factor_spec("dim_growth", "share that an XQA CTA's start grows by with (D/128)^2", 0.1, 0));
  mmha_start_ = table_.add(time_spec("mmha_start", "an MMHA CTA without its KV", 4e-6));
  mmha_rate_ = table_.add(rate_spec("mmha_rate", "KV bytes through 1024 threads of MMHA", 50e9));
  mmha_combine_ = table_.add(time_spec("mmha_combine", "combining MMHA's parts", 2.8e-6));
  xqa_start_ = table_.add(time_spec("xqa_start", "an XQA CTA without its KV", 3e-6));
  xqa_block_ = table_.add(time_spec("xqa_block", "64 tokens of KV in an XQA CTA, D = 128", 0.6e-6));
  const bool hopper_fp8 = gpu.hopper() && family.fp8_kv;
  if (!hopper_fp8) {  // there XQA only has 64-wide heads
    block_power_ = table_.add(
        factor_spec("block_power", "power of D/128 that a block's time grows with", 1, 0));
  }
  if (gpu.hopper() || !family.fp8_kv) {  // SM120's FP8 kernel never splits, and starts as MMHA does
    prepare_ = table_.add(time_spec(
        "xqa_prepare", "kernel that stores new keys and values, as MMHA does itself", 1e-6));
    combine_ =
        table_.add(time_spec("combine", "the last CTA of a sequence combines its parts", 1.6e-6));
  }
  if (hopper_fp8) {
    gmma_start_ = table_.add(time_spec("gmma_start", "a GMMA CTA without its KV", 1.5e-6));
    gmma_block_ =
        table_.add(time_spec("gmma_block", "64 tokens of KV in a GMMA CTA, D = 128", 0.6e-6));
    gmma_heads_ = table_.add(
        factor_spec("gmma_heads", "more time of a GMMA CTA per further 8 query heads", 0.4, 0));
  }
}

TrtllmDecode::Kernel TrtllmDecode::kernel(const AttentionShape& s) const {
  const double group = s.group();
  if (group <= 1 || group > kXqaMaxGroup) return Kernel::mmha;
  const double parts = std::max(1.0, std::floor(s.kv_tokens / kTokensPerPart));
  if (!family_.fp8_kv && s.batch * s.kv_heads * parts * kXqaMinFill < gpu_.sm_count) {
    return Kernel::mmha;
  }
  return gpu_.hopper() && family_.fp8_kv && s.head_dim != 64 ? Kernel::gmma : Kernel::xqa;
}

// Shared memory of a tile with its queries; inferred from where rows start a new round.
double TrtllmDecode::ctas_per_sm(Kernel k, const AttentionShape& s) const {
  if (!gpu_.hopper() || !family_.fp8_kv) return 1;
  const double rows = head_rows(s.group());
  if (k == Kernel::gmma) return s.head_dim <= kReferenceDim || rows <= 8 ? 2 : 1;
  return rows <= 8 ? 4 : rows <= 16 ? 3 : 2;
}

void TrtllmDecode::cut_mmha(const AttentionShape& s, Work& w) const {
  const double units = s.batch * s.q_heads;
  const MmhaLaunch launch = mmha_launch(units, s.head_dim, s.kv_tokens, gpu_.sm_count,
                                        mmha_small_ctas(gpu_, family_.fp8_kv, s.head_dim));
  w.splits = launch.splits;
  w.ctas_per_sm = launch.ctas_per_sm;
  w.threads = launch.threads;
  w.ctas = units * w.splits;
  w.cta_bytes =
      ceil_ratio(s.visible_tokens(), w.splits) * 2 * s.head_dim * family_.kv_element_bytes();
}

void TrtllmDecode::cut_xqa(const AttentionShape& s, Work& w) const {
  const double units = s.batch * s.kv_heads;
  // SM120's FP8 kernel is launched with one part whatever the batch.
  if (gpu_.hopper() || !family_.fp8_kv) {
    w.splits = std::max(1.0, std::min(xqa_splits(units, s.kv_tokens, gpu_.sm_count),
                                      std::floor(kMaxPartialBlocks / s.batch)));
  }
  const double blocks = ceil_ratio(s.kv_tokens, kBlockTokens) -
                        std::floor((s.kv_tokens - s.visible_tokens()) / kBlockTokens);
  const double busy = std::min(w.splits, blocks);
  w.blocks = ceil_ratio(blocks, busy);
  w.ctas = units * busy;
  if (!family_.fp8_kv) w.empty_ctas = units * (w.splits - busy);
  w.ctas_per_sm = ctas_per_sm(w.kernel, s);
}

TrtllmDecode::Work TrtllmDecode::work(const AttentionShape& s) const {
  Work w;
  w.kernel = kernel(s);
  const double d = compiled_dim(s.head_dim) / kReferenceDim;
  w.log_dim = std::log(d);
  w.dim_squared = d * d;
  w.further_head_tiles = head_rows(s.group()) / 8 - 1;
  if (w.kernel == Kernel::mmha) {
    cut_mmha(s, w);
  } else {
    cut_xqa(s, w);
  }
  w.moved_bytes = activation_bytes(s);
  if (w.splits > 1) w.moved_bytes += s.batch * s.q_heads * s.head_dim * w.splits * 4;
  // The warp-group kernel loads whole blocks, whatever of them is valid.
  const double tokens = w.kernel == Kernel::gmma
                            ? ceil_ratio(s.visible_tokens(), kBlockTokens) * kBlockTokens
                            : s.visible_tokens();
  const double cache_bytes =
      s.batch * s.kv_heads * tokens * 2 * s.head_dim * family_.kv_element_bytes();
  w.traffic = replayed_traffic(cache_bytes, cache_bytes + w.moved_bytes, gpu_);
  return w;
}

CtaRounds TrtllmDecode::ctas(const Work& w, std::span<const double> v) const {
  const double slots = gpu_.sm_count * w.ctas_per_sm;
  const double rounds = ceil_ratio(w.ctas, slots);
  const double dim = 1 + w.dim_squared * dim_growth_(v);
  CtaRounds c;
  switch (w.kernel) {
    case Kernel::mmha:
      c.start_s = mmha_start_(v);
      c.latency_s =
          rounds * (c.start_s + w.cta_bytes * kReferenceThreads / w.threads / mmha_rate_(v));
      break;
    case Kernel::gmma: {
      const double width = dim * (1 + w.further_head_tiles * gmma_heads_(v));
      c.start_s = gmma_start_(v) * width;
      c.latency_s = rounds * (c.start_s + w.blocks * gmma_block_(v) * width);
      break;
    }
    case Kernel::xqa: {
      c.start_s = xqa_start_(v) * dim * (1 + w.further_head_tiles / 3 * kXqaHeads);
      const double empty_rounds = ceil_ratio(w.ctas + w.empty_ctas, slots) - rounds;
      const double block = xqa_block_(v) * std::exp(w.log_dim * block_power_(v));
      c.latency_s =
          rounds * (c.start_s + w.blocks * block) + empty_rounds * kEmptyStart * xqa_start_(v);
      break;
    }
  }
  return c;
}

DecodeTime TrtllmDecode::time(const Work& w, std::span<const double> v, CacheState cache) const {
  DecodeTime t = memory_and_latency(w.traffic, typical_l2_rate(gpu_), dram_(v), ctas(w, v), cache);
  t.launch_s =
      fixed_(v) + w.moved_bytes / activation_(v) + (w.kernel == Kernel::xqa ? prepare_(v) : 0);
  if (w.splits > 1) {
    t.launch_s +=
        w.kernel == Kernel::mmha ? mmha_combine_(v) : combine_(v) * (1 + w.splits / kCombineSplits);
  }
  t.seconds += t.launch_s;
  return t;
}

}  // namespace smtwin
