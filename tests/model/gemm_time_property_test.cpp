// SPDX-License-Identifier: Apache-2.0
// What holds for every GEMM implementation on both measured GPUs, with no row in sight.
#include <cmath>
#include <limits>
#include <vector>

#include "arch/error.hpp"
#include "model/families/gemm/cublas_tiles.hpp"
#include "model/families/gemm/gemm_time.hpp"
#include "tests/catch.hpp"
#include "tests/model/gemm_chip.hpp"

using namespace smtwin;

namespace {

struct Name {
  std::string framework, source, dtype;
};

std::vector<GemmTimeModel> models(const TimingGpu& gpu) {
  std::vector<Name> names = {{"vllm", "torch.nn.functional.linear", "bfloat16"},
                             {"vllm", "CutlassFP8ScaledMMLinearKernel", "fp8"},
                             {"sglang", "sglang_sgl_kernel_fp8_scaled_mm", "fp8"},
                             {"trtllm", "torch_flow", "fp8"},
                             {"trtllm", "torch_flow", "fp8_block"},
                             {"vllm", "DeepGemmFp8BlockScaledMMKernel", "fp8_block"}};
  if (gpu.sm120()) names.push_back({"trtllm", "torch_flow", "nvfp4"});
  std::vector<GemmTimeModel> out;
  for (const Name& n : names) out.emplace_back(gpu, n.framework, n.source, n.dtype);
  for (const std::string framework : {"sglang", "trtllm"}) {
    for (const std::string dtype : {"bfloat16", "fp8"}) {
      out.emplace_back(mla_bmm_implementation(framework, dtype, gpu), gpu);
    }
  }
  return out;
}

std::vector<double> values(const GemmTimeModel& model, double ConstantSpec::*which) {
  std::vector<double> out;
  for (const ConstantSpec& c : model.constants()) out.push_back(c.*which);
  return out;
}

const std::vector<GemmShape> kShapes = {{.m = 1, .n = 32, .k = 32},
                                        {.m = 1, .n = 7168, .k = 2048},
                                        {.m = 17, .n = 512, .k = 65536},
                                        {.m = 129, .n = 16384, .k = 7168},
                                        {.b = 16, .m = 64, .n = 512, .k = 128},
                                        {.m = 8192, .n = 51200, .k = 12288},
                                        {.m = 1e15, .n = 1e15, .k = 4096}};

TimeParts cold_time(const GemmTimeModel& model, const GemmShape& shape,
                    const std::vector<double>& v) {
  return model.parts(model.cold_point(shape), model.read(v));
}

std::string name(const GemmTimeModel& model) {
  const GemmImplementation& g = model.implementation();
  return std::string(to_string(g.framework)) + " dtype " +
         std::to_string(static_cast<int>(g.dtype)) + (g.batched ? " batched" : "");
}

}  // namespace

TEST_CASE("times are finite and positive in all corners", "[property]") {
  const TimingGpu gpu =
      test::catalog_chip(GENERATE(as<std::string>{}, "rtx-pro-6000-server", "h200-sxm"));
  for (const GemmTimeModel& model : models(gpu)) {
    CHECK(model.constants().size() <= 16);
    for (const auto which : {&ConstantSpec::low, &ConstantSpec::prior, &ConstantSpec::high}) {
      const std::vector<double> v = values(model, which);
      for (const GemmShape& shape : kShapes) {
        const double t = cold_time(model, shape, v).seconds;
        INFO(name(model) << " " << shape.m << "x" << shape.n << "x" << shape.k);
        CHECK(std::isfinite(t));
        CHECK(t > 0);
      }
    }
  }
}

