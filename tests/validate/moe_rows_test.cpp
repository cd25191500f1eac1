// SPDX-License-Identifier: Apache-2.0
// Rows of moe_perf: which implementation, shape and routing they mean, and what is refused.
#include "validate/measurements/moe_rows.hpp"

#include <functional>
#include <string>
#include <vector>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "tests/catch.hpp"
#include "validate/measurements/row_problems.hpp"

using namespace smtwin;

namespace {

MeasurementRow good_row() {
  MeasurementRow row;
  row.table = MeasurementTable::moe;
  row.line = 7;
  row.framework = "SGLang";
  row.kernel_source = "sglang_fused_moe_triton";
  row.dtype = "bfloat16";
  row.distribution = "power_law_1.01";
  row.num_tokens = 64;
  row.hidden_size = 2816;
  row.inter_size = 704;
  row.topk = 8;
  row.num_experts = 128;
  row.moe_tp_size = 2;
  row.moe_ep_size = 4;
  row.latency_s = 1e-4;
  return row;
}

std::string refusal(const std::function<void(MeasurementRow&)>& change) {
  MeasurementRow row = good_row();
  change(row);
  try {
    moe_routing_request(row, moe_implementation(row));
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a row names implementation, shape and routing", "[unit]") {
  const MeasurementRow row = good_row();
  const MoeImplementation how = moe_implementation(row);
  CHECK(how == MoeImplementation{MoeFramework::sglang, MoeKernel::triton_sglang, MoeDtype::bf16});
  const MoeShape shape = moe_shape(row);
  CHECK(shape.local_experts() == 32);
  CHECK(shape.inter_per_rank() == 352);
  CHECK(shape.gated);
  MeasurementRow nemotron = row, named = row;
  nemotron.hidden_size = 2688, nemotron.inter_size = 1856;
  named.kernel_source = "moe_torch_flow_nongated";
  CHECK_FALSE(moe_shape(nemotron).gated);
  CHECK_FALSE(moe_shape(named).gated);
  const RoutingRequest request = moe_routing_request(row, how);
  CHECK(request.power_law_exponent == 1.01);
  CHECK(request.remote == RemotePairs::first_expert);  // one of the three geometries timed bare
  CHECK(request.group == GroupLimit{});
}

TEST_CASE("kernel sources map to kernels", "[unit]") {
  const auto kernel = [](std::string_view source) {
    MeasurementRow row = good_row();
    row.kernel_source = source;
    return moe_implementation(row).kernel;
  };
  CHECK(kernel("vllm_modeloptfp8moe_flashinfer_cutlass_flashinferexperts") ==
        MoeKernel::flashinfer);
  CHECK(kernel("vllm_unquantizedfusedmoe_triton_tritonexperts") == MoeKernel::triton_vllm);
  CHECK(kernel("vllm_gptossmxfp4moe_triton_oaitritonmxfp4expertsmonolithic") ==
        MoeKernel::triton_kernels);
  CHECK(kernel("sglang_marlin_moe") == MoeKernel::marlin);
  CHECK(kernel("moe_torch_flow") == MoeKernel::triton_kernels);
  CHECK(kernel("moe_torch_flow_nongated") == MoeKernel::cutlass);
  CHECK(kernel("moe_torch_flow_triton_fp8_block") == MoeKernel::triton_trtllm);
}

TEST_CASE("what no rule covers is refused with line, column and what is known", "[unit]") {
  CHECK(refusal([](MeasurementRow& r) { r.kernel_source = "torch"; })
            .starts_with(
                "moe_perf line 7: kernel_source \"torch\" is not modelled; known: *marlin*, "));
  CHECK(refusal([](MeasurementRow& r) {
          r.framework = "JAX";
        }).starts_with("moe_perf line 7: framework \"JAX\" is not modelled; known: "));
  CHECK(refusal([](MeasurementRow& r) {
          r.dtype = "int8";
        }).starts_with("moe_perf line 7: moe_dtype \"int8\" is not modelled; known: bfloat16, "));
  for (const char* law :
       {"zipf", "power_law_", "power_law_-1", "power_law_1.2x", "power_law_nan"}) {
    INFO(law);
    CHECK(refusal([&](MeasurementRow& r) { r.distribution = law; }) ==
          "moe_perf line 7: distribution \"" + std::string(law) +
              "\" is not modelled; known: balanced, power_law_<exponent from 0 to 10>; "
              "leave these rows out");
  }
  CHECK(refusal([](MeasurementRow& r) { r.moe_ep_size = 3; }) ==
        "moe_perf line 7: moe_ep_size 3 is out of range; allowed: a divisor of num_experts 128; "
        "leave the row out");
  CHECK(refusal([](MeasurementRow& r) { r.topk = 200; }) ==
        "moe_perf line 7: topk 200 is out of range; allowed: a whole number from 1 to 128; leave "
        "the row out");
  CHECK(refusal([](MeasurementRow& r) {
          r.num_tokens = 0.5;
        }).starts_with("moe_perf line 7: num_tokens 0.5 is out of range"));
  CHECK(refusal([](MeasurementRow& r) {
          r.num_tokens = 1e30;
        }).starts_with("moe_perf line 7: num_tokens 1e+30 is out of range"));
  CHECK(refusal([](MeasurementRow& r) {
          r.hidden_size = 0;
        }).starts_with("moe_perf line 7: hidden_size 0 is out of range"));
  CHECK(refusal([](MeasurementRow&) {}).empty());
}

TEST_CASE("point i of the problem is row i", "[unit]") {
  const TimingGpu gpu = timing_gpu(find_gpu("h200-sxm"));
  MeasurementRow few = good_row(), many = good_row();
  few.num_tokens = 1;
  many.num_tokens = 8192;
  const std::vector<const MeasurementRow*> rows{&few, &many};
  const auto problem = moe_row_problem(rows, gpu);
  REQUIRE(problem->size() == 2);
  std::vector<double> values;
  for (const ConstantSpec& c : problem->constants()) values.push_back(c.prior);
  int choice = 0;
  const double t_few = problem->seconds(0, values, choice, true);
  CHECK(10 * t_few < problem->seconds(1, values, choice, true));
  CHECK(problem->parts(0, values).seconds == t_few);
  CHECK_THROWS_AS(moe_row_problem({}, gpu), DataError);
}
