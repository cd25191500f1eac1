// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/moe_shape.hpp"

namespace smtwin {

std::string_view to_string(MoeFramework framework) {
  switch (framework) {
    case MoeFramework::vllm:
      return "vLLM";
    case MoeFramework::sglang:
      return "SGLang";
    case MoeFramework::trtllm:
      return "TensorRT-LLM";
  }
  return "?";
}

std::string_view to_string(MoeKernel kernel) {
  switch (kernel) {
    case MoeKernel::cutlass:
      return "CUTLASS";
    case MoeKernel::flashinfer:
      return "FlashInfer CUTLASS";
    case MoeKernel::triton_sglang:
      return "SGLang Triton";
    case MoeKernel::triton_vllm:
      return "vLLM Triton";
    case MoeKernel::triton_trtllm:
      return "TensorRT-LLM Triton";
    case MoeKernel::triton_kernels:
      return "triton_kernels";
    case MoeKernel::marlin:
      return "Marlin";
  }
  return "?";
}

std::string_view to_string(MoeDtype dtype) {
  switch (dtype) {
    case MoeDtype::bf16:
      return "bf16";
    case MoeDtype::fp8:
      return "fp8";
    case MoeDtype::fp8_block:
      return "fp8_block";
    case MoeDtype::nvfp4:
      return "nvfp4";
    case MoeDtype::int4:
      return "int4";
    case MoeDtype::mxfp4:
      return "mxfp4";
    case MoeDtype::mxfp4_mxfp8:
      return "mxfp4_mxfp8";
  }
  return "?";
}

}  // namespace smtwin