TEST_CASE("no prior lies outside its bounds and every constant is named once", "[property]") {
  const TimingGpu gpu =
      test::catalog_chip(GENERATE(as<std::string>{}, "rtx-pro-6000-server", "h200-sxm"));
  for (const GemmTimeModel& model : models(gpu)) {
    const auto& specs = model.constants();
    for (std::size_t i = 0; i < specs.size(); ++i) {
      INFO(name(model) << " " << specs[i].name);
      CHECK(specs[i].low < specs[i].prior);
      CHECK(specs[i].prior < specs[i].high);
      CHECK(specs[i].of_gpu == (specs[i].name == "dram_rate"));
      for (std::size_t j = 0; j < i; ++j) CHECK(specs[j].name != specs[i].name);
    }
  }
}

TEST_CASE("weights from DRAM are never faster than weights in the L2", "[property]") {
  const TimingGpu gpu =
      test::catalog_chip(GENERATE(as<std::string>{}, "rtx-pro-6000-server", "h200-sxm"));
  for (const GemmTimeModel& model : models(gpu)) {
    const GemmConstants c = model.read(values(model, &ConstantSpec::prior));
    for (const GemmShape& shape : kShapes) {
      int warm_tile = 0, cold_tile = 0;
      const double warm = model.seconds(model.point(shape, {}), c, warm_tile, true);
      CHECK(warm <= model.seconds(model.cold_point(shape), c, cold_tile, true));
    }
  }
}

TEST_CASE("twice the K of a fixed tile is never faster", "[property]") {
  const TimingGpu gpu =
      test::catalog_chip(GENERATE(as<std::string>{}, "rtx-pro-6000-server", "h200-sxm"));
  for (const GemmTimeModel& model : models(gpu)) {
    if (model.implementation().rule == nullptr) continue;
    if (model.implementation().provider == GemmLibrary::deepgemm)
      continue;  // its tile depends on K
    const GemmConstants c = model.read(values(model, &ConstantSpec::prior));
    for (GemmShape shape : kShapes) {
      int tile = 0;
      const double once = model.seconds(model.cold_point(shape), c, tile, true);
      shape.k *= 2;
      CHECK(model.seconds(model.cold_point(shape), c, tile, true) >= once);
    }
  }
}

TEST_CASE("the search finds the fastest tile that cuBLAS allows", "[property]") {
  // SM120, where no limit on rounds of splits cuts the list: the pruned search must equal a full
  // one.
  const TimingGpu gpu = test::catalog_chip("rtx-pro-6000-server");
  const std::string dtype = GENERATE(as<std::string>{}, "bfloat16", "fp8");
  const GemmTimeModel model(gpu, "trtllm", "", dtype);
  const GemmConstants c = model.read(values(model, &ConstantSpec::prior));
  const auto& tiles = model.implementation().candidates;
  for (const double m : {1, 5, 64, 100, 300, 4096}) {
    for (const double n : {32, 1536, 20000}) {
      for (const double k : {96, 2048, 16384}) {
        const GemmShape shape{.m = m, .n = n, .k = k};
        const GemmPoint point = model.cold_point(shape);
        double best = std::numeric_limits<double>::infinity();
        for (int i = 0; i < static_cast<int>(tiles.size()); ++i) {
          const GemmTile& t = tiles[static_cast<std::size_t>(i)];
          if (!cublas_allows(shape, t, dtype == "fp8" ? 1 : 2)) continue;
          int held = i;
          best = std::min(best, model.seconds(point, c, held, false));
          CHECK(held == i);
        }
        int pick = 0;
        INFO(m << "x" << n << "x" << k);
        CHECK(model.seconds(point, c, pick, true) == best);
      }
    }
  }
}

