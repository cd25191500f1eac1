// SPDX-License-Identifier: Apache-2.0
// What a report says about a run: floors, fastest and picked configurations, peers, and functions
// that are not as predicted.
#include <cmath>

#include "arch/gpu_catalog.hpp"
#include "kernels/compiled_table.hpp"
#include "kernels/dense_gemm/config.hpp"
#include "model/residency.hpp"
#include "tests/catch.hpp"
#include "tests/validate/made_up_run.hpp"
#include "validate/runs/run_floor.hpp"
#include "validate/runs/run_report.hpp"

using namespace smtwin;

namespace {

const Parameters kShape = {{"m", 16}, {"n", 8192}, {"k", 8192}, {"dtype", 0}};

TimeReading reading(const std::string& kernel, const Parameters& config, double seconds) {
  TimeReading t;
  t.kernel = kernel;
  t.peer = kernel != "dense_gemm";
  t.config = config;
  t.shape = kShape;
  t.seconds = t.p10_s = t.p90_s = seconds;
  t.samples = 9;
  t.relative_error = t.peer ? -1 : 1e-3;
  return t;
}

std::vector<DenseGemmTile> bf16_tiles() {
  std::vector<DenseGemmTile> tiles = gemm_variants();
  std::erase_if(tiles,
                [](const DenseGemmTile& t) { return t.dtype != DenseGemmDtype::bf16 || t.wgmma; });
  return tiles;
}

RunFile gemm_run() {
  const std::vector<DenseGemmTile> tiles = bf16_tiles();
  RunFile run;
  run.gpu = test::made_up_gpu();
  run.probes = {{.probe = "dram_read", .parameters = {{"ctas_per_sm", 1}}, .value = 3e12},
                {.probe = "dram_read", .parameters = {{"ctas_per_sm", 4}}, .value = 4e12},
                {.probe = "tensor_bf16", .parameters = {}, .value = 6e14}};
  run.times = {reading("dense_gemm", gemm_config(tiles[0]), 50e-6),
               reading("dense_gemm", gemm_config(tiles[1]), 40e-6),
               reading("cublas_gemm", {}, 44e-6), reading("cublas_gemm", {{"algorithm", 1}}, 42e-6),
               reading("other_gemm", {}, 60e-6)};
  return run;
}

std::unique_ptr<RunReport> report(const RunFile& run) {
  return report_run(run, [](const RunRows& rows) { return score_run(rows, nullptr); });
}

}  // namespace

TEST_CASE("the floor is the larger of bytes and flops, each once", "[unit]") {
  const RunFile run = gemm_run();
  const auto found = report(run);
  REQUIRE(found->shapes.size() == 1);
  const ShapeReport& s = found->shapes[0];
  // W 8192 x 8192 x 2 B = 134,217,728; A 16 x 8192 x 2 = 262,144; D the same: 134,742,016 B at
  // 4e12 B/s = 33.6855 us. 2 x 16 x 8192 x 8192 flops at 6e14 = 3.6 us.
  CHECK(s.floor_s == Approx(134'742'016 / 4e12));
  CHECK(found->dram_bytes_per_s == 4e12);
  CHECK(found->math_flops_per_s == 6e14);
  // At 512 rows the flops would decide: 2 x 512 x 8192^2 / 6e14 = 114.5 us against 38 us of bytes.
  TimeReading wide = run.times[0];
  wide.shape["m"] = 512;
  const GpuSpec gpu = find_gpu("h200-sxm");
  CHECK(floor_seconds(find_kernel("dense_gemm"), wide, gpu, run_rates(run, gpu)) ==
        Approx(2.0 * 512 * 8192 * 8192 / 6e14));
}

TEST_CASE("without probes the floor stands on the specification and says so", "[unit]") {
  RunFile run = gemm_run();
  run.probes.clear();
  const auto found = report(run);
  CHECK(found->shapes[0].floor_s > 0);
  CHECK(found->rates_source.find("specification") != std::string::npos);
}

