// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/moe_work.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/families/moe/uniform_routing.hpp"

namespace smtwin {
namespace {

constexpr double kCacheLineBytes = 128;
// CUTLASS and triton_kernels: the latency constant counts 64 columns of K, whatever the tile's
// depth. Triton and Marlin: one step of the tile.
constexpr double kStepColumns = 64;
// Pairs from which SGLang sorts with two kernels of the whole grid.
constexpr double kSmallPairs = 1024;

struct Counts {
  double ctas_on_busiest_sm = 0;
  double rounds = 0;
};

Counts count_ctas(const MoeImplementation& how, double ctas, double sms, double resident) {
  const double per_sm = ctas / sms, in_rounds = ctas / (sms * resident);
  if (how.kernel == MoeKernel::marlin) return {std::max(per_sm, 1.0), std::max(per_sm, 1.0)};
  if (!how.triton()) return {std::ceil(per_sm), std::ceil(in_rounds)};
  const double refilled = in_rounds < 3 ? std::ceil(in_rounds) : in_rounds + 0.5;
  return {per_sm < 2 ? std::ceil(per_sm) : per_sm + 0.5, std::max(refilled, 1.0)};
}

class Counter {
 public:
  Counter(const MoeImplementation& how, const TimingGpu& gpu)
      : how_(how), gpu_(gpu), format_(moe_format(how, gpu)) {}

  const MoeFormat& format() const { return format_; }

  std::array<MoeGemmWork, 2> gemms(const MoeShape& s, const MoeRouting& r, double pairs,
                                   const std::vector<MoeTile>& tiles) const {
    const double width = s.inter_per_rank();
    return {gemm((s.gated ? 2 : 1) * width, s.hidden, r, pairs, tiles),
            gemm(s.hidden, width, r, pairs, tiles)};
  }

  double weight_bytes(const MoeShape& s, const MoeRouting& r) const {
    const double matrices = s.gated ? 3 : 2;
    return r.active_experts * matrices * s.hidden * s.inter_per_rank() * format_.weight_bytes;
  }

 private:
  MoeGemmWork gemm(double n, double k, const MoeRouting& r, double pairs,
                   const std::vector<MoeTile>& tiles) const {
    MoeGemmWork g;
    g.weight_bytes = r.active_experts * n * k * format_.weight_bytes;
    g.unaligned = std::fmod(k, 16) != 0;
    for (const MoeTile& t : tiles) g.tiles.push_back(tile(t, n, k, r, pairs));
    return g;
  }

  MoeTileWork tile(const MoeTile& t, double n, double k, const MoeRouting& r, double pairs) const {
    MoeTileWork w;
    const double row_tiles = r.tiles_of(t.rows), column_tiles = std::ceil(n / t.columns);
    const double steps = std::ceil(k / t.depth), columns = steps * t.depth;
    const double sms = gpu_.sm_count;
    const Counts c = count_ctas(how_, row_tiles * column_tiles, sms, t.ctas_per_sm);
    w.rounds = c.rounds;
    w.math_s =
        c.ctas_on_busiest_sm * 2 * t.rows * t.columns * columns / (format_.flops_per_s / sms);
    const double row_bytes = c.ctas_on_busiest_sm * t.rows * format_.activation_bytes * columns;
    w.feed_bytes = row_bytes + c.ctas_on_busiest_sm * t.columns * format_.weight_bytes * columns;
    const double slots = row_tiles * t.rows;
    w.empty_bytes = slots > 0 ? row_bytes * (1 - r.rows / slots) : 0;
    const bool per_tile_step = how_.triton() || how_.kernel == MoeKernel::marlin;
    w.steps = per_tile_step ? steps : columns / kStepColumns;
    if (how_.triton()) {
      w.remote_cta_rounds =
          std::max(pairs - r.rows, 0.0) / t.rows * column_tiles / (sms * t.ctas_per_sm);
      w.narrow = how_.kernel == MoeKernel::triton_trtllm ||
                 t.depth * format_.weight_bytes < kCacheLineBytes;
    }
    return w;
  }

