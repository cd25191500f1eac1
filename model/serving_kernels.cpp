// SPDX-License-Identifier: Apache-2.0
#include "model/serving_kernels.hpp"

#include <algorithm>

namespace smtwin {
namespace {

using F = ServingFramework;
using Format = NumberFormat;

enum class Chip { any, sm120, hopper };

bool runs_on(Chip chip, const TimingGpu& gpu) {
  if (chip == Chip::sm120) return gpu.sm120();
  if (chip == Chip::hopper) return gpu.hopper();
  return gpu.sm120() || gpu.hopper();
}

// Those of the framework asked for first; the order of the table otherwise.
template <class Kernel>
void prefer(std::vector<Kernel>& kernels, const std::string& framework) {
  const auto identity = [](const Kernel& k) -> const FamilyIdentity& {
    if constexpr (std::is_same_v<Kernel, FamilyIdentity>) {
      return k;
    } else {
      return k.identity;
    }
  };
  std::stable_partition(kernels.begin(), kernels.end(),
                        [&](const Kernel& k) { return identity(k).framework == framework; });
}

struct GemmRow {
  F framework;
  Chip chip;
  Format weights;
  const char* kernel_source;
  const char* dtype;
};
// cuBLAS in BF16: vLLM's rows multiplied unfilled weights, which draw less power and run 12-18 %
// faster at length, so SGLang's and TensorRT-LLM's rows of the same library stand for it. vLLM's
// block-scaled FP8 rows were timed without a graph.
constexpr GemmRow kGemms[] = {
    {F::sglang, Chip::any, Format::bf16, "sglang_torch_linear", "bfloat16"},
    {F::trtllm, Chip::any, Format::bf16, "torch_flow", "bfloat16"},
    {F::vllm, Chip::any, Format::fp8, "CutlassFP8ScaledMMLinearKernel", "fp8"},
    {F::sglang, Chip::any, Format::fp8, "sglang_sgl_kernel_fp8_scaled_mm", "fp8"},
    {F::trtllm, Chip::any, Format::fp8, "torch_flow", "fp8"},
    {F::trtllm, Chip::any, Format::fp8_block, "torch_flow", "fp8_block"},
    {F::sglang, Chip::hopper, Format::fp8_block, "sglang_deepgemm_gemm_nt_f8f8bf16", "fp8_block"},
    {F::vllm, Chip::sm120, Format::nvfp4, "FlashInferCutlassNvFp4LinearKernel", "nvfp4"},
    {F::sglang, Chip::sm120, Format::nvfp4, "sglang_flashinfer_cutlass_nvfp4", "nvfp4"},
    {F::trtllm, Chip::sm120, Format::nvfp4, "torch_flow", "nvfp4"},
};

struct BatchedRow {
  F framework;
  Chip chip;
  const char* kernel_source;
};
constexpr BatchedRow kBatchedGemms[] = {
    {F::vllm, Chip::hopper, "vllm_torch_bmm"},
    {F::sglang, Chip::any, "sglang_torch_bmm"},
    {F::trtllm, Chip::any, "trtllm_bmm_out"},
};

struct AttentionRow {
  F framework;
  Chip chip;
  bool fp8_kv;
  bool wide_heads;  // beyond 256 elements
  const char* kernel_source;
  AttentionLibrary provider;
};
using L = AttentionLibrary;
constexpr AttentionRow kAttentions[] = {
    {F::vllm, Chip::sm120, false, false, "vllm_flash_attn_fa2", L::flash_attention2},
    {F::vllm, Chip::sm120, true, false, "vllm_flashinfer_fidecode", L::flashinfer},
    {F::vllm, Chip::sm120, true, true, "vllm_triton_attn", L::triton},
    {F::vllm, Chip::hopper, false, false, "vllm_flash_attn_fa3", L::flash_attention3},
    {F::vllm, Chip::hopper, true, false, "vllm_flash_attn_fa3", L::flash_attention3},
    {F::vllm, Chip::hopper, false, true, "vllm_flash_attn_fa4", L::flash_attention4},
    {F::sglang, Chip::sm120, false, false, "flashinfer", L::flashinfer},
    {F::sglang, Chip::sm120, true, false, "flashinfer", L::flashinfer},
    {F::sglang, Chip::sm120, false, true, "triton", L::triton},
    {F::sglang, Chip::sm120, true, true, "triton", L::triton},
    {F::sglang, Chip::hopper, false, false, "fa3", L::flash_attention3},
    {F::sglang, Chip::hopper, true, false, "fa3", L::flash_attention3},
    {F::sglang, Chip::hopper, false, true, "triton", L::triton},
    {F::sglang, Chip::hopper, true, true, "triton", L::triton},
    {F::trtllm, Chip::any, false, false, "torch_flow", L::trtllm},
    {F::trtllm, Chip::any, true, false, "torch_flow", L::trtllm},
};
constexpr std::int64_t kUsualHeads = 256;

struct LatentRow {
  F framework;
  Chip chip;
  bool fp8_kv;
  const char* kernel_source;
  MlaLibrary provider;
};
constexpr LatentRow kLatents[] = {
    {F::sglang, Chip::hopper, false, "flash_attention", MlaLibrary::sglang_flash_attention3},
    {F::sglang, Chip::hopper, true, "flash_attention", MlaLibrary::sglang_flash_attention3},
    {F::trtllm, Chip::hopper, false, "default", MlaLibrary::trtllm_flashmla},
    {F::trtllm, Chip::hopper, true, "default", MlaLibrary::trtllm_flashmla},
    {F::sglang, Chip::sm120, false, "triton", MlaLibrary::sglang_triton},
    {F::trtllm, Chip::sm120, false, "default", MlaLibrary::trtllm_sm120},
    {F::trtllm, Chip::sm120, true, "default", MlaLibrary::trtllm_sm120},
};

struct ExpertRow {
  F framework;
  Chip chip;
  Format weights;
  const char* kernel_source;
  const char* dtype;
  MoeKernel kernel;
  MoeDtype moe_dtype;
};
using K = MoeKernel;
using D = MoeDtype;
constexpr ExpertRow kExperts[] = {
    {F::vllm, Chip::sm120, Format::bf16,
     "vllm_unquantizedfusedmoe_flashinfer_cutlass_flashinferexperts", "bfloat16", K::flashinfer,
     D::bf16},
    {F::vllm, Chip::hopper, Format::bf16, "vllm_unquantizedfusedmoe_triton_tritonexperts",
     "bfloat16", K::triton_vllm, D::bf16},
    {F::vllm, Chip::any, Format::fp8, "vllm_modeloptfp8moe_flashinfer_cutlass_flashinferexperts",
     "fp8", K::flashinfer, D::fp8},
    {F::vllm, Chip::hopper, Format::fp8_block, "vllm_fp8moe_triton_tritonexperts", "fp8_block",
     K::triton_vllm, D::fp8_block},
    {F::vllm, Chip::sm120, Format::nvfp4,
     "vllm_compressedtensorsw4a4nvfp4moe_flashinfer_cutlass_flashinferexperts", "nvfp4",
     K::flashinfer, D::nvfp4},
    {F::vllm, Chip::any, Format::int4, "vllm_compressedtensorswna16marlinmoe_marlin_marlinexperts",
     "int4_wo", K::marlin, D::int4},
    {F::vllm, Chip::sm120, Format::mxfp4, "vllm_gptossmxfp4moe_marlin_marlinexperts", "w4a16_mxfp4",
     K::marlin, D::mxfp4},
    {F::vllm, Chip::hopper, Format::mxfp4,
     "vllm_gptossmxfp4moe_triton_oaitritonmxfp4expertsmonolithic", "w4a16_mxfp4", K::triton_kernels,
     D::mxfp4},
    {F::sglang, Chip::any, Format::bf16, "sglang_fused_moe_triton", "bfloat16", K::triton_sglang,
     D::bf16},
    {F::sglang, Chip::any, Format::fp8_block, "sglang_fused_moe_triton", "fp8_block",
     K::triton_sglang, D::fp8_block},
    {F::sglang, Chip::sm120, Format::nvfp4, "sglang_flashinfer_cutlass_moe", "nvfp4", K::flashinfer,
     D::nvfp4},
    {F::sglang, Chip::any, Format::int4, "sglang_marlin_moe", "int4_wo", K::marlin, D::int4},
    {F::trtllm, Chip::any, Format::bf16, "moe_torch_flow_cutlass", "bfloat16", K::cutlass, D::bf16},
    {F::trtllm, Chip::any, Format::fp8, "moe_torch_flow_cutlass", "fp8", K::cutlass, D::fp8},
    {F::trtllm, Chip::hopper, Format::fp8_block, "moe_torch_flow_cutlass", "fp8_block", K::cutlass,
     D::fp8_block},
    {F::trtllm, Chip::sm120, Format::fp8_block, "moe_torch_flow_triton_fp8_block", "fp8_block",
     K::triton_trtllm, D::fp8_block},
    {F::trtllm, Chip::sm120, Format::nvfp4, "moe_torch_flow_cutlass", "nvfp4", K::cutlass,
     D::nvfp4},
    {F::trtllm, Chip::sm120, Format::mxfp4, "moe_torch_flow_cutlass", "w4a8_mxfp4_mxfp8",
     K::cutlass, D::mxfp4_mxfp8},
};

// FP16 is multiplied and stored as BF16 is.
Format canonical(Format f) { return f == Format::fp16 ? Format::bf16 : f; }

FamilyIdentity identity_of(const char* table, F framework, const char* source, const char* dtype,
                           const char* kv = "") {
  return {.table = table,
          .framework = std::string(to_string(framework)),
          .kernel_source = source,
          .dtype = dtype,
          .kv_dtype = kv,
          .gemm_type = {}};
}

}  // namespace

std::vector<FamilyIdentity> gemm_kernels(F framework, Format weights, const TimingGpu& gpu) {
  std::vector<FamilyIdentity> found;
  for (const GemmRow& row : kGemms) {
    if (row.weights != canonical(weights) || !runs_on(row.chip, gpu)) continue;
    found.push_back(identity_of("gemm_perf", row.framework, row.kernel_source, row.dtype));
  }
  prefer(found, std::string(to_string(framework)));
  return found;
}

std::vector<FamilyIdentity> batched_gemm_kernels(F framework, Format weights,
                                                 const TimingGpu& gpu) {
  std::vector<FamilyIdentity> found;
  if (canonical(weights) != Format::bf16) return found;
  for (const BatchedRow& row : kBatchedGemms) {
    if (!runs_on(row.chip, gpu)) continue;
    found.push_back(identity_of("mla_bmm_perf", row.framework, row.kernel_source, "bfloat16"));
  }
  prefer(found, std::string(to_string(framework)));
  return found;
}

std::vector<AttentionKernel> attention_kernels(F framework, Format kv, std::int64_t head_dim,
                                               const TimingGpu& gpu) {
  std::vector<AttentionKernel> found;
  const bool fp8 = kv == Format::fp8;
  if (!fp8 && canonical(kv) != Format::bf16) return found;
  for (const AttentionRow& row : kAttentions) {
    if (row.fp8_kv != fp8 || row.wide_heads != (head_dim > kUsualHeads)) continue;
    if (!runs_on(row.chip, gpu)) continue;
    found.push_back({identity_of("generation_attention_perf", row.framework, row.kernel_source,
                                 "bfloat16", fp8 ? "fp8" : "bfloat16"),
                     {.provider = row.provider, .framework = row.framework, .fp8_kv = fp8}});
  }
  prefer(found, std::string(to_string(framework)));
  return found;
}

std::vector<LatentKernel> latent_attention_kernels(F framework, Format kv, const TimingGpu& gpu) {
  std::vector<LatentKernel> found;
  const bool fp8 = kv == Format::fp8;
  if (!fp8 && canonical(kv) != Format::bf16) return found;
  for (const LatentRow& row : kLatents) {
    if (row.fp8_kv != fp8 || !runs_on(row.chip, gpu)) continue;
    found.push_back({identity_of("generation_mla_perf", row.framework, row.kernel_source,
                                 "bfloat16", fp8 ? "fp8" : "bfloat16"),
                     {.provider = row.provider, .fp8_kv = fp8}});
  }
  prefer(found, std::string(to_string(framework)));
  return found;
}

std::vector<ExpertKernel> expert_kernels(F framework, Format weights, const TimingGpu& gpu) {
  std::vector<ExpertKernel> found;
  for (const ExpertRow& row : kExperts) {
    if (row.weights != canonical(weights) || !runs_on(row.chip, gpu)) continue;
    found.push_back({identity_of("moe_perf", row.framework, row.kernel_source, row.dtype),
                     {.framework = row.framework, .kernel = row.kernel, .dtype = row.moe_dtype}});
  }
  prefer(found, std::string(to_string(framework)));
  return found;
}

}  // namespace smtwin
