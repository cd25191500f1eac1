// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "arch/gpu_catalog.hpp"
#include "model/timing/constant_specs.hpp"
#include "model/timing/norms.hpp"
#include "model/timing/serving_framework.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("norms are the powers they are named for", "[oracle]") {
  for (const double a : {0.0, 1e-6, 3.0}) {
    for (const double b : {1e-6, 4.0, 1e3}) {
      const auto power = [&](double p) { return std::pow(std::pow(a, p) + std::pow(b, p), 1 / p); };
      CHECK(norm2(a, b) == Approx(power(2)));
      CHECK(norm3(a, b) == Approx(power(3)));
      CHECK(norm4(a, b) == Approx(power(4)));
      CHECK(norm6(a, b) == Approx(power(6)));
      CHECK(norm8(a, b) == Approx(power(8)));
    }
  }
}

TEST_CASE("frameworks are found by any spelling, and no other", "[hand]") {
  for (const char* text : {"vllm", "vLLM", "VLLM", "v_llm"}) {
    CHECK(serving_framework_from(text) == ServingFramework::vllm);
  }
  CHECK(serving_framework_from("SGLang") == ServingFramework::sglang);
  CHECK(serving_framework_from("TRTLLM") == ServingFramework::trtllm);
  CHECK(serving_framework_from("TensorRT-LLM") == ServingFramework::trtllm);
  CHECK_FALSE(serving_framework_from("vllm_x"));
  CHECK_FALSE(serving_framework_from(""));
  for (const auto f :
       {ServingFramework::vllm, ServingFramework::sglang, ServingFramework::trtllm}) {
    CHECK(serving_framework_from(to_string(f)) == f);
  }
}

TEST_CASE("the DRAM rate expects what the GPU's file measured, within its peak", "[property]") {
  const TimingGpu gpu = timing_gpu(find_gpu("h200-sxm"));
  const ConstantSpec spec = dram_rate_spec(gpu);
  CHECK(spec.of_gpu);
  CHECK(spec.prior == gpu.dram_read_bytes_per_s);
  CHECK(spec.low < spec.prior);
  CHECK(spec.prior < gpu.dram_bytes_per_s);
  CHECK(spec.high < 1.1 * gpu.dram_bytes_per_s);
}
