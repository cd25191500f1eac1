// SPDX-License-Identifier: Apache-2.0
// Parameters and the registry: defaults, ranges, exact messages, size of the config spaces.
#include "kernels/descriptor.hpp"

#include <set>

#include "tests/catch.hpp"
#include "tests/kernels/chip.hpp"
#include "tests/kernels/instance_of.hpp"

using namespace smtwin;
using smtwin::test::usage_error;

TEST_CASE("kernels are found in every spelling users paste", "[unit]") {
  for (const char* name : {"triton_gemm", "triton-gemm", "external/triton_gemm", "Triton_GEMM"}) {
    CHECK(find_kernel(name).name() == "triton_gemm");
  }
  CHECK(usage_error([] { find_kernel("triton"); }) ==
        "unknown kernel \"triton\"; known: sparse_mla_decode, dense_gemm, triton_gemm, "
        "triton_moe_gemm, cutlass_nvfp4, sparse_decode_fieldnotes");
}

TEST_CASE("defaults fill what is not given, and only that", "[unit]") {
  const auto& kernel = find_kernel("sparse_decode_fieldnotes");
  const Parameters complete = complete_parameters(kernel, {{"block_t", 32}});
  CHECK(complete.at("block_t") == 32);
  CHECK(complete.at("num_stages") == 2);
  CHECK(complete.size() == kernel.parameters().size());
}

TEST_CASE("a bad parameter is refused with what is allowed", "[unit]") {
  const auto& kernel = find_kernel("sparse_decode_fieldnotes");
  CHECK(usage_error([&] {
          complete_parameters(kernel, {{"block_t", 0}});
        }) == "block_t: found 0; allowed: an integer from 1 to 1024");
  CHECK(usage_error([&] {
          complete_parameters(kernel, {{"blockt", 16}});
        }) ==
        "sparse_decode_fieldnotes has no parameter \"blockt\"; it has heads, topk, batch, d, "
        "block_h, block_t, num_warps, num_stages, nsplit");
}

TEST_CASE("parameters are read from text", "[unit]") {
  const auto specs = find_kernel("triton_gemm").parameters();
  const auto spec = [&](const std::string& name) {
    for (const auto& s : specs) {
      if (s.name == name) return s;
    }
    throw UsageError(name);
  };
  CHECK(parse_parameter(spec("block_m"), "block_m=64") == 64);
  CHECK(parse_parameter(spec("block_m"), "64") == 64);
  CHECK(parse_parameter(spec("dtype"), "dtype=FP8") == 2);
  CHECK(format_parameter(spec("dtype"), 2) == "fp8");
  CHECK(format_parameter(spec("block_m"), 64) == "64");
  CHECK(usage_error([&] { parse_parameter(spec("dtype"), "dtype=fp7"); }) ==
        "dtype: found \"fp7\"; allowed: bf16, fp16, fp8, int8, fp32");
  CHECK(usage_error([&] { parse_parameter(spec("block_m"), "block_m=6 4"); }) ==
        "block_m: found \"6 4\"; allowed: an integer from 1 to 1024");
  CHECK(usage_error([&] { parse_parameter(spec("block_m"), "99999999999999999999"); }) ==
        "block_m: found \"99999999999999999999\"; allowed: an integer from 1 to 1024");
}

TEST_CASE("every descriptor is complete and its config space small", "[property]") {
  std::set<std::string> kernels;
  for (const auto& kernel : kernel_registry()) {
    INFO(kernel->name());
    CHECK(kernels.insert(kernel->name()).second);
    CHECK_FALSE(kernel->summary().empty());
    CHECK_FALSE(kernel->sources().empty());
    std::set<std::string> names, short_names;
    for (const auto& spec : kernel->parameters()) {
      INFO(spec.name);
      CHECK(names.insert(spec.name).second);
      CHECK_FALSE(spec.meaning.empty());
      CHECK(spec.minimum <= spec.default_value);
      CHECK(spec.default_value <= spec.maximum);
      if (!spec.short_name.empty()) CHECK(short_names.insert(spec.short_name).second);
      for (const auto value : spec.candidates) {
        CHECK(spec.minimum <= value);
        CHECK(value <= spec.maximum);
      }
    }
    const auto space = config_space(*kernel, {});
    CHECK(space.size() > 1);
    CHECK(space.size() < 5000);
    CHECK(std::set<Parameters>(space.begin(), space.end()).size() == space.size());
  }
}

TEST_CASE("the config space keeps the given shape and spans the candidates", "[unit]") {
  // block_t {16, 32, 64} x num_warps {4, 8} x num_stages {1, 2, 3} = 18
  const auto space = config_space(find_kernel("sparse_decode_fieldnotes"), {{"heads", 64}});
  CHECK(space.size() == 18);
  for (const auto& point : space) CHECK(point.at("heads") == 64);
  // 5 x 4 x 4 tiles x 2 warps x 4 stages
  CHECK(config_space(find_kernel("triton_gemm"), {}).size() == 640);
}

TEST_CASE("every point of every space can be computed on chips old and new", "[property]") {
  for (const ComputeCapability cc :
       {ComputeCapability{7, 0}, {7, 5}, {8, 0}, {8, 9}, {9, 0}, {10, 0}, {12, 0}, {12, 1}}) {
    const GpuSpec gpu = test::chip(cc);
    for (const auto& kernel : kernel_registry()) {
      for (const auto& point : config_space(*kernel, {})) {
        const KernelInstance instance = kernel->instantiate(point, gpu);
        INFO(kernel->name() << " " << instance.config);
        REQUIRE(instance.resources.dynamic_shared_bytes > 0);
        REQUIRE(instance.resources.threads_per_cta % 32 == 0);
        REQUIRE(instance.resources.registers_per_thread > 0);
        REQUIRE(instance.resources.registers_per_thread <= 255);
        // dense_gemm counts no work of a tile that is of another data type than the shape.
        if (kernel->name() == "dense_gemm" && !instance.impossible.empty()) continue;
        REQUIRE(instance.grid.ctas() > 0);
        REQUIRE(instance.work.steps >= 1);
        REQUIRE(instance.work.loads_in_flight >= 0);
        REQUIRE(instance.work.warp_instructions > 0);
        // What the CTAs read covers the operands, and they issue no less than is useful.
        const double ctas = static_cast<double>(instance.grid.ctas());
        REQUIRE(instance.work.global_read_bytes * ctas >= instance.unique_read_bytes * 0.999);
        REQUIRE(instance.work.math_flops * ctas >= instance.useful_flops * 0.999);
        REQUIRE_FALSE(instance.shared_formula.empty());
        REQUIRE_FALSE(instance.registers_source.empty());
        REQUIRE_FALSE(instance.assumptions.empty());
      }
    }
  }
}

TEST_CASE("math pipes have names", "[unit]") {
  CHECK(to_string(MathPipe::nvfp4) == "nvfp4");
  CHECK(to_string(MathPipe::bf16) == "bf16");
  CHECK(to_string(MathPipe::none) == "none");
}