TEST_CASE("a held tile that cannot run counts as one that can", "[unit]") {
  const TimingGpu gpu = test::catalog_chip("rtx-pro-6000-server");
  const GemmTimeModel model(gpu, "trtllm", "", "bfloat16");
  const auto& tiles = model.implementation().candidates;
  REQUIRE(tiles[0].block_m == 1);  // dot products, for one row only
  REQUIRE(tiles[1].block_m > 1);
  const GemmConstants c = model.read(values(model, &ConstantSpec::prior));
  const GemmPoint point = model.cold_point({.m = 64, .n = 4096, .k = 4096});
  int plain = 1;
  const double expected = model.seconds(point, c, plain, false);
  for (int held : {0, -1, static_cast<int>(tiles.size()), 1 << 30}) {
    CHECK(model.seconds(point, c, held, false) == expected);
  }
  // Constants with which no tile ends: the search still names one for 64 rows.
  GemmConstants never = c;
  never.dram_bytes_per_s = 0;
  int picked = 0;
  model.seconds(point, never, picked, true);
  CHECK(picked == 1);
}

TEST_CASE("a deployment's parts say what decides and what runs", "[unit]") {
  const TimingGpu gpu = test::catalog_chip("rtx-pro-6000-server");
  const GemmTimeModel model(gpu, "vllm", "", "fp8");
  const std::vector<double> v = values(model, &ConstantSpec::prior);
  const TimeParts decode = cold_time(model, {.m = 1, .n = 28672, .k = 8192}, v);
  CHECK(decode.choice == "16x64x128");
  CHECK(decode.regime() == Regime::dram);
  const TimeParts prefill = cold_time(model, {.m = 8192, .n = 28672, .k = 8192}, v);
  CHECK(prefill.choice == "128x128x128");
  CHECK(prefill.regime() == Regime::compute);
  CHECK(prefill.seconds > decode.seconds);
}

TEST_CASE("names that no rule covers are refused with the known ones", "[unit]") {
  const TimingGpu gpu = test::catalog_chip("h200-sxm");
  CHECK_THROWS_WITH(gemm_implementation("llamacpp", "", "fp8", gpu),
                    "framework \"llamacpp\" is not modelled; known: VLLM, SGLang, TRTLLM");
  CHECK_THROWS_WITH(
      gemm_implementation("vllm", "", "int3", gpu),
      "dtype \"int3\" is not modelled; known: bfloat16, float16, fp8, fp8_block, nvfp4");
  CHECK_THROWS_AS(gemm_implementation("vllm", "", "nvfp4", gpu), DataError);
  CHECK_THROWS_WITH(
      gemm_implementation("vllm", "TritonFp8BlockScaledMMKernel", "fp8_block", gpu),
      "kernel_source \"TritonFp8BlockScaledMMKernel\" is not modelled; known for vLLM fp8_block: "
      "DeepGemmFp8BlockScaledMMKernel, FlashInferFp8BlockScaledMMKernel, "
      "CutlassFp8BlockScaledMMKernel");
  TimingGpu ampere = gpu;
  ampere.name = "a100-sxm";
  ampere.compute_capability = {.major = 8, .minor = 0};
  CHECK_THROWS_WITH(mla_bmm_implementation("vllm", "bfloat16", ampere),
                    "a100-sxm: GEMM of compute capability 8.0 is not modelled; known: 9.0, 12.0");
}

TEST_CASE("projections exist in BF16 everywhere and in FP8 in two frameworks", "[unit]") {
  const TimingGpu gpu =
      test::catalog_chip(GENERATE(as<std::string>{}, "rtx-pro-6000-server", "h200-sxm"));
  for (const std::string framework : {"vllm", "sglang", "trtllm"}) {
    CHECK_NOTHROW(mla_bmm_implementation(framework, "bfloat16", gpu));
    CHECK_THROWS_AS(mla_bmm_implementation(framework, "fp8_block", gpu), DataError);
    CHECK_THROWS_AS(mla_bmm_implementation(framework, "nvfp4", gpu), DataError);
  }
  CHECK_NOTHROW(mla_bmm_implementation("sglang", "fp8", gpu));
  CHECK_NOTHROW(mla_bmm_implementation("trtllm", "fp8", gpu));
  CHECK_THROWS_WITH(mla_bmm_implementation("vllm", "fp8", gpu),
                    "dtype \"fp8\" is not modelled; known for vllm: bfloat16, float16");
}
