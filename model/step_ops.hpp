// SPDX-License-Identifier: Apache-2.0
// A decode step as the kernels one rank runs: which op, on which shape, moving which bytes. One
// token for each of `batch` running sequences. The lists follow public model and framework sources
// by family: step_gqa.cpp, step_mla.cpp, step_dsv4.cpp, step_linear.cpp, step_mlp.cpp, and
// step_common.cpp for what happens once a step. MODEL.md section 4 shows one layer worked.
//
// Shapes are [rows, n, k] of D = A W^T on one rank. Ops of a list run in order on their stream;
// `after` adds what else they wait for. Layers that differ in nothing are listed once.
// Left out: MTP and other drafts, prefill, attention data parallelism, LoRA, logits processors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/descriptor.hpp"
#include "model/collectives.hpp"
#include "model/model_spec.hpp"
#include "model/sharding.hpp"

namespace smtwin {

enum class OpGroup {
  embedding,
  projections,  // of attention: QKV, output, their low-rank factors
  attention,    // reading the cache
  indexer,      // choosing what sparse attention reads
  compressor,   // dsv4: pooling the cache
  linear_attention,
  hyper_connections,
  dense_mlp,
  router,
  experts,
  shared_experts,
  small_kernels,  // norms, RoPE, cache writes, quantization, activations
  collectives,
  lm_head,
  sampler,
  host
};
inline constexpr std::size_t kOpGroupCount = 16;
std::string_view to_string(OpGroup group);  // "small kernels"

enum class OpKind {
  gemm,              // copies x [rows, n, k]
  grouped_gemm,      // experts: `copies` of them active, rows in all
  attention,         // dense over the cached tokens
  sparse_attention,  // gathers chosen tokens
  streaming,         // reads and writes its bytes once
  collective
};
std::string_view to_string(OpKind kind);

// The whole expert layer that a grouped GEMM is part of, on one rank.
struct ExpertLayer {
  std::int64_t tokens = 0;
  std::int64_t experts_per_token = 0;
  std::int64_t experts = 0;  // of the model
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;  // full width of one expert
  int ep = 1;                     // ranks that share the experts
  int tp = 1;                     // ranks that share each expert's width
  bool gated = true;
};

struct StepOp {
  std::string name;
  OpGroup group = OpGroup::small_kernels;
  OpKind kind = OpKind::streaming;

  // gemm, grouped_gemm
  std::int64_t rows = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t copies = 1;
  std::int64_t experts_per_token = 0;  // grouped_gemm: the top-k of routing
  std::int64_t experts = 0;            // grouped_gemm: experts that this rank holds
  NumberFormat weight_format = NumberFormat::bf16;
  NumberFormat activation_format = NumberFormat::bf16;
  MathPipe pipe = MathPipe::none;

  // attention
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;    // read for each sequence
  std::int64_t heads = 0;     // query heads of this rank
  std::int64_t kv_heads = 0;  // of this rank
  std::int64_t head_dim = 0;
  std::int64_t v_head_dim = 0;
  std::int64_t splits = 1;   // of the tokens of a sequence over CTAs; a combine kernel follows
  std::int64_t context = 0;  // cached tokens of a sequence, also those a window hides
  std::int64_t window = 0;   // 0 = none
  double context_cv = 0;     // standard deviation of the contexts of a batch / their mean
  bool latent = false;       // one latent for all heads (MLA), not K and V heads
  NumberFormat kv_format = NumberFormat::bf16;

  // Bytes that must move once. Weights and cache come from DRAM; activations were just written and
  // are in the L2 while they fit.
  double weight_bytes = 0;
  double kv_bytes = 0;
  double read_bytes = 0;   // activations
  double write_bytes = 0;  // activations and cache entries
  double flops = 0;        // on `pipe`, useful ones
  double fp32_flops = 0;   // on the ordinary pipe

  // streaming: independent CTAs at most (one a row where a row is reduced); 0 = by bytes. Passes =
  // how often a CTA goes through its data with a dependence between (a norm: 2).
  std::int64_t ctas = 0;
  double passes = 1;

  // collective
  Collective collective = Collective::none;
  int ranks = 1;
  double message_bytes = 0;

  int stream = 0;          // 0 main, others run beside it
  std::vector<int> after;  // indices into the same list
  // Name of an op of the same list whose fitted family, where there is one, times this op as well:
  // kernels around the experts, the combine kernel of split attention. Empty = timed on its own.
  std::string part_of;
  std::optional<ExpertLayer> expert_layer;  // of the op that carries an expert layer's time
};

// What the tensor cores of a GPU multiply, which decides whether activations are quantized.
struct MathSupport {
  bool fp8 = false;
  bool int8 = false;
  bool block_scaled = false;  // mxfp8, mxfp4, nvfp4
};
MathSupport math_support(const GpuSpec& gpu);

struct StepOptions {
  std::int64_t batch = 1;    // sequences of one replica
  std::int64_t context = 0;  // cached tokens of each, or their mean
  double context_cv = 0;     // standard deviation of the contexts / their mean; 0 = all equal
  NumberFormat kv_format = NumberFormat::bf16;
  bool pad_batch = true;           // to a captured CUDA-graph size
  bool fuse_quantization = false;  // into the norms and activations of GQA models, as MLA ones do
  bool greedy_sampling = false;    // argmax instead of temperature, softmax and top-k/p
  int sm_count = 0;                // decides how attention splits the cache; 0 = never
  MathSupport math;
};

// Batch of the captured graph that serves `batch`: 1, 2, 4, then multiples of 8.
std::int64_t captured_batch(std::int64_t batch);

// Experts that at least one of `tokens` tokens chose, expected, with uniform independent choice:
// E (1 - (1 - k/E)^tokens).
double active_experts(std::int64_t experts, std::int64_t experts_per_token, std::int64_t tokens);

using OpList = std::vector<StepOp>;

struct LayerOps {
  OpList ops;
  int count = 0;     // how many layers are the same
  std::string kind;  // "mla + experts", for headings
};

struct StepOps {
  OpList before;  // embedding
  std::vector<LayerOps> layers;
  OpList after;  // final norm to sampler
};

// The layout must pass check_layout().
StepOps step_ops(const ModelSpec& model, const Layout& layout, const StepOptions& options);

// Ops of one layer alone.
OpList layer_ops(const ModelSpec& model, const LayerSpec& layer, const Layout& layout,
                 const StepOptions& options);

// Layers of a model grouped by equality of everything that step_ops reads: indices of the layers of
// each kind, in order of first appearance.
std::vector<std::vector<int>> layer_kinds(const ModelSpec& model);

// Parts that dense decode attention cuts each sequence into so that `ctas` x parts fill the GPU,
// assumed: none from 80 % of two CTAs an SM on (FlashAttention 2), at least 256 tokens a part.
std::int64_t attention_splits(std::int64_t ctas, std::int64_t tokens, int sm_count);

// kv_entry_bytes() on one rank: K and V of its own heads; a latent is not split.
double cache_entry_bytes(const AttentionSpec& attention, NumberFormat kv, int tp);

// Cached tokens that attention of this layer reads for a sequence of `context` tokens.
std::int64_t attended_tokens(const AttentionSpec& attention, std::int64_t context);

}  // namespace smtwin
