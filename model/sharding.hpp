// SPDX-License-Identifier: Apache-2.0
// How a layout splits a model over GPUs, and which layouts engines refuse. Answers: what shape of a
// weight matrix does one rank hold, and why does --tp 6 not load.
//
// Rules, as vLLM and SGLang enforce them at load time: query heads divide by tp; KV heads divide by
// tp or, when fewer, are replicated and tp divides by them; widths divide, and a split never cuts a
// scale block (128 for block FP8, 16 for NVFP4); experts divide by ep. MXFP4 experts are dealt in
// whole blocks of 32 instead, so a rank may hold a little more than its share. The vocabulary is
// padded to 64 x tp rows.
// Here every rank sees every token: dp replicates the model, and ep splits the experts of one
// tensor parallel group, whose remaining factor tp / ep splits the width of each expert.
#pragma once

#include <string>
#include <vector>

#include "model/model_spec.hpp"

namespace smtwin {

struct Layout {
  int tp = 1;  // tensor parallel ranks of a replica
  int ep = 1;  // of these, groups that hold different experts; divides tp
  int dp = 1;  // independent replicas
  int gpus() const { return tp * dp; }
  int expert_tp() const { return tp / ep; }  // ranks that share one expert
  friend bool operator==(const Layout&, const Layout&) = default;
};
std::string to_string(const Layout& layout);  // "TP4", "TP8 EP8", "2 x TP4"

struct LayoutViolation {
  std::string field;         // JSON pointer of what cannot be split, or the module of a matrix
  std::string found;         // "64 heads cannot be split over --tp 6"
  std::string flag;          // "--tp" or "--ep": what to change
  std::vector<int> allowed;  // its values that break no rule, other flags as given; may be empty
  std::string way_out;       // anything else that helps; "" = nothing
};

// Every rule the layout breaks, attention first. Empty = engines load it.
std::vector<LayoutViolation> check_layout(const ModelSpec& model, const Layout& layout);

// "config.json: /num_attention_heads: 64 heads cannot be split over --tp 6; use 1, 2, 4 or 8".
std::string describe(const LayoutViolation& violation, const ModelSpec& model);

// Values of tp that break no rule with this ep (0 = ep follows tp), ascending.
std::vector<int> legal_tp(const ModelSpec& model, int ep);

inline constexpr int kLargestTp = 64;          // sizes that legal_tp looks at
inline constexpr int kVocabularyPadding = 64;  // rows of the embedding per rank, a multiple of this

// What one rank holds of a matrix.
struct MatrixShard {
  std::int64_t out = 0;
  std::int64_t in = 0;
  std::int64_t copies = 1;
  double bytes = 0;  // bias included
};
MatrixShard shard_matrix(const WeightMatrix& matrix, const LayerSpec& layer, const Layout& layout);
// The embedding table or the lm_head (the table itself when tied).
MatrixShard shard_vocabulary(const WeightMatrix& matrix, const Layout& layout);

// KV heads that one rank caches; at least one.
std::int64_t kv_heads_per_rank(const AttentionSpec& attention, int tp);

const WeightMatrix* find_matrix(const LayerSpec& layer, const std::string& name);

}  // namespace smtwin