  MoeImplementation how_;
  TimingGpu gpu_;
  MoeFormat format_;
};

// Bytes that rows move between kernels: read the token, write and read both projections' outputs,
// read and write the activation, sum. T' tokens seen, R rows, P pairs, h hidden, i width, g 2 or 1
// projections, a bytes of an activation.
//   CUTLASS   R (h (2 + a) + i (4 g + a) + 4 h)
//   Marlin    R h (2 + a) + max(R, P) (i (4 g + a) + 4 h): activation and sum run over all pairs
//   Triton    T' h (2 + z) + R i (4 g + 2) + P (2 g i + 4 h + z i)
// z = 3 for block-scaled FP8 (read BF16, write FP8). TensorRT-LLM's Triton path widens in the
// kernel (z = 0) and zeroes a buffer: + P 2 g i. With k = 1 SGLang writes straight to the output
// and sums nothing: P 2 h.
double row_bytes(const MoeImplementation& how, const MoeShape& s, const MoeRouting& r,
                 double tokens, double pairs, double activation_bytes) {
  const double h = s.hidden, i = s.inter_per_rank(), g = s.gated ? 2 : 1, a = activation_bytes;
  if (how.triton()) {
    const bool trtllm = how.kernel == MoeKernel::triton_trtllm;
    const double z = how.dtype == MoeDtype::fp8_block && !trtllm ? 3 : 0;
    const double summed = s.topk == 1 && how.kernel == MoeKernel::triton_sglang ? 2 : 4;
    return tokens * h * (2 + z) + r.rows * i * (4 * g + 2) +
           pairs * (2 * g * i + summed * h + z * i + (trtllm ? 2 * g * i : 0));
  }
  const double moved = how.kernel == MoeKernel::marlin ? std::max(pairs, r.rows) : r.rows;
  return r.rows * h * (2 + a) + moved * (i * (4 * g + a) + 4 * h);
}

// TensorRT-LLM and FlashInfer sort up to 256 tokens in one CTA, a thread a token, for the usual k;
// beyond that three kernels do it (both kernels read). The first is taken as growing with tokens.
// SGLang's Triton path has kernels of the whole grid from kSmallPairs on.
double sort_share(const MoeImplementation& how, const MoeShape& s) {
  if (how.kernel == MoeKernel::triton_sglang) return s.tokens * s.topk >= kSmallPairs ? 1 : 0;
  constexpr double kOneCtaTokens = 256;
  const bool usual = s.topk == 1 || s.topk == 2 || s.topk == 4 || s.topk == 6 || s.topk == 8;
  return usual ? std::min(s.tokens / kOneCtaTokens, 1.0) : 1;
}

// SGLang's sorting kernel of small batches (under 1024 pairs, at most 64 experts) is one CTA with a
// thread an expert, at least a warp; every thread walks the pairs with that stride.
double align_passes(const MoeShape& s) {
  constexpr double kSmallExperts = 64, kWarp = 32;
  const double pairs = s.tokens * s.topk;
  if (pairs >= kSmallPairs || s.local_experts() > kSmallExperts) return 0;
  return pairs / std::max(s.local_experts(), kWarp);
}

}  // namespace

MoeWork moe_work(const MoeImplementation& how, const TimingGpu& gpu, const MoeShape& shape,
                 const MoeRouting& routing) {
  const Counter counter(how, gpu);
  MoeWork w;
  w.shape = shape;
  w.active_experts = routing.active_experts;
  // Tokens without a local expert had left before the kernel was timed.
  const bool left = routing.remote == RemotePairs::first_expert;
  const double tokens = left && shape.ep > 1 ? routing.tokens_seen : shape.tokens;
  const bool all_computed = how.kernel == MoeKernel::triton_trtllm || left;
  w.pairs = all_computed ? routing.rows : shape.tokens * shape.topk;
  w.token_elements = shape.tokens * shape.hidden;
  w.row_bytes = row_bytes(how, shape, routing, tokens, w.pairs, counter.format().activation_bytes);
  w.weight_bytes = counter.weight_bytes(shape, routing);
  w.sort_share = sort_share(how, shape);
  w.align_passes = align_passes(shape);

  w.tiles = moe_tiles(how, gpu, shape, tokens);
  w.gemms = counter.gemms(shape, routing, w.pairs, w.tiles);
  if (how.kernel == MoeKernel::cutlass) {
    MoeShape timed = shape;
    timed.tokens = tuner_tokens(shape.tokens);
    const MoeRouting uniform = uniform_routing(timed);
    w.tuned_gemms = counter.gemms(timed, uniform, w.pairs, w.tiles);
    w.tuned_weight_bytes = counter.weight_bytes(timed, uniform);
  }
  return w;
}

}  // namespace smtwin
