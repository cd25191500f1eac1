// SPDX-License-Identifier: Apache-2.0
// One decode step of multi-head latent attention (DeepSeek MLA) as a shape, and which
// implementation runs it. All query heads of a rank read one latent KV head: 512 latent values
// (they are key and value) and 64 rope values a token. Pure description: no rule, no constant.
#pragma once

#include <cstdint>

namespace smtwin {

// An implementation together with who calls it: callers pass other page sizes and split bounds.
enum class MlaLibrary : std::uint8_t {
  sglang_flash_attention3,  // Hopper
  vllm_flash_attention3,    // Hopper, "FLASH_ATTN_MLA"
  vllm_flashmla,            // Hopper
  trtllm_flashmla,          // Hopper, TensorRT-LLM's copy of FlashMLA
  trtllm_sm120,             // fused attention with 576/512-wide heads; XQA-MLA for FP8, 128 heads
  sglang_triton,
  vllm_triton  // "TRITON_MLA"
};

struct MlaFamily {
  MlaLibrary provider = MlaLibrary::sglang_triton;
  bool fp8_kv = false;
};

inline constexpr double kMlaLatentDim = 512;
inline constexpr double kMlaRopeDim = 64;

// `batch` sequences with one new query token each. Heads are those of this rank.
struct MlaShape {
  double batch = 1;
  double heads = 128;
  double kv_tokens = 1;  // context including the new token
  // What SGLang's split planner takes for the head count; 0 = heads, as a server does. The
  // benchmark shards the heads but leaves the planner with all heads of the model.
  double planner_heads = 0;

  double kv_bytes(double element_bytes) const {
    return batch * kv_tokens * (kMlaLatentDim + kMlaRopeDim) * element_bytes;
  }
  // Absorbed queries in (latent + rope), latent outputs out, BF16.
  double query_and_output_bytes() const {
    return batch * heads * (2 * kMlaLatentDim + kMlaRopeDim) * 2;
  }
};

}  // namespace smtwin
