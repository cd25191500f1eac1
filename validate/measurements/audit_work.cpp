// SPDX-License-Identifier: Apache-2.0
#include "validate/measurements/audit_work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "model/timing/serving_framework.hpp"

namespace smtwin {
namespace {

enum class Multiply { unknown, bf16, fp8, nvfp4 };

struct Format {
  std::string_view name;
  double bytes;  // of an element, without scales
  Multiply multiply;
};
constexpr std::array<Format, 11> kFormats = {{{"bfloat16", 2, Multiply::bf16},
                                              {"float16", 2, Multiply::bf16},
                                              {"half", 2, Multiply::bf16},
                                              {"fp8", 1, Multiply::fp8},
                                              {"fp8_block", 1, Multiply::fp8},
                                              {"int8", 1, Multiply::unknown},
                                              {"nvfp4", 0.5, Multiply::nvfp4},
                                              {"int4_wo", 0.5, Multiply::bf16},
                                              {"w4a16_mxfp4", 0.5, Multiply::bf16},
                                              {"w4afp8", 0.5, Multiply::fp8},
                                              {"w4a8_mxfp4_mxfp8", 0.5, Multiply::fp8}}};

constexpr Format kUnknownFormat = {"", 0, Multiply::unknown};

const Format& format(std::string_view name) {
  for (const Format& f : kFormats) {
    if (f.name == name) return f;
  }
  return kUnknownFormat;
}

// Latent and rotary part of a token in DeepSeek's MLA cache.
constexpr double kMlaElements = 512 + 64;

// vLLM's collector rotates bf16 and fp8 weights over six copies; others may use one.
constexpr double kVllmCopies = 6;

RowWork gemm_work(const MeasurementRow& row) {
  RowWork work;
  work.bytes = row.n * row.k * format(row.dtype).bytes;
  work.flops = 2 * row.m * row.n * row.k;
  const bool vllm = serving_framework_from(row.framework) == ServingFramework::vllm;
  if (vllm && (row.dtype == "bfloat16" || row.dtype == "fp8")) {
    work.copies = kVllmCopies;
  }
  return work;
}

// Gate, up and down. Nemotron-3's experts have no gate, whatever the kernel source says.
double expert_matrices(const MeasurementRow& row) {
  const bool nemotron =
      (row.hidden_size == 2688 && row.inter_size == 1856) ||
      ((row.hidden_size == 1024 || row.hidden_size == 4096) && row.inter_size == 2688) ||
      ((row.hidden_size == 2048 || row.hidden_size == 8192) && row.inter_size == 5120);
  const bool named = row.kernel_source.find("nongated") != std::string_view::npos;
  return nemotron || named ? 2 : 3;
}

RowWork moe_work(const MeasurementRow& row) {
  RowWork work;
  // Other routings choose experts at random.
  if (row.distribution != "balanced") return work;
  const double tp = std::max(1.0, row.moe_tp_size), ep = std::max(1.0, row.moe_ep_size);
  const double expert = expert_matrices(row) * row.hidden_size * row.inter_size / tp;
  const double choices = row.num_tokens * row.topk;
  const bool every_expert = row.num_tokens >= std::ceil(row.num_experts / std::max(1.0, row.topk));
  // A rank's share of a few choices depends on which experts they fall on.
  if (ep > 1 && !every_expert) return work;
  const double active = every_expert ? row.num_experts / ep : std::min(row.num_experts, choices);
  work.bytes = active * expert * format(row.dtype).bytes;
  work.flops = 2 * choices / ep * expert;
  return work;
}

double cached_tokens(const MeasurementRow& row) {
  const double all = row.step + 1;
  return row.batch_size * (row.window_size > 0 ? std::min(all, row.window_size) : all);
}

RowWork attention_work(const MeasurementRow& row) {
  RowWork work;
  work.bytes =
      cached_tokens(row) * 2 * row.num_key_value_heads * row.head_dim * format(row.kv_dtype).bytes;
  return work;
}

RowWork latent_work(const MeasurementRow& row) {
  RowWork work;
  work.bytes = cached_tokens(row) * kMlaElements * format(row.kv_dtype).bytes;
  return work;
}

RowWork all_reduce_work(const MeasurementRow& row) {
  RowWork work;
  if (row.num_gpus < 2) return work;
  work.link_bytes =
      2 * (row.num_gpus - 1) / row.num_gpus * row.message_size * format(row.dtype).bytes;
  return work;
}

}  // namespace

RowWork row_work(const MeasurementRow& row) {
  switch (row.table) {
    case MeasurementTable::gemm:
      return gemm_work(row);
    case MeasurementTable::moe:
      return moe_work(row);
    case MeasurementTable::generation_attention:
      return attention_work(row);
    case MeasurementTable::generation_mla:
    case MeasurementTable::mla_module:
      return latent_work(row);
    case MeasurementTable::custom_allreduce:
      return all_reduce_work(row);
    case MeasurementTable::dsv4_csa:
    case MeasurementTable::dsv4_hca:
    case MeasurementTable::mla_bmm:
    case MeasurementTable::nccl:
    case MeasurementTable::compute_scale:
      return {};
  }
  return {};
}

double peak_flops_per_s(const MeasurementRow& row, const TimingGpu& gpu) {
  switch (format(row.dtype).multiply) {
    case Multiply::unknown:
      return 0;
    case Multiply::bf16:
      return gpu.bf16_flops_per_s;
    case Multiply::fp8:
      return gpu.fp8_flops_per_s;
    case Multiply::nvfp4:
      return gpu.nvfp4_flops_per_s;
  }
  return 0;
}

double dram_bound_s(const RowWork& work, const TimingGpu& gpu) {
  return std::max(0.0, work.bytes - gpu.l2_bytes / work.copies) / gpu.dram_bytes_per_s;
}

double roofline_s(const MeasurementRow& row, const RowWork& work, const TimingGpu& gpu) {
  const double link = gpu.nvlink ? gpu.nvlink_bytes_per_s : gpu.pcie_bytes_per_s;
  const double peak = peak_flops_per_s(row, gpu);
  return std::max({work.bytes / gpu.dram_bytes_per_s, peak > 0 ? work.flops / peak : 0.0,
                   link > 0 ? work.link_bytes / link : 0.0});
}

}  // namespace smtwin
