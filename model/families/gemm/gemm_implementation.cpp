// SPDX-License-Identifier: Apache-2.0
#include "model/families/gemm/gemm_implementation.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "arch/error.hpp"
#include "model/families/gemm/cublas_tiles.hpp"

namespace smtwin {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

GemmDtype gemm_dtype(std::string_view text) {
  if (text == "bfloat16" || text == "float16") return GemmDtype::bf16;
  if (text == "fp8") return GemmDtype::fp8;
  if (text == "fp8_block") return GemmDtype::fp8_block;
  if (text == "nvfp4") return GemmDtype::nvfp4;
  throw DataError("dtype \"" + std::string(text) +
                  "\" is not modelled; known: bfloat16, float16, fp8, fp8_block, nvfp4");
}

ServingFramework framework_named(std::string_view text) {
  const auto known = serving_framework_from(text);
  if (known) return *known;
  throw DataError("framework \"" + std::string(text) +
                  "\" is not modelled; known: VLLM, SGLang, TRTLLM");
}

void require_known_architecture(const TimingGpu& gpu) {
  if (!gpu.hopper() && !gpu.sm120()) {
    throw DataError(
        gpu.name + ": GEMM of compute capability " + std::to_string(gpu.compute_capability.major) +
        "." + std::to_string(gpu.compute_capability.minor) + " is not modelled; known: 9.0, 12.0");
  }
}

std::span<const GemmTile> cublas_tiles(const TimingGpu& gpu, GemmDtype dtype, bool splits) {
  const bool wide_k = dtype != GemmDtype::bf16;
  return gpu.hopper() ? cublas_tiles_sm90(wide_k, splits) : cublas_tiles_sm120(wide_k, splits);
}

void use_cublas(GemmImplementation& g, const TimingGpu& gpu) {
  g.provider = GemmLibrary::cublas;
  g.candidates = cublas_tiles(gpu, g.dtype, !g.batched);
  g.split_k = !g.batched;
  if (gpu.hopper()) g.most_split_rounds = 4;
  g.cold_step_latency = gpu.hopper();
  g.sm_l2_rate = g.dtype == GemmDtype::bf16;
}

void use_cutlass_fp8(GemmImplementation& g, const TimingGpu& gpu) {
  g.provider = GemmLibrary::cutlass_fp8;
  const bool vllm = g.framework == ServingFramework::vllm;
  if (gpu.hopper()) {
    g.rule = vllm ? vllm_fp8_tile_sm90 : sglang_fp8_tile_sm90;
  } else {
    g.rule = vllm ? vllm_fp8_tile_sm120 : sglang_fp8_tile_sm120;
  }
  g.cold_step_latency = gpu.hopper() && !vllm;
  g.sm_l2_rate = !gpu.hopper() && vllm;
  g.padded_rows = gpu.hopper() || !vllm;
  g.power_limit = gpu.hopper() && !vllm;  // vLLM's collector leaves the weights unfilled
  g.overlap_norm = gpu.hopper() ? 2 : 4;
  g.overlaps_tile_change = gpu.hopper();
}

// On Hopper. vLLM has three kernels and its rows say which; TensorRT-LLM and SGLang have one each.
GemmLibrary fp8_block_library(ServingFramework framework, std::string_view kernel_source) {
  if (framework == ServingFramework::trtllm) return GemmLibrary::first_deepgemm;
  const std::string source = lower(kernel_source);
  if (contains(source, "flashinfer")) return GemmLibrary::first_deepgemm;
  if (contains(source, "cutlass")) return GemmLibrary::cutlass_block_fp8;
  if (framework == ServingFramework::sglang || contains(source, "deepgemm")) {
    return GemmLibrary::deepgemm;
  }
  throw DataError("kernel_source \"" + std::string(kernel_source) +
                  "\" is not modelled; known for vLLM fp8_block: DeepGemmFp8BlockScaledMMKernel, "
                  "FlashInferFp8BlockScaledMMKernel, CutlassFp8BlockScaledMMKernel");
}

void use_fp8_block(GemmImplementation& g, const TimingGpu& gpu, std::string_view kernel_source) {
  g.padded_rows = gpu.hopper();
  g.sm_l2_rate = false;
  g.cold_step_latency = false;
  g.overlap_norm = gpu.hopper() ? 2 : 4;
  g.host_timed = g.framework == ServingFramework::vllm;
  if (!gpu.hopper()) {
    g.provider = GemmLibrary::block_fp8_sm120;
    g.rule = fp8_block_tile_sm120;
    g.loaded_step_latency = true;
    g.rows_in_turn = true;
    return;
  }
  g.provider = fp8_block_library(g.framework, kernel_source);
  if (g.provider == GemmLibrary::first_deepgemm) {
    g.rule = trtllm_fp8_block_tile_sm90;
  } else {
    g.rule = deepgemm_tile_sm90;
    g.overlaps_tile_change = g.provider == GemmLibrary::deepgemm;
    g.slow_large_tiles = g.framework == ServingFramework::sglang;
  }
}

void use_nvfp4(GemmImplementation& g) {
  g.provider = GemmLibrary::cutlass_nvfp4;
  g.rule = nvfp4_tile_sm120;
  g.step_latency = false;
  g.cold_step_latency = false;
  g.sm_l2_rate = false;
  g.padded_rows = true;
}

}  // namespace

