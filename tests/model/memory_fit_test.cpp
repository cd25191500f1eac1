// SPDX-License-Identifier: Apache-2.0
#include "model/memory_fit.hpp"

#include <limits>

#include "tests/catch.hpp"
#include "tests/model/example_models.hpp"

namespace smtwin {
namespace {

using test::deepseek_v3;
using test::dsv4_flash;
using test::llama_8b;

GpuSpec gpu_with(double bytes) {
  GpuSpec gpu;
  gpu.name = "round";
  gpu.dram_bytes = bytes;
  return gpu;
}

TEST_CASE("weights of a rank: Llama-3.1-8B") {
  // One layer: 4096 x (6144 + 4096 + 3 x 14336) = 218,103,808 weights and 8192 norm elements; 32 of
  // them, two tables of 128256 x 4096, 4096 more: 8,030,261,248 x 2 B.
  CHECK(weight_bytes_per_rank(llama_8b(), {.tp = 1}) == Approx(8'030'261'248.0 * 2).epsilon(1e-12));
  // TP2: matrices halve, norms (266,240 elements) do not. 128,256 / 2 is a multiple of 64.
  const double matrices = 8'030'261'248.0 - 266'240;
  CHECK(weight_bytes_per_rank(llama_8b(), {.tp = 2}) ==
        Approx((matrices / 2 + 266'240) * 2).epsilon(1e-12));
}

TEST_CASE("cache of a token: Llama-3.1-8B") {
  // 32 layers x 2 x 8 heads x 128 x 2 B = 131,072 B; TP2 holds half of the heads.
  const ModelSpec model = llama_8b();
  const auto bytes = [&](int tp, NumberFormat kv) {
    return cache_bytes_per_sequence_and_rank(model, {.tp = tp}, kv, 1);
  };
  CHECK(bytes(1, NumberFormat::bf16) == 131072);
  CHECK(bytes(2, NumberFormat::bf16) == 65536);
  CHECK(bytes(1, NumberFormat::fp8) == 65536);
  // Beyond 8 ranks the one KV head is repeated: 32 x 2 x 128 x 2 B = 16,384 at TP8, 16 and 32.
  CHECK(bytes(8, NumberFormat::bf16) == 16384);
  CHECK(bytes(32, NumberFormat::bf16) == 16384);
}

TEST_CASE("a latent cache is not divided") {
  // DeepSeek-V3: 61 x 576 x 2 B = 70,272 B on every rank, whatever tp is.
  for (const int tp : {1, 8, 16}) {
    CHECK(cache_bytes_per_sequence_and_rank(deepseek_v3(), {.tp = tp}, NumberFormat::bf16, 1) ==
          70272);
  }
}

TEST_CASE("DeepSeek-V4 keeps windows, compressed entries and states") {
  // A context of 8192: 43 windows of 128 x 584 B; 2048 entries of 584 + 132 B in 21 CSA layers; 64
  // entries of 584 B in 20 HCA layers. The pooling states come on top.
  const double entries = 43 * 128 * 584.0 + 21 * 2048 * 716.0 + 20 * 64 * 584.0;
  const double all =
      cache_bytes_per_sequence_and_rank(dsv4_flash(), {.tp = 4}, NumberFormat::fp8, 8192);
  CHECK(all > entries);
  CHECK(all < 1.5 * entries);
}

TEST_CASE("what is left is cache") {
  MemoryOptions options;
  options.utilization = 0.9;
  options.prefill_tokens = 1000;
  options.live_activations = 2;
  options.context_bytes = 1e9;
  options.graph_bytes = 0;
  options.context = 1000;
  // 0.9 x 40 GB - 16.060522496 GB of weights - (2 x 1000 x 28672 x 2 B + 1 GB) = 18.8247895 GB;
  // / 131,072 B = 143,621.7 tokens, 143 sequences of 1000.
  const MemoryFit fit = memory_fit(llama_8b(), {.tp = 1}, gpu_with(40e9), options);
  CHECK(fit.workspace_bytes == Approx(1e9 + 114'688'000));
  CHECK(fit.cache_bytes == Approx(36e9 - 16'060'522'496.0 - 1'114'688'000.0));
  CHECK(fit.max_sequences == 143);
  CHECK(fit.kv_tokens == Approx(18'824'789'504.0 / 131072));
  CHECK(fit.fits);
}

TEST_CASE("what does not fit says how much is missing and what would do") {
  MemoryOptions options;
  options.context = 8192;
  const GpuSpec small = gpu_with(16e9);
  const MemoryFit fit = memory_fit(llama_8b(), {.tp = 1}, small, options);
  CHECK_FALSE(fit.fits);
  CHECK(fit.max_sequences == 0);
  CHECK(fit.needed_bytes > fit.budget_bytes);
  CHECK(fit.needed_bytes == Approx(fit.weight_bytes + fit.workspace_bytes + 8192.0 * 131072));
  const int gpus = fewest_gpus_that_fit(llama_8b(), {.tp = 1}, small, options);
  CHECK(gpus == 2);
  CHECK(memory_fit(llama_8b(), {.tp = gpus}, small, options).fits);
  CHECK(fewest_gpus_that_fit(llama_8b(), {.tp = 1}, gpu_with(1e9), options) == 0);
}

TEST_CASE("a model without a cache has room for any number") {
  ModelSpec model = llama_8b();
  for (LayerSpec& layer : model.layers) layer.attention = {};
  for (LayerSpec& layer : model.layers)
    layer.weights.erase(layer.weights.begin(), layer.weights.begin() + 2);
  const MemoryFit fit = memory_fit(model, {.tp = 1}, gpu_with(40e9), {});
  CHECK(fit.fits);
  CHECK(fit.max_sequences == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("more ranks never hold more", "[property]") {
  for (const ModelSpec& model : {llama_8b(), deepseek_v3(), dsv4_flash()}) {
    double weights = std::numeric_limits<double>::infinity();
    double cache = std::numeric_limits<double>::infinity();
    for (const int tp : legal_tp(model, 1)) {
      const double w = weight_bytes_per_rank(model, {.tp = tp});
      const double c = cache_bytes_per_sequence_and_rank(model, {.tp = tp}, model.kv_format, 4096);
      CHECK(w < weights);
      CHECK(c <= cache);
      weights = w;
      cache = c;
    }
  }
}

}  // namespace
}  // namespace smtwin
