// SPDX-License-Identifier: Apache-2.0
// One row of a table of measured kernel times in the columns that AIConfigurator's collectors
// write. One struct for all tables: columns that a table does not have are empty or 0. Texts are
// views into a MeasurementSet (measurement_reader.hpp), equal texts share their storage.
#pragma once

#include <cstdint>
#include <string_view>

namespace smtwin {

enum class MeasurementTable : std::uint8_t {
  gemm,                  // gemm_perf: D[m,n] = A[m,k] x W[n,k]
  moe,                   // moe_perf: one expert layer on one rank
  generation_attention,  // generation_attention_perf: one decode step of GQA attention
  generation_mla,        // generation_mla_perf: one decode step of latent attention, kernel alone
  mla_module,            // mla_generation_module_perf: the same with its projections
  dsv4_csa,              // dsv4_csa_generation_module_perf: DeepSeek-V4, compress ratio 4
  dsv4_hca,              // dsv4_hca_generation_module_perf: compress ratio 128
  mla_bmm,               // mla_bmm_perf: absorbed projections, batched over heads
  custom_allreduce,      // custom_allreduce_perf: a framework's own all-reduce
  nccl,                  // nccl_perf
  compute_scale          // computescale_perf: dynamic quantization scale alone
};
inline constexpr int kMeasurementTableCount = 11;

// "gemm_perf", "dsv4_csa_generation_module_perf": the word in file names and family names.
std::string_view to_string(MeasurementTable table);

struct MeasurementRow {
  MeasurementTable table = MeasurementTable::gemm;
  std::uint32_t line = 0;      // in its file, the header is line 1
  std::uint32_t file = 0;      // index into MeasurementSet::files
  std::string_view framework;  // as written: "VLLM", "vLLM", "SGLang", "TRTLLM"
  std::string_view version;
  std::string_view device;         // "NVIDIA H200"
  std::string_view op_name;        // "mla_gen_pre", "all_gather"
  std::string_view kernel_source;  // "torch_flow"
  // gemm_dtype, moe_dtype, bmm_dtype, quant_dtype, nccl_dtype, allreduce_dtype, attn_dtype,
  // mla_dtype: whichever the table has.
  std::string_view dtype;
  std::string_view kv_dtype;      // kv_cache_dtype
  std::string_view gemm_type;     // of modules
  std::string_view model;         // of modules
  std::string_view distribution;  // "balanced", "power_law_1.01"
  std::string_view backend;       // backend or implementation of all-reduce rows

  double m = 0, n = 0, k = 0;
  double num_tokens = 0;
  double hidden_size = 0, inter_size = 0, topk = 0, num_experts = 0;
  double moe_tp_size = 0, moe_ep_size = 0;
  double batch_size = 0;
  double num_heads = 0, num_key_value_heads = 0, head_dim = 0, window_size = 0;
  double step = 0;  // cached tokens
  double tp_size = 0, compress_ratio = 0;
  double num_gpus = 0, message_size = 0;  // message_size in elements
  double latency_s = 0;                   // > 0
};

}  // namespace smtwin
