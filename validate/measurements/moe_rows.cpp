// SPDX-License-Identifier: Apache-2.0
// Rows of moe_perf -> prepared shapes of the expert-layer model: which implementation a kernel
// source is, how its benchmark routed the tokens, which rows hold one layer a replay.
#include <charconv>
#include <string>
#include <vector>

#include "arch/error.hpp"
#include "model/families/moe/moe_time.hpp"
#include "validate/measurements/moe_rows.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

DataError row_error(const MeasurementRow& row, std::string_view what, std::string_view found,
                    std::string_view allowed) {
  return DataError("moe_perf, line " + std::to_string(row.line) + ": unknown " + std::string(what) +
                   " \"" + std::string(found) + "\"; known: " + std::string(allowed));
}

class MoeRowProblem : public TimeProblem {
 public:
  MoeRowProblem(RowSpan rows, const TimingGpu& gpu)
      : how_(moe_implementation(*rows.front())), model_(gpu, how_) {
    MoeRouter router;
    points_.reserve(rows.size());
    for (const MeasurementRow* row : rows) {
      const MoeShape shape = moe_shape(*row);
      points_.push_back(model_.prepare(shape, router.route(moe_routing_request(*row, how_))));
      points_.back().balanced = row->distribution == "balanced";
    }
  }
  const std::vector<ConstantSpec>& constants() const override { return model_.constants(); }
  std::size_t size() const override { return points_.size(); }
  double seconds(std::size_t i, std::span<const double> values, int& choice,
                 bool search) const override {
    const MoePoint& p = points_[i];
    return model_.seconds(p, values, CacheState::benchmark, choice, search) + (p.balanced ? model_.replay_s(values) : 0);
  }
  TimeParts parts(std::size_t, std::span<const double>) const override { return {}; }

 private:
  MoeImplementation how_;
  MoeTimeModel model_;
  std::vector<MoePoint> points_;
};

}  // namespace

MoeImplementation moe_implementation(const MeasurementRow& row) {
  MoeImplementation how;
  const std::string_view fw = row.framework, source = row.kernel_source;
  if (fw == "VLLM" || fw == "vLLM") {
    how.framework = MoeFramework::vllm;
  } else if (fw == "SGLang") {
    how.framework = MoeFramework::sglang;
  } else if (fw == "TRTLLM") {
    how.framework = MoeFramework::trtllm;
  } else {
    throw row_error(row, "framework", fw, "VLLM, SGLang, TRTLLM");
  }
  if (contains(source, "marlin")) {
    how.kernel = MoeKernel::marlin;
  } else if (source == "moe_torch_flow_triton_fp8_block") {
    how.kernel = MoeKernel::triton_trtllm;
  } else if (source == "sglang_fused_moe_triton") {
    how.kernel = MoeKernel::triton_sglang;
  } else if (contains(source, "triton_tritonexperts")) {
    how.kernel = MoeKernel::triton_vllm;
  } else if (contains(source, "oaitriton") || source == "moe_torch_flow") {
    how.kernel = MoeKernel::triton_kernels;
  } else if (contains(source, "flashinfer_cutlass")) {
    how.kernel = MoeKernel::flashinfer;
  } else if (source == "moe_torch_flow_cutlass" || source == "moe_torch_flow_nongated") {
    how.kernel = MoeKernel::cutlass;
  } else {
    throw row_error(row, "kernel_source", source,
                    "*marlin*, *flashinfer_cutlass*, *triton_tritonexperts*, *oaitriton*, "
                    "sglang_fused_moe_triton, moe_torch_flow[_cutlass|_nongated|_triton_fp8_block]");
  }
  const std::string_view d = row.dtype;
  if (d == "bfloat16") {
    how.dtype = MoeDtype::bf16;
  } else if (d == "fp8") {
    how.dtype = MoeDtype::fp8;
  } else if (d == "fp8_block") {
    how.dtype = MoeDtype::fp8_block;
  } else if (d == "nvfp4") {
    how.dtype = MoeDtype::nvfp4;
  } else if (d == "int4_wo") {
    how.dtype = MoeDtype::int4;
  } else if (d == "w4a16_mxfp4") {
    how.dtype = MoeDtype::mxfp4;
  } else if (d == "w4a8_mxfp4_mxfp8") {
    how.dtype = MoeDtype::mxfp4_mxfp8;
  } else {
    throw row_error(row, "moe_dtype", d,
                    "bfloat16, fp8, fp8_block, nvfp4, int4_wo, w4a16_mxfp4, w4a8_mxfp4_mxfp8");
  }
  return how;
}

MoeShape moe_shape(const MeasurementRow& row) {
  return {.tokens = row.num_tokens,
          .topk = row.topk,
          .experts = row.num_experts,
          .ep = row.moe_ep_size,
          .tp = row.moe_tp_size,
          .hidden = row.hidden_size,
          .inter = row.inter_size,
          .gated = moe_is_gated(row.hidden_size, row.inter_size)};
}

RoutingRequest moe_routing_request(const MeasurementRow& row, const MoeImplementation& how) {
  const MoeShape shape = moe_shape(row);
  RoutingRequest request;
  request.tokens = static_cast<std::int64_t>(row.num_tokens);
  request.topk = static_cast<int>(row.topk);
  request.experts = static_cast<int>(row.num_experts);
  request.ep = static_cast<int>(row.moe_ep_size);
  request.group = moe_group_limit(how, shape);
  request.remote = moe_remote_pairs(how, shape);
  constexpr std::string_view kPowerLaw = "power_law_";
  if (row.distribution.starts_with(kPowerLaw)) {
    const std::string_view text = row.distribution.substr(kPowerLaw.size());
    std::from_chars(text.data(), text.data() + text.size(), request.power_law_exponent);
  }
  if (request.power_law_exponent <= 0 && row.distribution != "balanced") {
    throw row_error(row, "distribution", row.distribution, "balanced, power_law_<exponent>");
  }
  return request;
}

std::unique_ptr<TimeProblem> moe_row_problem(RowSpan rows, const TimingGpu& gpu) {
  return std::make_unique<MoeRowProblem>(rows, gpu);
}

}  // namespace smtwin
