// SPDX-License-Identifier: Apache-2.0
#include "model/step_time.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "tests/catch.hpp"
#include "tests/model/example_models.hpp"
#include "tests/model/find_op.hpp"

namespace smtwin {
namespace {

using test::deepseek_v3;
using test::dsv4_flash;
using test::llama_8b;
using test::qwen3_30b_a3b;

const GpuSpec& server_gpu() {
  static const GpuSpec gpu = find_gpu("rtx-pro-6000-server");
  return gpu;
}

StepOptions options_for(const ModelSpec& model, std::int64_t batch, std::int64_t context) {
  StepOptions options;
  options.batch = batch;
  options.context = context;
  options.kv_format = model.kv_format;
  options.math = math_support(server_gpu());
  options.sm_count = server_gpu().sm_count.value();
  return options;
}

StepTime time_of(const ModelSpec& model, const Layout& layout, std::int64_t batch,
                 std::int64_t context, OpTimer& timer) {
  const StepOptions options = options_for(model, batch, context);
  return step_time(step_ops(model, layout, options), options, timer);
}

TEST_CASE("kinds of layers once and multiplied equal all layers in one graph") {
  // Ratios 0, 0, 4, 128, 4, 128 of DeepSeek-V4: forks, joins and contention in each.
  ModelSpec model = dsv4_flash();
  model.layers.resize(6);
  const Layout layout{.tp = 4};
  const StepOptions options = options_for(model, 16, 8192);
  OpTimer timer(server_gpu(), {});
  const StepOps ops = step_ops(model, layout, options);
  CHECK(ops.layers.size() == 4);
  const StepTime collapsed = step_time(ops, options, timer);

  std::vector<GraphNode> nodes;
  int joined = -1;
  const auto append = [&](const OpList& list) {
    const int first = static_cast<int>(nodes.size());
    for (const StepOp& op : list) {
      const OpSeconds& t = timer.time(op);
      GraphNode node{.seconds = t.seconds, .dram_share = t.dram_share, .after = op.after};
      for (int& before : node.after) before += first;
      if (op.after.empty() && joined >= 0) node.after.push_back(joined);
      nodes.push_back(node);
    }
    joined = static_cast<int>(nodes.size()) - 1;
  };
  append(ops.before);
  for (const LayerSpec& layer : model.layers) append(layer_ops(model, layer, layout, options));
  append(ops.after);
  CHECK(schedule(nodes).seconds == Approx(collapsed.seconds).epsilon(1e-12));
}

TEST_CASE("groups add up to the step, host time included") {
  OpTimer timer(server_gpu(), {});
  const ModelSpec model = deepseek_v3();
  const StepOptions options = options_for(model, 16, 4096);
  const StepOps ops = step_ops(model, {.tp = 8}, options);
  const StepTime step = step_time(ops, options, timer, 1e-3);
  CHECK(std::accumulate(step.group_s.begin(), step.group_s.end(), 0.0) == Approx(step.seconds));
  CHECK(step.seconds - step_time(ops, options, timer).seconds == Approx(1e-3));
  double shares = 0;
  double before = 1;
  for (const GroupShare& share : group_shares(step)) {
    CHECK(share.share <= before);
    before = share.share;
    shares += share.share;
  }
  CHECK(shares == Approx(1));
  CHECK(step.tokens_per_s_user() == Approx(1 / step.seconds));
  CHECK(step.tokens_per_s_gpu(8) == Approx(2 / step.seconds));
}

TEST_CASE("a step reads the weights of its layers and lm_head, not the table of embeddings") {
  // 32 layers x 436,207,616 B + 128256 x 4096 x 2 B = 15.009 GB, and one row of 8192 B.
  OpTimer timer(server_gpu(), {});
  const StepTime step = time_of(llama_8b(), {}, 1, 1000, timer);
  CHECK(step.weight_bytes == 32 * 436'207'616.0 + 128256.0 * 4096 * 2 + 8192);
  CHECK(step.kv_bytes == 1000 * 131072.0);
  // No faster than the DRAM delivers, and not far from it at one sequence.
  const double peak = *server_gpu().dram_bytes_per_s * *server_gpu().dram_read_efficiency;
  const double floor_s = (step.weight_bytes + step.kv_bytes) / peak;
  CHECK(step.seconds > floor_s);
  CHECK(step.seconds < 1.25 * floor_s);
}

TEST_CASE("overlap is saved time, and no more than the sum") {
  OpTimer timer(server_gpu(), {});
  const StepTime step = time_of(dsv4_flash(), {.tp = 4}, 16, 8192, timer);
  CHECK(step.overlap_saved_s > 0);
  for (const SegmentTime& segment : step.segments) CHECK(segment.seconds <= segment.sum_s);
  CHECK(time_of(llama_8b(), {}, 1, 1000, timer).overlap_saved_s == Approx(0).margin(1e-12));
}

TEST_CASE("a pinned parameter reaches every op on its kernel") {
  OpTimer plain(server_gpu(), {});
  OpTimer pinned(server_gpu(), {{"triton_gemm", {{"num_stages", 2}, {"block_n", 32}}}});
  const StepOptions options = options_for(llama_8b(), 1, 1000);
  const StepOps ops = step_ops(llama_8b(), {}, options);
  const StepTime slow = step_time(ops, options, pinned);
  for (const SegmentTime& segment : slow.segments) {
    for (const OpTime& op : segment.ops) {
      if (op.op.kind != OpKind::gemm) continue;
      CHECK(op.time.config.find("BN32") != std::string::npos);
      CHECK(op.time.config.find("s2") != std::string::npos);
    }
  }
  CHECK(slow.seconds > step_time(ops, options, plain).seconds);
}

TEST_CASE("a tile that fits nowhere is said, not timed") {
  // 256 x 256 tiles with 4 stages of 64 bf16 columns take far more than 101,376 B.
  OpTimer timer(server_gpu(), {{"triton_gemm", {{"block_m", 256}, {"block_n", 256}}}});
  const StepTime step = time_of(llama_8b(), {}, 1, 1000, timer);
  CHECK(step.not_run == std::vector<std::string>{"down", "gate_up", "lm_head", "o", "qkv"});
}

TEST_CASE("settings of what is not there are refused") {
  CHECK_THROWS_AS(OpTimer(server_gpu(), {{"triton_gemm", {{"warps", 4}}}}), UsageError);
  CHECK_THROWS_AS(OpTimer(server_gpu(), {{"gemm", {{"num_warps", 4}}}}), UsageError);
  CHECK_THROWS_WITH(OpTimer(server_gpu(), {{"triton_gemm", {{"m", 4}}}}),
                    "kernel.triton_gemm.m: shapes follow from the model and the batch; pin a "
                    "configuration parameter such as num_warps");
}

TEST_CASE("sparse attention runs on the kernel of the field notes") {
  OpTimer timer(server_gpu(), {});
  const StepTime step = time_of(dsv4_flash(), {.tp = 4}, 16, 8192, timer);
  for (const SegmentTime& segment : step.segments) {
    for (const OpTime& op : segment.ops) {
      if (op.op.kind != OpKind::sparse_attention) continue;
      // BT32 takes 104,704 B and drops out of the list.
      CHECK(op.time.kernel == "sparse_decode_fieldnotes");
      CHECK(op.time.config.find("BT16") != std::string::npos);
    }
  }
}

TEST_CASE("a step never gets faster with batch or context", "[property]") {
  OpTimer timer(server_gpu(), {});
  const Layout tp4{.tp = 4};
  for (const ModelSpec& model :
       {llama_8b(), qwen3_30b_a3b(), qwen3_30b_a3b(NumberFormat::nvfp4), dsv4_flash()}) {
    double before = 0;
    for (const std::int64_t batch : {1, 2, 4, 8, 16, 24, 32, 64, 128, 256}) {
      INFO(model.name << " batch " << batch);
      const double seconds = time_of(model, tp4, batch, 4096, timer).seconds;
      CHECK(seconds >= before);
      before = seconds;
    }
    double tokens_before = std::numeric_limits<double>::infinity();
    for (const std::int64_t context : {1, 100, 1000, 4000, 16'000, 64'000, 256'000}) {
      INFO(model.name << " context " << context);
      const double tokens = time_of(model, tp4, 16, context, timer).tokens_per_s_user();
      CHECK(tokens <= tokens_before * (1 + 1e-9));
      tokens_before = tokens;
    }
  }
}

TEST_CASE("expert parallelism reads the same experts in fewer, wider pieces", "[property]") {
  OpTimer timer(server_gpu(), {});
  const ModelSpec model = deepseek_v3();
  for (const std::int64_t batch : {1, 16, 128}) {
    const double by_width = time_of(model, {.tp = 8}, batch, 4096, timer).weight_bytes;
    const double by_number = time_of(model, {.tp = 8, .ep = 8}, batch, 4096, timer).weight_bytes;
    // The busiest rank reads at least the mean.
    CHECK(by_number >= by_width * (1 - 1e-12));
  }
}

}  // namespace
}  // namespace smtwin