GemmImplementation gemm_implementation(std::string_view framework, std::string_view kernel_source,
                                       std::string_view dtype, const TimingGpu& gpu) {
  require_known_architecture(gpu);
  GemmImplementation g;
  g.framework = framework_named(framework);
  g.dtype = gemm_dtype(dtype);
  const bool trtllm = g.framework == ServingFramework::trtllm;
  switch (g.dtype) {
    case GemmDtype::bf16:
      use_cublas(g, gpu);
      g.power_limit = gpu.hopper() || g.framework != ServingFramework::vllm;
      break;
    case GemmDtype::fp8:
      if (trtllm) {
        use_cublas(g, gpu);
        g.cold_step_latency = false;
        g.quant_passes = 2;
      } else {
        use_cutlass_fp8(g, gpu);
      }
      break;
    case GemmDtype::fp8_block:
      use_fp8_block(g, gpu, kernel_source);
      break;
    case GemmDtype::nvfp4:
      if (gpu.hopper()) {
        throw DataError("dtype \"nvfp4\" is not modelled on " + gpu.name +
                        ", whose tensor cores lack it; known: bfloat16, float16, fp8, fp8_block");
      }
      use_nvfp4(g);
      break;
  }
  return g;
}

GemmImplementation mla_bmm_implementation(std::string_view framework, std::string_view dtype,
                                          const TimingGpu& gpu) {
  require_known_architecture(gpu);
  GemmImplementation g;
  g.framework = framework_named(framework);
  g.dtype = gemm_dtype(dtype);
  const bool vllm = g.framework == ServingFramework::vllm;
  if (g.dtype != GemmDtype::bf16 && (vllm || g.dtype != GemmDtype::fp8)) {
    throw DataError("dtype \"" + std::string(dtype) + "\" is not modelled; known for " +
                    std::string(framework) + ": bfloat16, float16" + (vllm ? "" : ", fp8"));
  }
  g.batched = true;
  use_cublas(g, gpu);
  g.step_latency = gpu.sm120();
  g.cold_step_latency = false;
  g.sm_l2_rate = true;
  if (g.framework == ServingFramework::sglang && g.quantizes()) g.quant_passes = 2;
  if (g.framework == ServingFramework::trtllm && g.quantizes()) {
    g.quantizes_whole_tokens = true;
    g.candidates = {};
    if (gpu.sm120()) {
      g.provider = GemmLibrary::block_fp8_sm120;
      g.rule = fp8_block_tile_sm120;
      g.loaded_step_latency = true;
      g.rows_in_turn = true;
    } else {
      g.provider = GemmLibrary::first_deepgemm;
      g.rule = trtllm_fp8_block_bmm_tile_sm90;
      g.sm_l2_rate = false;
      g.overlap_norm = 2;
    }
  }
  return g;
}

}  // namespace smtwin
