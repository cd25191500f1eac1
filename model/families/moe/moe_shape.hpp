// SPDX-License-Identifier: Apache-2.0
// The vocabulary of the expert-layer model: which implementation runs, and the shape of one layer
// on one rank.
#pragma once

#include <cstdint>

#include "model/timing/serving_framework.hpp"

namespace smtwin {

using MoeFramework = ServingFramework;

// Families of kernels that differ in how they cut and schedule the two grouped GEMMs.
enum class MoeKernel : std::uint8_t {
  cutlass,         // TensorRT-LLM's grouped GEMM, tile tuned per shape
  flashinfer,      // the same kernels in FlashInfer, run with one default tactic
  triton_sglang,   // fused_moe of SGLang
  triton_vllm,     // fused_moe of vLLM
  triton_trtllm,   // TensorRT-LLM's Triton path for block-scaled FP8
  triton_kernels,  // OpenAI's triton_kernels
  marlin           // weight-only kernel with stream-K
};

// Format of weights (and activations, where they are narrower than 16 bit).
enum class MoeDtype : std::uint8_t {
  bf16,
  fp8,
  fp8_block,  // FP8, one scale a 128 x 128 block
  nvfp4,
  int4,        // weights only, group 32
  mxfp4,       // weights only
  mxfp4_mxfp8  // weights MXFP4, activations MXFP8
};

struct MoeImplementation {
  MoeFramework framework = MoeFramework::vllm;
  MoeKernel kernel = MoeKernel::cutlass;
  MoeDtype dtype = MoeDtype::bf16;
  bool operator==(const MoeImplementation&) const = default;

  bool triton() const {
    return kernel == MoeKernel::triton_sglang || kernel == MoeKernel::triton_vllm ||
           kernel == MoeKernel::triton_trtllm;
  }
};

struct MoeShape {
  double tokens = 1;
  double topk = 1, experts = 1;
  double ep = 1, tp = 1;  // ranks that share the experts; ranks that share each expert's width
  double hidden = 1;
  double inter = 1;   // full width of an expert
  bool gated = true;  // gate and up projection; else up alone

  double local_experts() const { return experts / ep; }
  double inter_per_rank() const { return inter / tp; }
};

}  // namespace smtwin
