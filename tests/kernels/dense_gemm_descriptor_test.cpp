// SPDX-License-Identifier: Apache-2.0
// What dense_gemm's descriptor counts, by hand, and the float64 reference it is checked against.
#include <algorithm>
#include <cmath>

#include "arch/gpu_catalog.hpp"
#include "kernels/dense_gemm/config.hpp"
#include "kernels/dense_gemm/cublas_api.hpp"
#include "kernels/dense_gemm/reference.hpp"
#include "model/residency.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/instance_of.hpp"

using namespace smtwin;
using smtwin::test::fact;
using smtwin::test::instance_of;

namespace {
KernelInstance on_h200(const std::string& settings) {
  return instance_of("dense_gemm", find_gpu("h200-sxm"), settings);
}
const std::string kTile =
    "block_m=16 block_n=64 block_k=64 num_warps=4 num_stages=5 m=10 n=640 k=1024 ";
}  // namespace

TEST_CASE("bytes, steps and flops of an average CTA", "[unit]") {
  // 10 tiles of 16 steps, one CTA each. A step brings (10 rows of A + 64 of W) x 128 B = 9,472 B,
  // multiplies 16 x 64 x 64, writes 9,472 B to shared memory and reads 64 rows + 4 x 16 rows.
  const auto one = on_h200(kTile + "split_k=1");
  CHECK(one.impossible.empty());
  CHECK(one.grid.ctas() == 10);
  CHECK(one.grid.formula == "10 tiles x 1 splits");
  CHECK(one.work.steps == 16);
  CHECK(one.work.step_read_bytes == 9472);
  CHECK(one.work.global_read_bytes == 16 * 9472);
  CHECK(one.work.global_write_bytes == 10 * 64 * 2);
  CHECK(one.work.math_flops == 16 * 2.0 * 16 * 64 * 64);
  CHECK(one.work.shared_bytes == 16 * (9472 + (64 + 4 * 16) * 128));
  CHECK(one.unique_read_bytes == (10 + 640) * 1024 * 2);
  CHECK(one.work.loads_in_flight == 4);
  CHECK(one.shared_formula == "5 x (16 + 64) x 128 + 16 = 51,216");

  // Two CTAs a tile: the earlier one leaves 16 x 64 x 4 = 4,096 B, the later one reads them.
  const auto two = on_h200(kTile + "split_k=2");
  CHECK(two.work.global_read_bytes == 8 * 9472 + 4096 / 2);
  CHECK(two.work.global_write_bytes == 10 * 64 * 2 / 2 + 4096 / 2);
  CHECK(fact(two, "exchanged_bytes") == 10 * 4096);
  CHECK(two.resources.cluster_ctas == 1);
  // Four: each of them writes and the last one reads all.
  CHECK(fact(on_h200(kTile + "split_k=4"), "exchanged_bytes") == 4 * 10 * 4096);
}

TEST_CASE("what runs by default can run, on both architectures that are compiled", "[property]") {
  const KernelDescriptor& kernel = find_kernel("dense_gemm");
  for (const char* name : {"h200-sxm", "rtx-pro-6000-server"}) {
    const GpuSpec gpu = find_gpu(name);
    for (const std::int64_t m : {1, 16, 17, 33, 64, 300}) {
      for (const std::int64_t n : {8, 2112, 8192, 28672}) {
        for (const std::int64_t dtype : {0, 1}) {
          Parameters given = {{"m", m}, {"n", n}, {"k", 4096}, {"dtype", dtype}};
          given.merge(kernel.default_config(given, gpu));
          const auto instance = kernel.instantiate(complete_parameters(kernel, given), gpu);
          INFO(instance.config << " on " << name << " for m " << m << " n " << n);
          CHECK(instance.impossible.empty());
          CHECK(instance.grid.ctas() > 0);
          CHECK(resident_ctas(gpu.sm, instance.resources).ctas_per_sm > 0);
        }
      }
    }
  }
  // Where the parameters' own defaults say it all there is no rule.
  CHECK(find_kernel("triton_gemm").default_config({}, find_gpu("h200-sxm")).empty());
}

