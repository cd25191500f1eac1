// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/moe_library.hpp"

namespace smtwin {

MoeFormat moe_format(const MoeImplementation& how, const TimingGpu& gpu) {
  constexpr double kFp8BlockWeight = 1 + 4.0 / (128 * 128);  // one FP32 scale a 128 x 128 block
  constexpr double kFp8BlockActivation = 1 + 4.0 / 128;      // one a row of 128
  constexpr double kNvfp4 = 0.5 + 1.0 / 16;                  // one FP8 scale a 16 elements
  constexpr double kInt4 = 0.5 + 2.0 / 32;                   // one BF16 scale a 32 elements
  constexpr double kMxfp4 = 0.5 + 1.0 / 32;                  // one exponent a 32 elements
  constexpr double kMxfp8 = 1 + 1.0 / 32;
  switch (how.dtype) {
    case MoeDtype::bf16:
      return {2, 2, gpu.bf16_flops_per_s};
    case MoeDtype::fp8:
      return {1, 1, gpu.fp8_flops_per_s};
    case MoeDtype::fp8_block:
      // TensorRT-LLM's Triton path widens the weights in the kernel and multiplies in BF16.
      if (how.kernel == MoeKernel::triton_trtllm) return {kFp8BlockWeight, 2, gpu.bf16_flops_per_s};
      return {kFp8BlockWeight, kFp8BlockActivation, gpu.fp8_flops_per_s};
    case MoeDtype::nvfp4:
      return {kNvfp4, kNvfp4, gpu.nvfp4_flops_per_s};
    case MoeDtype::int4:
      return {kInt4, 2, gpu.bf16_flops_per_s};
    case MoeDtype::mxfp4:
      // SGLang's Triton path keeps the weights widened to BF16.
      return {how.kernel == MoeKernel::triton_sglang ? 2 : kMxfp4, 2, gpu.bf16_flops_per_s};
    case MoeDtype::mxfp4_mxfp8:
      return {kMxfp4, kMxfp8, gpu.fp8_flops_per_s};
  }
  return {};
}

}  // namespace smtwin
