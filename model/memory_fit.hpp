// SPDX-License-Identifier: Apache-2.0
// Whether a layout fits the memory of its GPUs, and how many cached tokens that leaves:
//   cache = utilization x DRAM - weights of a rank - workspace - graphs - communication buffers
//   sequences at a context = floor(cache / bytes that one of them holds on a rank)
// Weights are exact from shapes and formats; the last three are stated guesses. "Does not fit" is
// an answer with the missing bytes and the number of GPUs that would do. Left out: memory
// fragmentation, page padding, offloading, weights of MTP layers.
#pragma once

#include <cstdint>

#include "arch/gpu_spec.hpp"
#include "model/model_spec.hpp"
#include "model/sharding.hpp"

namespace smtwin {

// What an engine keeps beside weights and cache. All assumed.
struct MemoryOptions {
  double utilization = 0.9;  // share of the GPU's memory an engine may use (vLLM's default)
  std::int64_t prefill_tokens = 8192;  // largest batch of prompt tokens that runs at once
  double live_activations = 2.5;       // bf16 tensors of prefill_tokens x the widest row, at once
  double context_bytes = 0.6e9;        // CUDA context, libraries, kernels
  double graph_bytes = 0.5e9;          // captured CUDA graphs
  double communication_bytes = 0.3e9;  // NCCL buffers, only with several ranks
  std::int64_t context = 8192;         // tokens of a sequence
  NumberFormat kv_format = NumberFormat::bf16;
};

struct MemoryFit {
  double dram_bytes = 0;
  double budget_bytes = 0;              // utilization x dram_bytes
  double weight_bytes = 0;              // of one rank
  double workspace_bytes = 0;           // activations and everything assumed above
  double cache_bytes = 0;               // left for cache and states; negative = weights do not fit
  double cache_bytes_per_sequence = 0;  // at the context, on one rank
  double cache_bytes_per_token = 0;     // the above spread over the context
  double kv_tokens = 0;                 // of sequences of this context
  std::int64_t max_sequences = 0;       // of one replica; INT64_MAX when they take no memory
  bool fits = false;                    // at least one sequence
  double needed_bytes = 0;              // budget that one sequence would need
};

// DataError (through require) when the memory size of the GPU is not known.
MemoryFit memory_fit(const ModelSpec& model, const Layout& layout, const GpuSpec& gpu,
                     const MemoryOptions& options);

// Weights that one rank holds: its part of every matrix, all vectors.
double weight_bytes_per_rank(const ModelSpec& model, const Layout& layout);

// Cache and states of one sequence on one rank.
double cache_bytes_per_sequence_and_rank(const ModelSpec& model, const Layout& layout,
                                         NumberFormat kv, std::int64_t context);

// Fewest GPUs of a replica that engines accept and that hold the model with one sequence, experts
// split as `layout` does (by width, or by ep if it has any). 0 = none up to kLargestTp.
int fewest_gpus_that_fit(const ModelSpec& model, const Layout& layout, const GpuSpec& gpu,
                         const MemoryOptions& options);

}  // namespace smtwin
