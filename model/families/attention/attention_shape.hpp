// SPDX-License-Identifier: Apache-2.0
// One decode step of grouped-query attention as a shape, and which implementation runs it.
// Pure description: no rule, no constant.
#pragma once

#include <cstdint>

#include "model/timing/serving_framework.hpp"

namespace smtwin {

enum class AttentionLibrary : std::uint8_t {
  flash_attention2,
  flash_attention3,
  flash_attention4,  // 512-wide heads on Hopper
  trtllm,            // XQA, masked multi-head attention, Hopper GMMA
  flashinfer,
  triton
};

// Who calls the library: vLLM and SGLang pass other page sizes, split bounds and workspaces.
using AttentionFramework = ServingFramework;

struct AttentionFamily {
  AttentionLibrary provider = AttentionLibrary::flash_attention2;
  AttentionFramework framework = AttentionFramework::vllm;
  bool fp8_kv = false;

  bool vllm() const { return framework == AttentionFramework::vllm; }
  bool sglang() const { return framework == AttentionFramework::sglang; }
  double kv_element_bytes() const { return fp8_kv ? 1 : 2; }
};

// `batch` sequences with one new query token each. Heads are those of this rank.
struct AttentionShape {
  double batch = 1;
  double q_heads = 1;
  double kv_heads = 1;
  double head_dim = 128;
  double window = 0;     // tokens a query may look back; 0 = all
  double kv_tokens = 1;  // context including the new token

  double group() const { return q_heads / kv_heads; }
  double visible_tokens() const { return window > 0 && window < kv_tokens ? window : kv_tokens; }
};

}  // namespace smtwin
