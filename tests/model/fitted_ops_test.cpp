// SPDX-License-Identifier: Apache-2.0
// Ops of a decode step timed by the shipped profile: what is covered, what is counted once, and
// that the times and their intervals behave.
#include "model/fitted_ops.hpp"

#include <algorithm>

#include "arch/gpu_catalog.hpp"
#include "arch/gpu_spec_io.hpp"
#include "model/serving_kernels.hpp"
#include "model/step_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/example_models.hpp"
#include "tests/model/find_op.hpp"
#include "validate/fit/profile_io.hpp"

using namespace smtwin;
using test::llama_8b;
using test::qwen3_30b_a3b;

namespace {

const char* const kServer = "rtx-pro-6000-server";

std::shared_ptr<const CalibrationProfile> shipped(const std::string& gpu) {
  return std::make_shared<CalibrationProfile>(
      load_profile(data_directory() + "/calibrations/" + gpu + ".json"));
}

std::shared_ptr<const FittedOps> fitted_on(const GpuSpec& gpu) {
  return std::make_shared<FittedOps>(gpu, find_gpu(kServer), shipped(kServer),
                                     ServingFramework::vllm);
}

StepTime step_of(const ModelSpec& model, const GpuSpec& gpu, std::int64_t batch, OpTimer& timer,
                 int tp = 1) {
  StepOptions options;
  options.batch = batch;
  options.context = 2048;
  options.kv_format = model.kv_format;
  options.math = math_support(gpu);
  options.sm_count = *gpu.sm_count;
  return step_time(step_ops(model, {.tp = tp}, options), options, timer);
}

const OpTime* find(const StepTime& step, const std::string& name) {
  for (const SegmentTime& segment : step.segments) {
    for (const OpTime& op : segment.ops) {
      if (op.op.name == name) return &op;
    }
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a framework's own kernels come first, others stand in", "[hand]") {
  const TimingGpu server = timing_gpu(find_gpu(kServer));
  CHECK(gemm_kernels(ServingFramework::vllm, NumberFormat::nvfp4, server).front().framework ==
        "vllm");
  CHECK(gemm_kernels(ServingFramework::trtllm, NumberFormat::nvfp4, server).front().framework ==
        "trtllm");
  // vLLM's BF16 and block-scaled FP8 rows do not measure what a deployment runs.
  for (const NumberFormat f : {NumberFormat::bf16, NumberFormat::fp8_block}) {
    for (const FamilyIdentity& id : gemm_kernels(ServingFramework::vllm, f, server)) {
      CHECK(id.framework != "vllm");
    }
  }
  CHECK(gemm_kernels(ServingFramework::vllm, NumberFormat::fp16, server) ==
        gemm_kernels(ServingFramework::vllm, NumberFormat::bf16, server));
  CHECK(gemm_kernels(ServingFramework::vllm, NumberFormat::int8, server).empty());
  const TimingGpu ada = timing_gpu(find_gpu("l40s"));
  CHECK(gemm_kernels(ServingFramework::vllm, NumberFormat::bf16, ada).empty());
  const TimingGpu hopper = timing_gpu(find_gpu("h200-sxm"));
  CHECK(gemm_kernels(ServingFramework::vllm, NumberFormat::nvfp4, hopper).empty());
  CHECK(attention_kernels(ServingFramework::vllm, NumberFormat::bf16, 128, server)
            .front()
            .family.provider == AttentionLibrary::flash_attention2);
  CHECK(attention_kernels(ServingFramework::vllm, NumberFormat::bf16, 128, hopper)
            .front()
            .family.provider == AttentionLibrary::flash_attention3);
}

TEST_CASE("every kernel named here has a family in the shipped profiles", "[property]") {
  for (const char* gpu : {kServer, "h200-sxm"}) {
    const TimingGpu chip = timing_gpu(find_gpu(gpu));
    const auto profile = shipped(gpu);
    const auto check = [&](const FamilyIdentity& id) {
      INFO(gpu << " " << id.key());
      CHECK(profile->find(id) != nullptr);
    };
    for (const NumberFormat f : {NumberFormat::bf16, NumberFormat::fp8, NumberFormat::fp8_block,
                                 NumberFormat::nvfp4, NumberFormat::mxfp4, NumberFormat::int4}) {
      for (const auto& id : gemm_kernels(ServingFramework::vllm, f, chip)) check(id);
      for (const auto& id : batched_gemm_kernels(ServingFramework::vllm, f, chip)) check(id);
      for (const auto& k : expert_kernels(ServingFramework::vllm, f, chip)) check(k.identity);
      for (const std::int64_t dim : {128, 512}) {
        for (const auto& k : attention_kernels(ServingFramework::vllm, f, dim, chip)) {
          check(k.identity);
        }
      }
      for (const auto& k : latent_attention_kernels(ServingFramework::vllm, f, chip)) {
        check(k.identity);
      }
    }
  }
}

TEST_CASE("a dense model is timed by fitted families but for its small kernels", "[property]") {
  const GpuSpec gpu = find_gpu(kServer);
  OpTimer timer(gpu, {}, fitted_on(gpu));
  const StepTime step = step_of(llama_8b(), gpu, 8, timer);
  CHECK(step.with_interval);
  CHECK(step.provenance == Provenance::fitted);
  CHECK(step.fitted_s > 0.9 * step.seconds);
  CHECK(step.interval.low_s < step.seconds);
  CHECK(step.interval.high_s > step.seconds);
  // 16 GB of weights at no more than the peak of the memory.
  CHECK(step.seconds > step.weight_bytes / *gpu.dram_bytes_per_s);
  for (const char* name : {"qkv", "o", "gate_up", "down", "lm_head", "attention"}) {
    INFO(name);
    const OpTime* op = find(step, name);
    REQUIRE(op != nullptr);
    CHECK_FALSE(op->time.family.empty());
    CHECK(op->time.interval.low_s < op->time.seconds);
    CHECK(op->time.interval.high_s > op->time.seconds);
  }
  const OpTime* norm = find(step, "add + norm (attn)");
  REQUIRE(norm != nullptr);
  CHECK(norm->time.family.empty());
  CHECK(norm->time.with_interval);
}

TEST_CASE("what an expert layer's family times is not counted again", "[property]") {
  const GpuSpec gpu = find_gpu(kServer);
  OpTimer fitted(gpu, {}, fitted_on(gpu)), plain(gpu, {});
  const StepTime step = step_of(qwen3_30b_a3b(), gpu, 16, fitted);
  const StepTime without = step_of(qwen3_30b_a3b(), gpu, 16, plain);
  for (const char* name : {"expert top-k", "experts_down", "sum over experts"}) {
    INFO(name);
    REQUIRE(find(step, name) != nullptr);
    CHECK(find(step, name)->time.in_leader);
    CHECK(find(step, name)->time.seconds == 0);
    CHECK_FALSE(find(without, name)->time.in_leader);
    CHECK(find(without, name)->time.seconds > 0);
  }
  CHECK(find(step, "experts_gate_up")->time.seconds >
        1.3 * find(without, "experts_gate_up")->time.seconds);
  CHECK_FALSE(find(step, "router")->time.in_leader);
}

TEST_CASE("a pinned parameter scales the fitted time as the kernel model says", "[property]") {
  const GpuSpec gpu = find_gpu(kServer);
  const KernelSettings pins{{"triton_gemm", {{"block_m", 16}, {"block_n", 16}}}};
  OpTimer pinned(gpu, pins, fitted_on(gpu)), fitted(gpu, {}, fitted_on(gpu));
  OpTimer pinned_model(gpu, pins), model(gpu, {});
  const OpSeconds a = find(step_of(llama_8b(), gpu, 256, pinned), "qkv")->time;
  const double base = find(step_of(llama_8b(), gpu, 256, fitted), "qkv")->time.seconds;
  const double ratio = find(step_of(llama_8b(), gpu, 256, pinned_model), "qkv")->time.seconds /
                       find(step_of(llama_8b(), gpu, 256, model), "qkv")->time.seconds;
  CHECK(ratio > 1.01);
  CHECK(a.seconds == Approx(base * ratio));
  CHECK(a.provenance == Provenance::extrapolated);
  CHECK(find(step_of(llama_8b(), gpu, 256, pinned), "attention")->time.provenance ==
        Provenance::fitted);
}

TEST_CASE("a what-if of the memory moves the fitted times with it", "[property]") {
  GpuSpec gpu = find_gpu(kServer);
  OpTimer before(gpu, {}, fitted_on(gpu));
  GpuSpec faster = gpu;
  apply_overrides(faster, {"dram_bytes_per_s=3195136000000"});  // twice
  OpTimer after(faster, {}, fitted_on(faster));
  const StepTime a = step_of(llama_8b(), gpu, 1, before);
  const StepTime b = step_of(llama_8b(), faster, 1, after);
  CHECK(b.provenance == Provenance::transferred);
  CHECK(b.seconds < 0.65 * a.seconds);
  CHECK(b.seconds > 0.5 * a.seconds);
  // Less certain: wider in relation to itself.
  CHECK((b.interval.high_s - b.interval.low_s) / b.seconds >
        1.5 * (a.interval.high_s - a.interval.low_s) / a.seconds);
}

TEST_CASE("more sequences never make a step shorter, more GPUs cost collectives", "[property]") {
  const GpuSpec gpu = find_gpu(kServer);
  OpTimer timer(gpu, {}, fitted_on(gpu));
  double before = 0;
  for (const std::int64_t batch : {1, 4, 16, 64, 256}) {
    const StepTime step = step_of(llama_8b(), gpu, batch, timer);
    CHECK(step.seconds > before);
    before = step.seconds;
  }
  const StepTime one = step_of(llama_8b(), gpu, 16, timer, 1);
  const StepTime two = step_of(llama_8b(), gpu, 16, timer, 2);
  const auto collectives = static_cast<std::size_t>(OpGroup::collectives);
  CHECK(one.group_s[collectives] == 0);
  CHECK(two.group_s[collectives] > 0);
  CHECK(two.seconds > 0.5 * one.seconds);
  CHECK(find(two, "all-reduce (mlp)")->time.family == "collectives");
}
