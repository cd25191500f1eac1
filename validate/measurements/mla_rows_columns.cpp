// SPDX-License-Identifier: Apache-2.0
#include "validate/measurements/mla_rows_columns.hpp"

#include <string>

#include "arch/error.hpp"

namespace smtwin {

void refuse_row(const MeasurementRow& row, std::string_view column, std::string_view found,
                std::string_view known) {
  throw DataError(std::string(to_string(row.table)) + " line " + std::to_string(row.line) + ": " +
                  std::string(column) + " \"" + std::string(found) +
                  "\" is not modelled; known: " + std::string(known) + "; leave these rows out");
}

ServingFramework row_framework(const MeasurementRow& row) {
  const auto framework = serving_framework_from(row.framework);
  if (!framework) refuse_row(row, "framework", row.framework, "VLLM, SGLang, TRTLLM");
  return *framework;
}

bool row_fp8_kv(const MeasurementRow& row) {
  if (row.kv_dtype == "fp8" || row.kv_dtype == "fp8_e4m3") return true;
  if (row.kv_dtype == "bfloat16") return false;
  refuse_row(row, "kv_cache_dtype", row.kv_dtype, "bfloat16, fp8, fp8_e4m3");
}

ProjectionType row_projection_type(const MeasurementRow& row) {
  if (row.gemm_type == "bfloat16") return ProjectionType::bf16;
  if (row.gemm_type == "fp8_block") return ProjectionType::fp8_block;
  if (row.gemm_type == "nvfp4") return ProjectionType::nvfp4;
  refuse_row(row, "gemm_type", row.gemm_type, "bfloat16, fp8_block, nvfp4");
}

MlaFamily row_mla_family(const MeasurementRow& row, const TimingGpu& gpu) {
  MlaFamily family;
  family.fp8_kv = row_fp8_kv(row);
  const ServingFramework framework = row_framework(row);
  const std::string_view source = row.kernel_source;
  if (framework == ServingFramework::trtllm && source == "default") {
    family.provider = gpu.hopper() ? MlaLibrary::trtllm_flashmla : MlaLibrary::trtllm_sm120;
  } else if (framework == ServingFramework::sglang && source == "flash_attention") {
    family.provider = MlaLibrary::sglang_flash_attention3;
  } else if (framework == ServingFramework::sglang && source == "triton") {
    family.provider = MlaLibrary::sglang_triton;
  } else if (framework == ServingFramework::vllm && source == "FLASH_ATTN_MLA") {
    family.provider = MlaLibrary::vllm_flash_attention3;
  } else if (framework == ServingFramework::vllm && source == "FLASHMLA") {
    family.provider = MlaLibrary::vllm_flashmla;
  } else if (framework == ServingFramework::vllm && source == "TRITON_MLA") {
    family.provider = MlaLibrary::vllm_triton;
  } else {
    refuse_row(row, "kernel_source", source,
               "TRTLLM default; SGLang flash_attention, triton; vLLM FLASH_ATTN_MLA, FLASHMLA, "
               "TRITON_MLA");
  }
  return family;
}

}  // namespace smtwin
