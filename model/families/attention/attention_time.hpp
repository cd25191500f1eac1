// SPDX-License-Identifier: Apache-2.0
// Time of one decode step of grouped-query attention: the library's equations behind one door, for
// deployments (a shape, no rows) and for the benchmark (what a replayed graph would read).
// Left out: prefill, prefix sharing, speculative decoding, context parallelism.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "model/families/attention/attention_shape.hpp"
#include "model/families/attention/flash_attention2.hpp"
#include "model/families/attention/flash_attention3.hpp"
#include "model/families/attention/flash_attention4.hpp"
#include "model/families/attention/flashinfer_decode.hpp"
#include "model/families/attention/triton_decode.hpp"
#include "model/families/attention/trtllm_decode.hpp"

namespace smtwin {

class AttentionTimeModel {
 public:
  using Kernel = std::variant<FlashAttention2, FlashAttention3, FlashAttention4, TrtllmDecode,
                              FlashInferDecode, TritonDecode>;

  AttentionTimeModel(const TimingGpu& gpu, AttentionFamily family);

  const std::vector<ConstantSpec>& constants() const;
  const Kernel& kernel() const { return kernel_; }

  // Of the kernels of the step; no instrument.
  double seconds(const AttentionShape& shape, std::span<const double> values,
                 CacheState cache) const;
  TimeParts parts(const AttentionShape& shape, std::span<const double> values,
                  CacheState cache) const;
  // What a replay of the benchmark reads, from the kernels' own time.
  double reading_s(double kernel_seconds) const;
  // The same with the grid's steps smoothed over most of a tick: what derivatives are taken of.
  double smooth_reading_s(double kernel_seconds) const;

  // A batch of unequal contexts (FlashAttention 2 and 3, no window; for the others the batch is
  // taken as uniform at the mean length). shape.batch and shape.kv_tokens are not used.
  double ragged_s(std::span<const double> kv_tokens, const AttentionShape& shape,
                  std::span<const double> values, CacheState cache) const;

 private:
  Kernel kernel_;
  double tick_s_ = 0;
  double phase_s_ = 0;
};

// "8 KV splits"; empty where the KV cache is not split.
std::string split_text(double splits);
TimeParts to_parts(const DecodeTime& time, double splits);

}  // namespace smtwin
