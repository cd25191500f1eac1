// SPDX-License-Identifier: Apache-2.0
// The MLP of a layer: dense, or routed experts with shared ones beside them.
// Expert weights are read once per active expert: a = E (1 - (1 - k/E)^B) of them under uniform
// independent routing (real routing repeats itself and activates fewer). With expert parallelism
// the step waits for the busiest rank; balanced means ceil(a / R) experts and ceil(B k / R) rows.
// Every rank holds all activations, so expert parallelism ends in the same all-reduce as TP.
#include <algorithm>
#include <cmath>

#include "arch/units.hpp"
#include "model/step_builder.hpp"

namespace smtwin {
namespace {

constexpr double kBf16Bytes = 2;
constexpr double kIndexBytes = 4;
constexpr int kSharedStream = 1;
// Carries the time of the whole expert layer where a fitted family has it.
constexpr const char* kExpertLeader = "experts_gate_up";

void build_dense(StepBuilder& b) {
  b.gemm("gate_up", OpGroup::dense_mlp, Quantized::by_producer);
  if (const WeightMatrix* down = b.find("down")) {
    const std::int64_t width = ceil_div<std::int64_t>(down->in, b.layout().tp);
    b.activation(b.mlp().gated ? "silu * mul" : "activation", b.rows(), width, b.mlp().gated);
  }
  b.gemm("down", OpGroup::dense_mlp, Quantized::by_producer);
}

void build_shared(StepBuilder& b) {
  b.fork(kSharedStream);
  b.gemm("shared_gate_up", OpGroup::shared_experts, Quantized::by_producer);
  const std::int64_t width = ceil_div<std::int64_t>(b.mlp().shared_intermediate, b.layout().tp);
  b.activation("shared activation", b.rows(), width, b.mlp().gated);
  b.gemm("shared_down", OpGroup::shared_experts, Quantized::by_producer);
  b.gemm("shared_gate", OpGroup::shared_experts);
  b.resume();
}

struct ExpertLoad {
  double active = 0;      // experts with at least one token, on the busiest rank
  std::int64_t rows = 0;  // token-expert pairs on it
  std::int64_t held = 0;  // experts it holds
};

ExpertLoad busiest_rank(const StepBuilder& b) {
  // Rounding noise of the expectation must not open one more expert.
  constexpr double kNoise = 1e-9;
  const MlpSpec& mlp = b.mlp();
  const std::int64_t ranks = b.layout().ep;
  ExpertLoad load;
  load.active = active_experts(mlp.experts, mlp.experts_per_token, b.rows());
  load.rows = ceil_div(b.rows() * mlp.experts_per_token, ranks);
  load.held = ceil_div(mlp.experts, ranks);
  if (ranks > 1) {
    load.active = std::min(std::ceil(load.active / static_cast<double>(ranks) - kNoise),
                           static_cast<double>(load.held));
  }
  return load;
}

void grouped_gemm(StepBuilder& b, const std::string& matrix, const ExpertLoad& load) {
  const WeightMatrix* m = b.find(matrix);
  if (m == nullptr) return;
  const MatrixShard shard = shard_matrix(
      *m, LayerSpec{.attention = {}, .mlp = b.mlp(), .weights = {}, .vector_parameters = 0},
      b.layout());
  const MathChoice math = math_choice(m->format, b.options().math);
  const auto rows = static_cast<double>(load.rows);
  StepOp op;
  op.name = matrix;
  op.group = OpGroup::experts;
  op.kind = OpKind::grouped_gemm;
  op.rows = load.rows;
  op.n = shard.out;
  op.k = shard.in;
  op.copies = std::max<std::int64_t>(1, std::llround(load.active));
  op.experts_per_token = b.mlp().experts_per_token;
  op.experts = load.held;
  op.weight_format = m->format;
  op.activation_format = math.activations;
  op.pipe = math.pipe;
  op.weight_bytes = shard.bytes / static_cast<double>(shard.copies) * load.active;
  op.read_bytes = rows * static_cast<double>(op.k) * bytes_per_element(math.activations);
  op.write_bytes = rows * static_cast<double>(op.n) * kBf16Bytes;
  op.flops = kFlopsPerFma * rows * static_cast<double>(op.n) * static_cast<double>(op.k);
  if (matrix == kExpertLeader) {
    const Layout& layout = b.layout();
    op.expert_layer = ExpertLayer{.tokens = b.rows(),
                                  .experts_per_token = b.mlp().experts_per_token,
                                  .experts = b.mlp().experts,
                                  .hidden = m->in,
                                  .intermediate = b.mlp().gated ? m->out / 2 : m->out,
                                  .ep = layout.ep,
                                  .tp = layout.expert_tp(),
                                  .gated = b.mlp().gated};
  }
  b.add(std::move(op));
}

void build_router(StepBuilder& b) {
  const MlpSpec& mlp = b.mlp();
  const auto rows = static_cast<double>(b.rows());
  const double chosen = rows * static_cast<double>(mlp.experts_per_token) * 2 * kIndexBytes;
  // Routing by a table of token ids replaces the choice, not the weights of the chosen experts.
  b.gemm("router", OpGroup::router);
  b.begin_part(kExpertLeader);
  b.stream_kernel(mlp.hash_routed ? "expert table lookup" : "expert top-k",
                  {.read_bytes = b.row_bytes(mlp.experts),
                   .write_bytes = chosen,
                   .ctas = b.rows(),
                   .passes = 2},
                  OpGroup::router);
  // Counting and scattering are two kernels; each has one dependent pass over the pairs.
  b.stream_kernel("count tokens of experts",
                  {.read_bytes = chosen, .write_bytes = chosen, .ctas = 1}, OpGroup::router);
  b.stream_kernel("sort tokens by expert", {.read_bytes = chosen, .write_bytes = chosen},
                  OpGroup::router);
  b.end_part();
}

void build_experts(StepBuilder& b) {
  const MlpSpec& mlp = b.mlp();
  const ExpertLoad load = busiest_rank(b);
  const WeightMatrix* up = b.find("experts_gate_up");
  const WeightMatrix* down = b.find("experts_down");
  b.begin_part(kExpertLeader);
  if (up != nullptr) b.quantize("quantize for experts", up->format, b.rows(), b.model().hidden);
  grouped_gemm(b, "experts_gate_up", load);
  if (down != nullptr) {
    const std::int64_t width = ceil_div<std::int64_t>(down->in, b.layout().expert_tp());
    b.activation("expert activation", load.rows, width, mlp.gated);
    if (!b.producers_quantize()) {
      b.quantize("quantize for experts_down", down->format, load.rows, width);
    }
  }
  grouped_gemm(b, "experts_down", load);
  b.stream_kernel("sum over experts",
                  {.read_bytes = static_cast<double>(load.rows) *
                                 static_cast<double>(b.model().hidden) * kBf16Bytes,
                   .write_bytes = b.row_bytes(b.model().hidden)},
                  OpGroup::experts);
  b.end_part();
}

void build_moe(StepBuilder& b) {
  const bool shared = b.mlp().shared_intermediate > 0;
  const bool dense_branch = b.mlp().intermediate > 0 && b.find("gate_up") != nullptr;
  if (shared) build_shared(b);
  if (dense_branch) build_dense(b);
  build_router(b);
  build_experts(b);
  if (shared) b.join(kSharedStream);
  if (shared || dense_branch) {
    const double hidden = b.row_bytes(b.model().hidden);
    b.stream_kernel("add expert outputs", {.read_bytes = 2 * hidden, .write_bytes = hidden});
  }
}

}  // namespace

double active_experts(std::int64_t experts, std::int64_t experts_per_token, std::int64_t tokens) {
  if (experts <= 0) return 0;
  const double share = static_cast<double>(experts_per_token) / static_cast<double>(experts);
  return static_cast<double>(experts) * (1 - std::pow(1 - share, static_cast<double>(tokens)));
}

void build_mlp(StepBuilder& b) {
  if (b.mlp().kind == MlpKind::none) return;
  begin_block(b, "mlp");
  if (b.mlp().kind == MlpKind::dense) {
    build_dense(b);
  } else {
    build_moe(b);
  }
  b.all_reduce("all-reduce (mlp)");
  end_block(b, "mlp");
}

}  // namespace smtwin
