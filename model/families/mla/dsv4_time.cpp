// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/dsv4_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "arch/error.hpp"

namespace smtwin {

namespace {

constexpr double kHeadDim = 512;
constexpr double kWindow = 128;
constexpr double kCsaRatio = 4, kHcaRatio = 128;
constexpr double kOutputRank = 1024, kHeadsPerOutputGroup = 8;
constexpr double kCompressorCsa = 2048, kCompressorHca = 1024, kIndexerQuery = 8704;
constexpr double kBf16 = 2;
constexpr double kPartialElementBytes = 4;  // FP32
// Combine kernel, per split: the prior for HCA, held in CSA, whose sequences have few splits.
constexpr double kSplitSeconds = 0.2e-6;
// What a single row pays of gathering the rows of the output groups. From H200's BF16 rows, held.
constexpr double kSingleRowGather = 0.5;
constexpr double kEntryBytes = 584;  // FP8 latent, BF16 rope, scales
constexpr double kIndexBytes = 132;  // FP8 key of the indexer and its scale
// Values a token that norms, rope and copies read and write: four passes over the hidden state and
// over 512 values of each head. Assumed, not verified: only their ratio matters, `activation_rate`
// takes up any common factor.
constexpr double kHiddenPasses = 4, kHeadValues = 2048;

// Selection of the top-k: free up to top-k entries (all are read), full cost 512 entries later, as
// H200's rows rise from one step of the context to the next.
constexpr double kSelectRamp = 512;
// SGLang takes another kernel from here on: its rows of 131072 tokens and more (1-4 sequences) are
// faster by the whole selection, what is left is within index_time.
constexpr double kSglangSelectLimit = 32768;

// Compressed entries from which on the selection kernel is another one that costs nothing beside
// the indexer. vLLM's rows end at half of SGLang's limit: no second kernel is assumed.
double select_limit(ServingFramework framework) {
  return framework == ServingFramework::sglang ? kSglangSelectLimit
                                               : std::numeric_limits<double>::infinity();
}

double compressed(const Dsv4Shape& s, bool csa) {
  return std::floor(s.kv_tokens / (csa ? kCsaRatio : kHcaRatio));
}

double compressed_read(const Dsv4Shape& s, bool csa) {
  const double c = compressed(s, csa);
  return csa ? std::min(c, s.dims.top_k) : c;
}

double entries_read(const Dsv4Shape& s, bool csa) {
  return std::min(s.kv_tokens, kWindow) + compressed_read(s, csa);
}

// Their GEMMs pay for the height of a tile; vLLM's rows show no such cost.
bool sglang_fp8(ServingFramework framework, ProjectionType type) {
  return framework == ServingFramework::sglang && type == ProjectionType::fp8_block;
}

Projections::Work projections_of(const Dsv4Shape& s, bool csa, ProjectionType type,
                                 const TimingGpu& gpu) {
  const double b = projection_weight_bytes(type), hidden = s.dims.hidden, q = s.dims.query_rank;
  Projections::Work w;
  w.rows = s.batch;
  w.add({.n = q + kHeadDim, .k = hidden, .element_bytes = b});
  w.add({.n = s.heads * kHeadDim, .k = q, .element_bytes = b});
  w.add({.n = s.heads * kHeadDim, .k = kOutputRank, .element_bytes = b});
  w.add({.n = hidden, .k = s.heads / kHeadsPerOutputGroup * kOutputRank, .element_bytes = b});
  w.add({.n = csa ? kCompressorCsa : kCompressorHca, .k = hidden, .element_bytes = kBf16});
  if (csa) w.add({.n = kIndexerQuery, .k = q, .element_bytes = b});
  const double kv =
      s.batch * (entries_read(s, csa) * kEntryBytes + (csa ? compressed(s, csa) * kIndexBytes : 0));
  w.cold = replayed_cold_share(w.weight_bytes() + kv, gpu);
  return w;
}

}  // namespace

Dsv4Dims dsv4_flash_dims() { return {.hidden = 4096, .query_rank = 1024, .top_k = 512}; }
Dsv4Dims dsv4_pro_dims() { return {.hidden = 7168, .query_rank = 1536, .top_k = 1024}; }

Dsv4TimeModel::Dsv4TimeModel(const TimingGpu& gpu, ServingFramework framework, bool csa,
                             ProjectionType type)
    : gpu_(gpu),
      csa_(csa),
      type_(type),
      select_limit_(select_limit(framework)),
      projections_(gpu, type, false, constants_, sglang_fp8(framework, type)) {
  if (!gpu.hopper()) {
    throw DataError("DeepSeek-V4 attention on " + gpu.name +
                    ": only Hopper's sparse kernels are modelled for deployments; compose it from "
                    "the latent-attention and GEMM families");
  }
  if (framework == ServingFramework::trtllm) {
    throw DataError("DeepSeek-V4 attention of " + std::string(to_string(framework)) +
                    ": no rows of it were measured; use vllm or sglang");
  }
  start_s_ = group_s_ = index_s_ = select_s_ = MlaConstant(0);
  split_s_ = MlaConstant(kSplitSeconds);
  fixed_s_ = constants_.time("fixed_time", "launch gaps and short kernels of the module",
                             csa ? 55e-6 : 36e-6, 0.4);
  block_s_ =
      constants_.time("block_time", "64 gathered entries for 64 heads on an SM", 2.5e-6, 0.4);
  sequence_s_ = constants_.time("sequence_time", "small kernels' cost per sequence", 100e-9);
  activation_rate_ = constants_.rate("activation_rate", "B/s", "norms, rope, queries and outputs",
                                     0.5 * gpu.dram_bytes_per_s);
  if (csa) {
    index_s_ =
        constants_.time("index_time", "indexer, per compressed entry of a sequence", 0.11e-9, 0.4);
    select_s_ =
        constants_.time("select_time", "selection of the top-k, a round of one sequence an SM",
                        framework == ServingFramework::sglang ? 80e-6 : 8e-6, 0.5);
  } else {
    group_s_ = constants_.time("group_time", "gathering rows of several output groups", 5e-6);
    split_s_ = constants_.time("split_time", "combine kernel, per split", kSplitSeconds);
    if (sglang_fp8(framework, type)) {
      start_s_ =
          constants_.time("start_time", "start of an attention tile before its first block", 4e-6);
    }
  }
}

Dsv4TimeModel::Work Dsv4TimeModel::work(const Dsv4Shape& s) const {
  const double c = compressed(s, csa_);
  const double blocks = std::ceil(std::min(s.kv_tokens + 1, kWindow) / kMlaKvBlock) +
                        std::ceil(compressed_read(s, csa_) / kMlaKvBlock);
  const double padded_heads = std::ceil(s.heads / kMlaQueryTile) * kMlaQueryTile;
  Work w;
  w.projections = projections_of(s, csa_, type_, gpu_);
  w.batch = s.batch;
  w.rounds = flashmla_rounds(
      {.batch = s.batch, .heads = s.heads, .kv_tokens = blocks * kMlaKvBlock}, gpu_.sm_count);
  w.partial_bytes = w.rounds.partials * padded_heads * kHeadDim * kPartialElementBytes;
  if (s.heads > kHeadsPerOutputGroup) w.gathers = s.batch > 1 ? 1 : kSingleRowGather;
  if (csa_) {
    w.indexed_entries = s.batch * c;
    if (c < select_limit_) {
      w.selections = std::clamp((c - s.dims.top_k) / kSelectRamp, 0.0, 1.0) *
                     std::ceil(s.batch / gpu_.sm_count);
    }
  }
  w.activation_bytes = kBf16 * s.batch * (kHiddenPasses * s.dims.hidden + kHeadValues * s.heads);
  return w;
}

MlaTime Dsv4TimeModel::time(const Work& w, std::span<const double> values, CacheState cache) const {
  MlaTime t = projections_.time(w.projections, values, cache);
  const double attention_s = w.rounds.pieces * start_s_(values) +
                             w.rounds.blocks * block_s_(values) +
                             w.rounds.splits * split_s_(values);
  const double partial_s = w.partial_bytes / gpu_.dram_bytes_per_s;
  const double index_s = w.indexed_entries * index_s_(values);
  const double select_s = w.selections * select_s_(values);
  const double activation_s = w.activation_bytes / activation_rate_(values);
  const double fixed_s =
      fixed_s_(values) + w.batch * sequence_s_(values) + w.gathers * group_s_(values);
  t.latency_s += attention_s + select_s;
  t.dram_s += index_s;
  t.l2_s += activation_s + partial_s;
  t.launch_s += fixed_s;
  t.seconds += fixed_s + attention_s + partial_s + index_s + select_s + activation_s;
  return t;
}

Dsv4FallbackTimeModel::Dsv4FallbackTimeModel(const TimingGpu& gpu, bool csa, ProjectionType type)
    : gpu_(gpu), csa_(csa), type_(type) {
  if (!gpu.sm120()) {
    throw DataError("DeepSeek-V4 attention on " + gpu.name +
                    ": the unfused fallback was measured on SM120 only; Hopper runs the sparse "
                    "kernels");
  }
  small_batch_s_ = MlaConstant(0);
  dram_rate_ = constants_.dram_rate(gpu);
  fixed_s_ =
      constants_.time("fixed_time", "kernels that every step launches", csa ? 80e-6 : 260e-6);
  round_s_ = csa ? constants_.time("sequence_time", "unfused kernels of one sequence", 650e-6)
                 : constants_.time("round_time", "one round of the unfused kernel's CTAs", 2e-3);
  entry_s_ =
      constants_.time("entry_time", "per compressed entry of a sequence", csa ? 0.6e-9 : 35e-9);
  if (csa) {
    small_batch_s_ = constants_.time("small_batch_time",
                                     "per doubling of the batch up to 16, whole module", 60e-6);
  }
}

Dsv4FallbackTimeModel::Work Dsv4FallbackTimeModel::work(const Dsv4Shape& s) const {
  constexpr double kPaddedHeads = 64, kSmallBatch = 16;
  const Projections::Work weights = projections_of(s, csa_, type_, gpu_);
  Work w;
  w.rounds = csa_ ? s.batch : std::ceil(kPaddedHeads * s.batch / gpu_.sm_count);
  w.entries = s.batch * compressed(s, csa_);
  w.doublings = std::log2(std::min(s.batch, kSmallBatch));
  w.weight_bytes = weights.weight_bytes();
  w.cold = weights.cold;
  return w;
}

MlaTime Dsv4FallbackTimeModel::time(const Work& w, std::span<const double> values,
                                    CacheState cache) const {
  const double cold = cache == CacheState::cold ? 1 : w.cold;
  MlaTime t;
  t.latency_s = w.rounds * round_s_(values) + w.entries * entry_s_(values);
  t.dram_s = w.weight_bytes * cold / dram_rate_(values);
  t.launch_s = fixed_s_(values) + w.doublings * small_batch_s_(values);
  t.seconds = t.launch_s + t.latency_s + t.dram_s;
  return t;
}

}  // namespace smtwin
