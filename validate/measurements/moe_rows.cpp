// SPDX-License-Identifier: Apache-2.0
#include "validate/measurements/moe_rows.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "arch/error.hpp"
#include "model/families/moe/moe_time.hpp"
#include "validate/measurements/moe_rows_benchmark.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

std::string where(const MeasurementRow& row, const std::string& column) {
  return "moe_perf line " + std::to_string(row.line) + ": " + column;
}

[[noreturn]] void refuse(const MeasurementRow& row, const std::string& column,
                         std::string_view found, const std::string& known) {
  throw DataError(where(row, column) + " \"" + std::string(found) +
                  "\" is not modelled; known: " + known + "; leave these rows out");
}

[[noreturn]] void refuse_number(const MeasurementRow& row, const std::string& column, double found,
                                const std::string& allowed) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), found).ptr;
  throw DataError(where(row, column) + " " + std::string(text.data(), end) +
                  " is out of range; allowed: " + allowed + "; leave the row out");
}

// A whole number from 1 to `most`.
int count_in(const MeasurementRow& row, const std::string& column, double value, double most) {
  if (!(value >= 1 && value <= most) || value != std::floor(value)) {
    refuse_number(row, column, value,
                  "a whole number from 1 to " + std::to_string(static_cast<long long>(most)));
  }
  return static_cast<int>(value);
}

MoeFramework framework_of(const MeasurementRow& row) {
  const auto framework = serving_framework_from(row.framework);
  if (!framework) refuse(row, "framework", row.framework, "VLLM, SGLang, TRTLLM");
  return *framework;
}

MoeKernel kernel_of(const MeasurementRow& row) {
  const std::string_view source = row.kernel_source;
  if (contains(source, "marlin")) return MoeKernel::marlin;
  if (source == "moe_torch_flow_triton_fp8_block") return MoeKernel::triton_trtllm;
  if (source == "sglang_fused_moe_triton") return MoeKernel::triton_sglang;
  if (contains(source, "triton_tritonexperts")) return MoeKernel::triton_vllm;
  if (contains(source, "oaitriton") || source == "moe_torch_flow") return MoeKernel::triton_kernels;
  if (contains(source, "flashinfer_cutlass")) return MoeKernel::flashinfer;
  if (source == "moe_torch_flow_cutlass" || source == "moe_torch_flow_nongated") {
    return MoeKernel::cutlass;
  }
  refuse(row, "kernel_source", source,
         "*marlin*, *flashinfer_cutlass*, *triton_tritonexperts*, *oaitriton*, "
         "sglang_fused_moe_triton, moe_torch_flow[_cutlass|_nongated|_triton_fp8_block]");
}

MoeDtype dtype_of(const MeasurementRow& row) {
  constexpr std::array<std::pair<std::string_view, MoeDtype>, 7> kNames{
      {{"bfloat16", MoeDtype::bf16},
       {"fp8", MoeDtype::fp8},
       {"fp8_block", MoeDtype::fp8_block},
       {"nvfp4", MoeDtype::nvfp4},
       {"int4_wo", MoeDtype::int4},
       {"w4a16_mxfp4", MoeDtype::mxfp4},
       {"w4a8_mxfp4_mxfp8", MoeDtype::mxfp4_mxfp8}}};
  for (const auto& [name, dtype] : kNames) {
    if (row.dtype == name) return dtype;
  }
  refuse(row, "moe_dtype", row.dtype,
         "bfloat16, fp8, fp8_block, nvfp4, int4_wo, w4a16_mxfp4, w4a8_mxfp4_mxfp8");
}

double power_law_exponent(const MeasurementRow& row) {
  if (row.distribution == "balanced") return 0;
  constexpr std::string_view kPowerLaw = "power_law_";
  double exponent = 0;
  if (row.distribution.starts_with(kPowerLaw)) {
    const std::string_view text = row.distribution.substr(kPowerLaw.size());
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, exponent);
    if (read.ec != std::errc() || read.ptr != end) exponent = 0;
  }
  constexpr double kSteepest = 10;
  if (!(exponent > 0 && exponent <= kSteepest)) {
    refuse(row, "distribution", row.distribution, "balanced, power_law_<exponent from 0 to 10>");
  }
  return exponent;
}

class MoeRowProblem : public TimeProblem {
 public:
  MoeRowProblem(RowSpan rows, const TimingGpu& gpu)
      : model_(gpu, moe_implementation(*rows.front())) {
    MoeRouter router;
    work_.reserve(rows.size());
    for (const MeasurementRow* row : rows) {
      const RoutingRequest request = moe_routing_request(*row, model_.implementation());
      work_.push_back(model_.prepare(moe_shape(*row), router.route(request)));
    }
  }

  const std::vector<ConstantSpec>& constants() const override { return model_.constants(); }
  std::size_t size() const override { return work_.size(); }
  double seconds(std::size_t i, std::span<const double> values, int& choice,
                 bool search) const override {
    return model_.seconds(work_[i], values, CacheState::benchmark, choice, search);
  }
  TimeParts parts(std::size_t i, std::span<const double> values) const override {
    return model_.parts(work_[i], values, CacheState::benchmark);
  }

 private:
  MoeTimeModel model_;
  std::vector<MoeWork> work_;
};

}  // namespace

MoeImplementation moe_implementation(const MeasurementRow& row) {
  return {.framework = framework_of(row), .kernel = kernel_of(row), .dtype = dtype_of(row)};
}

MoeShape moe_shape(const MeasurementRow& row) {
  constexpr double kMostTokens = 1 << 24, kMostExperts = 1 << 14, kMostColumns = 1 << 20;
  const int experts = count_in(row, "num_experts", row.num_experts, kMostExperts);
  const int ep = count_in(row, "moe_ep_size", row.moe_ep_size, experts);
  if (experts % ep != 0) {
    refuse_number(row, "moe_ep_size", ep, "a divisor of num_experts " + std::to_string(experts));
  }
  const int hidden = count_in(row, "hidden_size", row.hidden_size, kMostColumns);
  const int inter = count_in(row, "inter_size", row.inter_size, kMostColumns);
  return {.tokens = 1.0 * count_in(row, "num_tokens", row.num_tokens, kMostTokens),
          .topk = 1.0 * count_in(row, "topk", row.topk, experts),
          .experts = 1.0 * experts,
          .ep = 1.0 * ep,
          .tp = 1.0 * count_in(row, "moe_tp_size", row.moe_tp_size, inter),
          .hidden = 1.0 * hidden,
          .inter = 1.0 * inter,
          .gated = benchmark_is_gated(hidden, inter) && !contains(row.kernel_source, "nongated")};
}

RoutingRequest moe_routing_request(const MeasurementRow& row, const MoeImplementation& how) {
  const MoeShape shape = moe_shape(row);
  return {.tokens = static_cast<std::int64_t>(shape.tokens),
          .topk = static_cast<int>(shape.topk),
          .experts = static_cast<int>(shape.experts),
          .ep = static_cast<int>(shape.ep),
          .power_law_exponent = power_law_exponent(row),
          .group = benchmark_group_limit(how, shape),
          .remote = benchmark_remote_pairs(how, shape)};
}

std::unique_ptr<TimeProblem> moe_row_problem(RowSpan rows, const TimingGpu& gpu) {
  if (rows.empty()) throw DataError("moe_perf: no rows, expected at least one");
  return std::make_unique<MoeRowProblem>(rows, gpu);
}

}  // namespace smtwin
