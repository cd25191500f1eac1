// SPDX-License-Identifier: Apache-2.0
// The numbers of MODEL.md section 4: Llama-3.1-8B, batch 16, 1,609 tokens, one RTX PRO 6000 Server.
// When a prediction moves, the text moves with it.
#include <string>

#include "arch/gpu_catalog.hpp"
#include "model/memory_fit.hpp"
#include "model/step_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/example_models.hpp"
#include "tests/model/find_op.hpp"

namespace smtwin {
namespace {

// Equal in the digits that the text shows.
Approx shown(double value) { return Approx(value).epsilon(0.005); }

TEST_CASE("the worked step of MODEL.md section 4", "[worked]") {
  const GpuSpec gpu = find_gpu("rtx-pro-6000-server");
  const ModelSpec model = test::llama_8b();
  StepOptions options;
  options.batch = 16;
  options.context = 1609;
  options.math = math_support(gpu);
  options.sm_count = gpu.sm_count.value();
  OpTimer timer(gpu, {});
  const StepTime step = step_time(step_ops(model, {}, options), options, timer);

  REQUIRE(step.segments.size() == 3);
  CHECK(step.segments[0].seconds == shown(1.79e-6));
  CHECK(step.segments[1].count == 32);
  CHECK(step.segments[1].seconds == shown(368e-6));
  CHECK(step.segments[2].seconds == shown(701e-6));
  CHECK(step.seconds == shown(12.48e-3));
  CHECK(step.tokens_per_s_user() == shown(80.1));
  CHECK(step.tokens_per_s_gpu(1) == shown(1282));
  CHECK(step.weight_bytes == shown(15.01e9));

  double gemms = 0;
  double attention = 0;
  double small = 0;
  for (const OpTime& op : step.segments[1].ops) {
    (op.op.kind == OpKind::gemm              ? gemms
     : op.op.group == OpGroup::small_kernels ? small
                                             : attention) += op.time.seconds;
    if (op.op.name == "gate_up") {
      CHECK(op.time.seconds == shown(154.7e-6));
      CHECK(op.time.binding == Bound::dram);
      CHECK(op.time.config == "BM16/BN32/BK128/w4/s4");
      CHECK(timer.candidates(op.op).size() >= 4);
    }
  }
  CHECK(gemms == shown(289.8e-6));
  CHECK(attention == Approx(71e-6).epsilon(0.02));
  CHECK(small == Approx(7.0e-6).epsilon(0.02));
}

TEST_CASE("the other figures of section 4", "[worked]") {
  CHECK(active_experts(256, 6, 1) == Approx(6));
  CHECK(active_experts(256, 6, 16) == Approx(81).epsilon(0.01));
  CHECK(active_experts(256, 6, 128) == Approx(244).epsilon(0.005));
  const GpuSpec gpu = find_gpu("rtx-pro-6000-server");
  CHECK(collective_seconds(gpu, Collective::all_reduce, 4, 16 * 4096 * 2) == shown(20.4e-6));
  CHECK(weight_bytes_per_rank(test::llama_8b(), {}) == 8'030'261'248.0 * 2);
}

}  // namespace
}  // namespace smtwin