TEST_CASE("with wgmma the CTAs of a tile are a cluster and exchange in shared memory", "[unit]") {
  const auto split = on_h200(kTile + "wgmma=1 split_k=2");
  CHECK(split.resources.cluster_ctas == 2);
  CHECK(split.resources.threads_per_cta == 160);
  CHECK(split.shared_formula == "5 x ((16 + 64) x 128 + 16) + 16 = 51,296");
  CHECK(split.work.global_read_bytes == 8 * 9472);
  // wgmma reads 64 rows of W and 16 of A once; the exchange writes 4,096 B and reads as many.
  CHECK(split.work.shared_bytes == 8 * (9472 + (64 + 16) * 128) + 2 * 4096);
  CHECK(on_h200(kTile + "wgmma=1 split_k=16").resources.cluster_ctas == 1);
}

TEST_CASE("what cannot run says why", "[unit]") {
  CHECK(on_h200(kTile + "block_k=128").impossible ==
        "block_k 128 is fp8's; a step is 128 bytes: 64 for bf16, 128 for fp8");
  CHECK(on_h200(kTile + "k=1001").impossible.find("k = 1001 is not a multiple of 8") == 0);
  CHECK(on_h200(kTile + "num_stages=6").impossible.find("not among the 40 compiled") == 0);
  CHECK(instance_of("dense_gemm", find_gpu("rtx-pro-6000-server"), kTile + "wgmma=1").impossible ==
        "wgmma exists on sm_90 only; this is sm_120");
  CHECK(on_h200(kTile + "n=1048576 m=256 split_k=8").impossible.find("at most 65535") !=
        std::string::npos);
}

TEST_CASE("FP8 by mma.sync is FP16 work on sm_90 and FP8 work on sm_120", "[unit]") {
  const std::string settings = "dtype=fp8 block_k=128 block_n=64 num_stages=5 wgmma=";
  CHECK(on_h200(settings + "0").pipe == MathPipe::bf16);
  CHECK(on_h200(settings + "1").pipe == MathPipe::fp8);
  CHECK(instance_of("dense_gemm", find_gpu("rtx-pro-6000-server"), settings + "0").pipe ==
        MathPipe::fp8);
}

TEST_CASE("the reference of a product small enough for paper", "[unit]") {
  // A = [1 2; 3 4], W = [5 6; 7 8; 9 10]: rows of D are A's rows times W's rows.
  const GemmOperands in{
      .a = {1, 2, 3, 4}, .w = {5, 6, 7, 8, 9, 10}, .m = 2, .rows = 3, .k = 2, .scale = 0.5};
  const auto d = gemm_reference(in);
  CHECK(d == std::vector<double>{8.5, 11.5, 14.5, 19.5, 26.5, 33.5});
  CHECK(relative_error(d, d) == 0);
  auto wrong = d;
  wrong[0] = std::nan("");
  CHECK(std::isinf(relative_error(wrong, d)));
  // 3-4-5: the reference has norm 5, the difference 1.
  CHECK(relative_error({3, 5}, {3, 4}) == Approx(0.2));
}

TEST_CASE("sampled rows are different, in order and depend on the seed", "[property]") {
  const auto rows = sample_rows(1000, 96, 1);
  CHECK(rows.size() == 96);
  CHECK(std::is_sorted(rows.begin(), rows.end()));
  CHECK(std::adjacent_find(rows.begin(), rows.end()) == rows.end());
  CHECK(rows.back() < 1000);
  CHECK(rows != sample_rows(1000, 96, 2));
  CHECK(sample_rows(3, 96, 1) == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("a cuBLAS that is not there is named with every file name tried", "[unit]") {
  const auto& loaded = cublas::load();
  if (loaded.problem.empty()) {
    CHECK(loaded.api.gemm_ex != nullptr);
    CHECK(loaded.api.matmul != nullptr);
  } else if (loaded.problem.find("tried") != std::string::npos) {
    CHECK(loaded.problem.find("libcublasLt.so.13") != std::string::npos);
    CHECK(loaded.problem.find("LD_LIBRARY_PATH") != std::string::npos);
  }
}
