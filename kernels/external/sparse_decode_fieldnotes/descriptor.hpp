// SPDX-License-Identifier: Apache-2.0
// The sparse latent-attention decode kernel of the field notes: a Triton kernel in which each query
// attends to `topk` selected tokens of an FP8 cache and a grid of splits spreads the tokens.
//
//   shared bytes  1152 x BLOCK_H + 1348 x num_stages x BLOCK_T
//                 (1152 = a head's 576 BF16 query values; 1348 per token and stage explains the
//                 three observed sizes and is not derived further)
//   block_h       min(32, heads) unless set;  head groups n_hg = ceil(heads / block_h)
//   splits        doubled while batch x n_hg x 2 nsplit <= 2 SMs and topk / (2 nsplit) >= BLOCK_T:
//                 an assumption, the production rule is not known
//   grid          batch x n_hg x nsplit
// Three sizes were measured, every other one is extrapolated, and each instance says which it is.
// Work (work.hpp) counts what each warp really does, repeats included. Left out: the kernel that
// combines the splits, bank conflicts, the choice of tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "arch/provenance.hpp"
#include "kernels/descriptor.hpp"

namespace smtwin {

struct SparseDecodeTile {
  std::int64_t block_h = 16;
  std::int64_t block_t = 16;
  std::int64_t num_stages = 2;
};
std::int64_t sparse_decode_shared_bytes(const SparseDecodeTile& tile);

struct PointProvenance {
  Provenance provenance = Provenance::extrapolated;
  std::string sentence;
};
PointProvenance sparse_decode_shared_provenance(const SparseDecodeTile& tile);

struct SplitInput {
  std::int64_t batch = 1;
  std::int64_t head_groups = 1;
  std::int64_t topk = 512;
  std::int64_t block_t = 16;
  std::int64_t sm_count = 1;
};
std::int64_t assumed_split_count(const SplitInput& input);

std::unique_ptr<KernelDescriptor> make_sparse_decode_fieldnotes();

}  // namespace smtwin
