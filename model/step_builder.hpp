// SPDX-License-Identifier: Apache-2.0
// Building the op list of a layer: kernels in order, on streams, with the shapes of one rank. Used
// by the step_<family>.cpp files only; what a step is stands in step_ops.hpp.
#pragma once

#include <array>
#include <string>

#include "model/step_ops.hpp"

namespace smtwin {

// Whose kernel rounds the activations that a low-precision GEMM reads.
enum class Quantized {
  by_producer,  // the norm or activation before it can do so, where the family's kernels do
  separately    // always a kernel of its own
};

class StepBuilder {
 public:
  static constexpr int kStreams = 3;

  StepBuilder(const ModelSpec& model, const LayerSpec& layer, const Layout& layout,
              const StepOptions& options);

  const AttentionSpec& attention() const { return layer_.attention; }
  const MlpSpec& mlp() const { return layer_.mlp; }
  const ModelSpec& model() const { return model_; }
  const Layout& layout() const { return layout_; }
  const StepOptions& options() const { return options_; }
  std::int64_t batch() const { return options_.batch; }
  std::int64_t rows() const { return rows_; }  // the batch as the captured graph pads it
  double row_bytes(std::int64_t width) const;  // of all rows in bf16
  bool producers_quantize() const { return producers_quantize_; }
  void set_producers_quantize(bool value) { producers_quantize_ = value; }

  const WeightMatrix* find(const std::string& matrix) const { return find_matrix(layer_, matrix); }

  // Appends to the current stream.
  void add(StepOp op);
  // D = A W^T with a matrix of this layer; nothing if the layer has none of that name.
  void gemm(const std::string& matrix, OpGroup group, Quantized quantized = Quantized::separately);
  // The same with a shape already split.
  void gemm(const std::string& name, OpGroup group, const MatrixShard& shard, NumberFormat format,
            std::int64_t rows);
  void quantize(const std::string& name, NumberFormat weights, std::int64_t rows, std::int64_t k);
  // One kernel that reads and writes activations.
  struct Traffic {
    double read_bytes = 0;
    double write_bytes = 0;
    std::int64_t ctas = 0;
    double passes = 1;
    double fp32_flops = 0;
  };
  void stream_kernel(const std::string& name, const Traffic& traffic,
                     OpGroup group = OpGroup::small_kernels);
  void add_norm(const std::string& name);  // residual add + RMSNorm over the hidden size
  void norm(const std::string& name, std::int64_t width);
  void activation(const std::string& name, std::int64_t rows, std::int64_t width, bool gated);
  // Ops added until end_part() are timed with op `leader` where a fitted family does (part_of).
  void begin_part(const std::string& leader) { part_of_ = leader; }
  void end_part() { part_of_.clear(); }
  void all_reduce(const std::string& name);
  // An attention kernel, and the kernel that combines the parts if it splits its sequences.
  void add_attention(StepOp op);

  // Streams. fork: what follows runs on `stream` and first waits for all that the current stream
  // has done. resume: what follows runs on the main stream (or another one) where that left off.
  // join: the next op also waits for what `stream` has done. mark/wait: the next op also waits for
  // one op.
  void fork(int stream);
  void resume(int stream = 0) { stream_ = stream; }
  void join(int stream);
  int mark() const { return last_[static_cast<std::size_t>(stream_)]; }
  void wait(int op);

  OpList take() { return std::move(ops_); }

 private:
  const ModelSpec& model_;
  const LayerSpec& layer_;
  Layout layout_;
  StepOptions options_;
  std::int64_t rows_ = 0;
  bool producers_quantize_ = false;
  std::string part_of_;
  int stream_ = 0;
  std::array<int, kStreams> last_{};  // last op of each stream; -1 = none
  std::vector<int> pending_;          // ops that the next one waits for
  OpList ops_;
};

// How tensor cores multiply weights of this format on this GPU, and what they read beside them.
struct MathChoice {
  MathPipe pipe = MathPipe::bf16;
  NumberFormat activations = NumberFormat::bf16;
};
MathChoice math_choice(NumberFormat weights, const MathSupport& support);

// Parts of the chosen tokens by the rule that the field notes assume, with tiles of 16 tokens.
std::int64_t sparse_attention_splits(const StepOp& op, int sm_count);

// What runs once a step, before and after the layers.
OpList embedding_ops(const ModelSpec& model, const Layout& layout, const StepOptions& options);
OpList output_ops(const ModelSpec& model, const Layout& layout, const StepOptions& options);

void build_gqa_attention(StepBuilder& b);
void build_mla_attention(StepBuilder& b);
void build_dsv4_attention(StepBuilder& b);
void build_linear_attention(StepBuilder& b);
void build_mlp(StepBuilder& b);
// A choice of tokens by their scores against compact keys; nothing without an indexer.
void build_index_scores(StepBuilder& b, std::int64_t keys);
// Into a block ("attention", "mlp"): residual add and norm, or dsv4's residual streams mixed into
// one input. Out of it: nothing, or the output spread over the streams.
void begin_block(StepBuilder& b, const std::string& block);
void end_block(StepBuilder& b, const std::string& block);

}  // namespace smtwin
