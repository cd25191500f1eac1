// SPDX-License-Identifier: Apache-2.0
// The sweep covers what it must, and a run cut short covers every kernel.
#include <algorithm>
#include <map>
#include <set>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "kernels/dense_gemm/config.hpp"
#include "tests/catch.hpp"
#include "validate/runs/run_plan.hpp"

using namespace smtwin;

namespace {

std::vector<MeasurableKernel> both_kernels() {
  return {{.name = "sparse_mla_decode", .unavailable = "", .variants = {}},
          {.name = "dense_gemm", .unavailable = "", .variants = {}},
          {.name = "cublas_gemm", .peer = true, .unavailable = "", .variants = {{}}}};
}

}  // namespace

TEST_CASE("the full sweep of the sparse decode", "[unit]") {
  std::set<std::vector<std::int64_t>> shapes;
  for (const Parameters& p : sweep_of("sparse_mla_decode", Effort::full)) {
    CHECK(shapes.insert({p.at("heads"), p.at("topk"), p.at("batch")}).second);
    CHECK_FALSE(p.contains("block_h"));
  }
  for (const std::int64_t heads : {16, 64}) {
    for (const std::int64_t topk : {512, 2048}) {
      for (const std::int64_t batch : {1, 2, 4, 8, 16, 32, 64, 96, 128}) {
        CHECK(shapes.contains({heads, topk, batch}));
      }
    }
    CHECK(shapes.contains({heads, 512, 256}));
    CHECK(shapes.contains({heads, 1024, 32}));
  }
  CHECK(shapes.contains({32, 2048, 64}));
  CHECK(shapes.contains({128, 2048, 64}));
}

TEST_CASE("the full sweep of the GEMM", "[unit]") {
  std::set<std::pair<std::int64_t, std::int64_t>> matrices, large;
  std::set<std::int64_t> rows, dtypes;
  const std::vector<Parameters> sweep = sweep_of("dense_gemm", Effort::full);
  for (const Parameters& p : sweep) {
    matrices.insert({p.at("n"), p.at("k")});
    if (2 * p.at("n") * p.at("k") > std::int64_t{64} << 20) large.insert({p.at("n"), p.at("k")});
    rows.insert(p.at("m"));
    dtypes.insert(p.at("dtype"));
  }
  CHECK(matrices.size() >= 10);
  CHECK(large.size() >= 4);
  CHECK(rows == std::set<std::int64_t>{1, 2, 4, 8, 16, 32, 64});
  CHECK(dtypes.size() == 2);
  CHECK(sweep.size() == matrices.size() * rows.size() * dtypes.size());
}

TEST_CASE("wherever a run is cut, kernels are covered in proportion", "[property]") {
  const std::vector<PlannedShape> plan = plan_run(both_kernels(), Effort::full);
  std::map<std::string, double> all, done;
  for (const PlannedShape& shape : plan) ++all[shape.kernel];
  CHECK(all["cublas_gemm"] == all["dense_gemm"]);
  std::size_t at = 0;
  for (const PlannedShape& shape : plan) {
    ++done[shape.kernel];
    if (++at < 20) continue;
    const double sparse = done["sparse_mla_decode"] / all["sparse_mla_decode"];
    const double gemm = done["dense_gemm"] / all["dense_gemm"];
    CHECK(std::abs(sparse - gemm) < 0.05);
    CHECK(std::abs(done["cublas_gemm"] - done["dense_gemm"]) <= 1);
  }
}

TEST_CASE("a check leaves peers out", "[unit]") {
  const std::vector<PlannedShape> plan = plan_run(both_kernels(), Effort::check);
  std::map<std::string, std::size_t> shapes;
  for (const PlannedShape& shape : plan) ++shapes[shape.kernel];
  CHECK(shapes == std::map<std::string, std::size_t>{{"dense_gemm", 8}, {"sparse_mla_decode", 8}});
}

TEST_CASE("a check covers what the kernels must survive", "[unit]") {
  std::map<std::string, std::set<std::int64_t>> seen;
  for (const char* kernel : {"sparse_mla_decode", "dense_gemm"}) {
    for (const Parameters& shape : sweep_of(kernel, Effort::check)) {
      for (const auto& [name, value] : shape) seen[name].insert(value);
    }
  }
  for (const std::int64_t batch : {1, 256}) CHECK(seen["batch"].contains(batch));
  for (const std::int64_t rows : {1, 256}) CHECK(seen["m"].contains(rows));
  CHECK(seen["ragged"].contains(1));
  CHECK(seen["wide_scales"].contains(1));
  CHECK(*seen["holes"].rbegin() > 0);
  // Heads and tokens that are no multiple of any tile.
  const auto odd = [](std::int64_t value) { return value % 16 != 0; };
  for (const char* name : {"heads", "topk"}) {
    CHECK(std::any_of(seen[name].begin(), seen[name].end(), odd));
  }
}

TEST_CASE("one kernel brings its peers, an unknown one is refused by name", "[unit]") {
  const std::vector<PlannedShape> plan = plan_run(both_kernels(), Effort::quick, "dense-gemm");
  for (const PlannedShape& shape : plan) CHECK(shape.kernel != "sparse_mla_decode");
  CHECK(plan.size() == 36);  // 18 shapes, each ours and cuBLAS
  CHECK_THROWS_AS(plan_run(both_kernels(), Effort::quick, "no_kernel"), UsageError);
  CHECK_THROWS_WITH(plan_run(both_kernels(), Effort::quick, "triton_gemm"),
                    "--kernel triton_gemm: not a kernel that runs; use sparse_mla_decode, "
                    "dense_gemm");
}

TEST_CASE("a tile of one data type does not run the other", "[unit]") {
  const GpuSpec gpu = find_gpu("h200-sxm");
  for (const Parameters& shape : sweep_of("dense_gemm", Effort::check)) {
    std::size_t runs = 0;
    for (const DenseGemmTile& tile : gemm_variants()) {
      const bool can = can_run("dense_gemm", shape, gemm_config(tile), gpu);
      CHECK(can == (static_cast<std::int64_t>(tile.dtype) == shape.at("dtype")));
      runs += can;
    }
    CHECK(runs > 0);
  }
  CHECK(can_run("cublas_gemm", {}, {}, gpu));
}
