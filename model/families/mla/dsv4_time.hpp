// SPDX-License-Identifier: Apache-2.0
// Time of a DeepSeek-V4 attention module in one decode step. Two kinds of layer: CSA (one entry a
// group of 4 tokens; an indexer scores all C = L/4 entries, the best top-k are read) and HCA (one
// entry per 128 tokens, all are read); both also read the last 128 tokens.
//   Dsv4TimeModel (Hopper, sparse FlashMLA; for deployments)
//     T = fixed + projections + attention + sequence * batch + activation bytes / activation_rate
//       + [CSA] batch * C * index + [CSA, C > top-k] ceil(batch/SMs) * select * ramp
//       + [HCA, more than one output group] group * (1 or, for a single sequence, 1/2)
//     attention = pieces * start + blocks * block + splits * split + partial bytes / DRAM datasheet
//       of the busiest CTA: FlashMLA's scheduler cuts sequences of w + e blocks of 64 entries,
//       w = ceil(min(L+1, 128)/64) of the window, e = ceil(read compressed entries/64)
//     partial bytes = 4 B * 512 * (heads padded to 64) for each (sequence, split)
//     ramp = clip((C - top-k)/512, 0, 1); SGLang: 0 from C = 32768, where another kernel selects
//     whose time does not show beside the indexer's. vLLM: no such limit (measured to C = 16384)
//   Dsv4FallbackTimeModel (all SM120 rows): see its class.
// The groups of 8 heads of the output projection are one batched GEMM; the rows of more than one
// group have to be gathered for it, which a single group does not need and a single row by half.
// `start` only in SGLang's FP8 HCA, whose rows beyond one tile an SM rise by more than the blocks:
// inferred, maybe the cost of other kernels. Inferred too: that L+1 fills the window's blocks.
// Flash's sizes are those of its config.json. Pro's hidden size and query rank are assumed, its
// top-k is where its rows start to pay for the selection. What each small kernel costs is inferred.
// Left out: the compressor's work at group ends, tensor-parallel all-reduce.
#pragma once

#include <span>
#include <vector>

#include "model/families/mla/mla_split_rules.hpp"
#include "model/families/mla/projections.hpp"
#include "model/timing/serving_framework.hpp"

namespace smtwin {

// What differs between DeepSeek-V4 Flash and Pro.
struct Dsv4Dims {
  double hidden = 4096;
  double query_rank = 1024;
  double top_k = 512;
};
Dsv4Dims dsv4_flash_dims();
Dsv4Dims dsv4_pro_dims();

struct Dsv4Shape {
  double batch = 1;
  double heads = 64;
  double kv_tokens = 1;
  Dsv4Dims dims = {};
};

class Dsv4TimeModel {
 public:
  struct Work {
    Projections::Work projections;
    double batch = 1;
    MlaRounds rounds;
    double partial_bytes = 0;    // written for the combine kernel
    double gathers = 0;          // share of `group_time` that the output groups cost
    double indexed_entries = 0;  // over the batch
    double selections = 0;       // ramped rounds of the selection kernel
    double activation_bytes = 0;
  };

  // DataError unless Hopper with SGLang or vLLM: no other rows time the sparse kernels.
  Dsv4TimeModel(const TimingGpu& gpu, ServingFramework framework, bool csa, ProjectionType type);

  const std::vector<ConstantSpec>& constants() const { return constants_.specs(); }
  Work work(const Dsv4Shape& shape) const;
  MlaTime time(const Work& work, std::span<const double> values, CacheState cache) const;

 private:
  TimingGpu gpu_;
  bool csa_;
  ProjectionType type_;
  double select_limit_;  // compressed entries
  MlaConstants constants_;
  Projections projections_;
  MlaConstant fixed_s_, start_s_, block_s_, split_s_, group_s_, sequence_s_, index_s_, select_s_;
  MlaConstant activation_rate_;
};

// The SM120 rows time an unfused fallback: milliseconds a sequence. A family of its own, kept to
// score and explain those rows. NEVER use it for a deployment: a fused kernel is 100 times faster.
//   HCA: T = fixed + ceil(64 * batch / SMs) * round + batch * C * entry + weights/dram
//        64 CTAs a sequence (heads are padded to 64), one an SM, whole rounds of 2 ms
//   CSA: T = fixed + batch * sequence + batch * C * entry + small_batch * log2(min(batch, 16))
//        + weights/dram      everything runs sequence by sequence
class Dsv4FallbackTimeModel {
 public:
  struct Work {
    double rounds = 1;     // of CTAs (HCA) or sequences (CSA)
    double entries = 0;    // compressed, over the batch
    double doublings = 0;  // of the batch, up to 16
    double weight_bytes = 0;
    double cold = 0;
  };

  // DataError unless SM120.
  Dsv4FallbackTimeModel(const TimingGpu& gpu, bool csa, ProjectionType type);

  const std::vector<ConstantSpec>& constants() const { return constants_.specs(); }
  Work work(const Dsv4Shape& shape) const;
  MlaTime time(const Work& work, std::span<const double> values, CacheState cache) const;

 private:
  TimingGpu gpu_;
  bool csa_;
  ProjectionType type_;
  MlaConstants constants_;
  MlaConstant dram_rate_, fixed_s_, round_s_, entry_s_, small_batch_s_;
};

}  // namespace smtwin