TEST_CASE("fastest, picked and peers of a shape", "[unit]") {
  const RunFile run = gemm_run();
  const auto found = report(run);
  const ShapeReport& s = found->shapes[0];
  CHECK(s.best->reading == &run.times[1]);
  CHECK(s.configs == 2);
  REQUIRE(s.peers.size() == 2);  // each with its fastest configuration, fastest first
  CHECK(s.peers[0].name == "cublas_gemm");
  CHECK(s.peers[0].seconds == 42e-6);
  CHECK(s.peers[1].name == "other_gemm");
  REQUIRE(s.picked != nullptr);
  const double costs = s.picked->reading->seconds / 40e-6 - 1;
  CHECK(s.picked_costs() == Approx(costs).margin(1e-12));
}

TEST_CASE("a fixed split may be the fastest but takes part in no pick, a warm reading in no shape",
          "[unit]") {
  RunFile run = gemm_run();
  run.times[1].config["split_k"] = 4;
  run.times.push_back(reading("dense_gemm", run.times[0].config, 1e-6));
  run.times.back().cache = SampleCache::warm;
  const auto found = report(run);
  REQUIRE(found->shapes.size() == 1);
  const ShapeReport& s = found->shapes[0];
  CHECK(s.configs == 2);
  CHECK(s.best->reading == &run.times[1]);  // 40 us; by the rule 50 us is the only one
  CHECK(s.best_by_rule->reading == &run.times[0]);
  CHECK(s.picked == s.best_by_rule);
  CHECK(s.picked_costs() == 0);
}

TEST_CASE("a wrong result is counted and never the fastest", "[unit]") {
  RunFile run = gemm_run();
  run.times[1].relative_error = 0.5;
  const auto found = report(run);
  CHECK(found->wrong_results == 1);
  CHECK(found->shapes[0].configs == 1);
  CHECK(found->shapes[0].best->reading == &run.times[0]);
}

TEST_CASE("functions are compared with prediction, driver and silicon", "[unit]") {
  const DenseGemmTile tile = bf16_tiles().front();
  RunFile run = gemm_run();
  const GpuSpec gpu = find_gpu("h200-sxm");
  const KernelDescriptor& kernel = find_kernel("dense_gemm");
  const KernelInstance instance =
      kernel.instantiate(complete_parameters(kernel, gemm_config(tile)), gpu);
  FunctionReading f;
  f.kernel = "dense_gemm";
  f.config = gemm_config(tile);
  f.symbol = "made_up";
  f.dynamic_shared_bytes = instance.resources.dynamic_shared_bytes;
  f.driver_ctas_per_sm = resident_ctas(gpu.sm, instance.resources).ctas_per_sm;
  const auto differing = [&](const auto& change) {
    FunctionReading changed = f;
    change(changed);
    run.functions = {changed};
    return report(run)->differing_functions();
  };
  CHECK(differing([](FunctionReading&) {}) == 0);
  CHECK(differing([&](FunctionReading& r) { r.seen_ctas_per_sm = f.driver_ctas_per_sm; }) == 0);
  CHECK(differing([](FunctionReading& r) { r.driver_ctas_per_sm += 1; }) == 1);
  CHECK(differing([&](FunctionReading& r) { r.seen_ctas_per_sm = f.driver_ctas_per_sm + 1; }) == 1);
  CHECK(differing([](FunctionReading& r) { r.dynamic_shared_bytes += 16; }) == 1);
  // Registers are compared where the compiled table has the function.
  const CompiledTable& table = compiled_table("dense_gemm");
  const CompiledVariant* known = table.find(instance.config, gpu.compute_capability);
  CHECK(differing([&](FunctionReading& r) {
          r.symbol = gemm_symbol(tile);
          r.registers_per_thread = known != nullptr ? known->registers_per_thread : 77;
        }) == 0);
  if (known == nullptr) return;
  CHECK(differing([&](FunctionReading& r) {
          r.symbol = gemm_symbol(tile);
          r.registers_per_thread = known->registers_per_thread + 1;
        }) == 1);
}
