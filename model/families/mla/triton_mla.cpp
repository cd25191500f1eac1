// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/triton_mla.hpp"

#include <algorithm>
#include <cmath>

#include "model/timing/norms.hpp"

namespace smtwin {

namespace {

constexpr double kCtasPerSm = 2;
constexpr double kBlockTokens = 32;
// Stage 2's CTA: the prior for kernels alone (SGLang's rows on SM120 give 0.85 us), held inside
// modules, whose rows do not tell it from the rest.
constexpr double kHeadSeconds = 0.8e-6;
// Longer splits of a sequence drift apart. Inferred from SM120's rows beyond the L2 and held; no
// trace confirms it.
constexpr double kTogetherTokens = 1024;

double norm3(double a, double b, double c) { return std::cbrt(a * a * a + b * b * b + c * c * c); }

// The kernel for one head multiplies without tensor cores: its block of 64 tokens against a block
// of 32 tokens for 16 heads, and its lighter CTAs (several are dispatched to an SM where the other
// kernel's shared memory allows one or two). SGLang's draws less from the L2 than the other kernel,
// vLLM's as much; the cause is not known. All three ratios come from fits of SM120's Triton rows
// with a free constant each for one head, rounded and held; only one-head shapes feel them.
constexpr double kSingleHeadTokens = 64;
constexpr double kSingleHeadBlock = 4.75;
constexpr double kSglangSingleHeadL2 = 0.45;
constexpr double kSingleHeadEmpty = 0.4;

}  // namespace

TritonMla::TritonMla(const TimingGpu& gpu, MlaFamily family, bool in_module,
                     MlaConstants& constants)
    : gpu_(gpu), family_(family) {
  fixed_s_ = empty_s_ = MlaConstant(0);
  dram_rate_ = constants.dram_rate(gpu);
  block_s_ = constants.time("block_time", "32 tokens for 16 heads in one CTA, alone on its SM",
                            2.3e-6, 0.4);
  // Gathered 32-token tiles: a sixth of the 32 B a cycle and SM of a plain copy.
  l2_rate_ = constants.rate("l2_rate", "B/s", "KV bytes into all SMs together",
                            5.2 * gpu.sm_count * gpu.clock_hz, 0.3);
  split_s_ = constants.time("split_time", "stage 2, per split of a sequence, one after another",
                            0.25e-6, 0.4);
  head_s_ = in_module ? MlaConstant(kHeadSeconds)
                      : constants.time("head_time", "stage 2, per (sequence, head) CTA of an SM",
                                       kHeadSeconds);
  if (family.provider == MlaLibrary::sglang_triton) {
    empty_s_ =
        constants.time("empty_time", "dispatch of a stage-1 CTA that has no tokens", 1.6e-9, 0.4);
  }
  if (in_module) return;
  fixed_s_ =
      constants.time("fixed_time", "launch gaps, prologues and epilogues of two kernels", 12e-6);
}

TritonMla::Work TritonMla::work(const MlaShape& shape, double other_bytes) const {
  const bool sglang = family_.provider == MlaLibrary::sglang_triton;
  Work w;
  w.plan =
      sglang ? sglang_triton_plan(shape, gpu_.sm_count) : vllm_triton_plan(shape, gpu_.sm_count);
  w.single_head = shape.heads == 1;
  w.blocks =
      std::ceil(w.plan.tokens_per_split / (w.single_head ? kSingleHeadTokens : kBlockTokens));
  w.kv_bytes = shape.kv_bytes(family_.fp8_kv ? 1 : 2);
  const double token_bytes = w.kv_bytes / (shape.batch * shape.kv_tokens);
  w.cta_bytes = std::min(w.plan.tokens_per_split, shape.kv_tokens) * token_bytes;
  const double ctas = shape.batch * w.plan.head_tiles * w.plan.splits;
  w.slots = kCtasPerSm * gpu_.sm_count;
  w.full_waves = std::floor(ctas / w.slots);
  w.rest_ctas = ctas - w.full_waves * w.slots;
  w.busy = std::min(1.0, ctas / gpu_.sm_count);
  const double window = w.plan.tokens_per_split <= kTogetherTokens ? w.slots : gpu_.sm_count;
  const double together =
      std::min(w.plan.head_tiles, std::max(1.0, std::floor(window / shape.batch)));
  w.dram_reads = 1 / together;
  if (sglang) w.launched_ctas = shape.batch * w.plan.head_tiles * w.plan.launched_splits;
  w.heads_per_sm = shape.batch * shape.heads / gpu_.sm_count;
  w.cold = replayed_cold_share(w.kv_bytes + other_bytes, gpu_);
  return w;
}

MlaTime TritonMla::time(const Work& w, std::span<const double> values, CacheState cache) const {
  const double cold = cache == CacheState::cold ? 1 : w.cold;
  const double block_s = w.blocks * block_s_(values) * (w.single_head ? kSingleHeadBlock : 1);
  const bool slow_gather = w.single_head && family_.provider == MlaLibrary::sglang_triton;
  const double l2_s = w.cta_bytes / (l2_rate_(values) * (slow_gather ? kSglangSingleHeadL2 : 1));
  const double dram_s = w.cta_bytes * cold * w.dram_reads / dram_rate_(values);
  const auto wave_s = [&](double ctas) { return norm3(block_s, ctas * l2_s, ctas * dram_s); };
  const double stage1_s = (w.full_waves > 0 ? w.full_waves * wave_s(w.slots) : 0) +
                          (w.rest_ctas > 0 ? wave_s(w.rest_ctas) : 0);
  const double dispatch_s =
      w.launched_ctas * empty_s_(values) * (w.single_head ? kSingleHeadEmpty : 1);
  const double stage2_s = w.plan.splits * split_s_(values) + w.heads_per_sm * head_s_(values);
  const double ctas = w.full_waves * w.slots + w.rest_ctas;

  MlaTime t;
  t.latency_s = (w.full_waves + (w.rest_ctas > 0 ? 1 : 0)) * block_s + stage2_s;
  t.l2_s = ctas * l2_s;
  t.dram_s = ctas * dram_s;
  t.launch_s = fixed_s_(values) + dispatch_s;
  t.seconds = fixed_s_(values) + norm2(stage1_s, (1 - w.busy) * dispatch_s) + w.busy * dispatch_s +
              stage2_s;
  return t;
}

}  // namespace smtwin
